"""Installs the built tree to an empty prefix, and builds and runs a small project against it.

    install.py BUILD   # BUILD is the build folder, with everything built
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[1] / "install"


def run(*command, **options):
    done = subprocess.run(command, **options, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
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
        flags = run("pkg-config", "--cflags", "--libs", "conelab-engine",
                    env={**os.environ, "PKG_CONFIG_PATH": next(prefix.glob("lib*/**/pkgconfig"))}).split()
        run("c++", "-std=c++20", PROJECT / "main.cpp", "-o", user / "by_pkg_config", *flags)
        assert run(user / "by_pkg_config").strip() == "0.5"
        flags = run("pkg-config", "--cflags", "--libs", "conelab",
                    env={**os.environ, "PKG_CONFIG_PATH": next(prefix.glob("lib*/**/pkgconfig"))}).split()
        run("cc", PROJECT / "main.c", "-o", user / "c_by_pkg_config", *flags)
        library = next(prefix.glob("lib*/**/libconelab.so")).parent
        assert run(user / "c_by_pkg_config", env={**os.environ, "LD_LIBRARY_PATH": library}).strip() == "0.5"
    print("an installed engine serves C++ and C")


main(sys.argv[1])
