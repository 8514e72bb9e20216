"""Installs the built tree to an empty prefix, and builds and runs a small project against it.

    install.py BUILD   # BUILD is the build folder, with everything built
"""
import pathlib
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[1] / "install"


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}")
    return done.stdout


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        prefix, user = pathlib.Path(folder) / "prefix", pathlib.Path(folder) / "user"
        run("cmake", "--install", build, "--prefix", prefix)
        run("cmake", "-S", PROJECT, "-B", user, f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_BUILD_TYPE=Debug")
        run("cmake", "--build", user)
        found = [run(user / name).strip() for name in ("in_cxx", "in_c")]
        assert found == ["0.5", "0.5"], found
        symbols = run("nm", "-D", "--defined-only", *prefix.glob("lib*/**/libconelab.so"))
        foreign = [line for line in symbols.splitlines() if " T " in line and "conelab_" not in line]
        assert not foreign, foreign
        page = (prefix / "share/man/man1/conelab.1").read_text()
        assert ".SH NAME" in page and "\n  attend " in page, page[:400]
        script = prefix / "share/bash-completion/completions/conelab"
        typed = 'COMP_WORDS=(conelab att) COMP_CWORD=1; _conelab; echo "${COMPREPLY[*]}"'
        words = run("bash", "-c", f'PATH="{prefix}/bin:$PATH"; . {script}; {typed}')
        assert words.strip() == "attend", words
    print("an installed engine serves C++ and C")


main(sys.argv[1])
