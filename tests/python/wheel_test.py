#!/usr/bin/env python3
"""Builds the wheel as `./dev package` does, twice, and tests it in a fresh environment without PyTorch.

    wheel_test.py BUILD [PYTHON]   # PYTHON: one with PyTorch, for the tests that need it

The wheel is built in a folder beside BUILD, with tools from another beside it, so that the compiler
cache serves the engine's objects and those of nanobind: paths from BUILD to both stay the same.
Exit status 77: PyPI cannot be reached, or BUILD has sanitizers.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest.mock
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TESTS = SOURCE / "tests/python"
sys.path.insert(0, str(SOURCE / "resources/packaging"))
sys.dont_write_bytecode = True
import package  # noqa: E402


def run(*command, **options):
    print(package.run(*command, **options), flush=True)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def needs_pypi(make, *arguments):
    try:
        return make(*arguments)
    except SystemExit as why:
        skip(f"PyPI gives not all: {str(why).strip().splitlines()[-1]}")


def test_with_torch(python, wheel, folder):
    """Runs the other tests with a Python that has PyTorch, of the version of the wheel."""
    same = f"import sys, torch, numpy; assert sys.version_info[:2] == {sys.version_info[:2]}"
    if subprocess.run([python, "-c", same], capture_output=True).returncode != 0:
        print(f"{python}: no PyTorch, or another version of Python: its tests are left out")
        return
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, wheel)
    # The transformers of that Python, and the oldest version that has the AttentionInterface.
    oldest, version = folder / "oldest", "transformers==4.51.3"
    done = subprocess.run([python, "-m", "pip", "install", "-q", "--target", oldest, version],
                          capture_output=True)
    if done.returncode != 0:
        print(f"PyPI gives no {version}: the tests with it are left out")
    for paths in [(folder,)] + [(oldest, folder)] * (done.returncode == 0):
        names = ("notebook_test", "torch_test", "layers_test", "group_test", "tasks_test",
                 "transformers_test", "tracing_test")
        for name in names[5 * (len(paths) - 1):]:
            run(python, TESTS / f"{name}.py", "-v", cwd=folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))})


def test_same_bytes(tools, made, folder, wheel):
    """The same wheel made again, later, elsewhere and for somebody with another language."""
    with unittest.mock.patch.dict(os.environ, TZ="Asia/Tokyo", LC_ALL="tr_TR.UTF-8", TMPDIR=str(folder)):
        plain = package.build_wheel(tools, made, new_folder(folder / "plain again"))
        again = package.repair(tools, plain, new_folder(folder / "again"))
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes(), "another wheel from the same sources"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            assert bytes(SOURCE) not in archive.read(name), f"{name} names the folder of the sources"


def test_carries_its_libraries(wheel, folder):
    """What the libraries of a wheel load is in it, but for what every system has that runs Python."""
    systems = r"ld-linux.*|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+|z)\.so\.\d+"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    libraries = [path for path in folder.rglob("*.so*") if path.is_file()]
    assert len(libraries) > 1, libraries
    own = {path.name for path in libraries}
    for path in libraries:
        for name in re.findall(r"NEEDED +(\S+)", package.run("objdump", "-p", path)):
            assert name in own or re.fullmatch(systems, name), f"{path.name} loads {name}"


def new_folder(path):
    path.mkdir()
    return path


def main(build, python):
    if re.search(r"^CONELAB_SANITIZE:\w+=.+$", (build / "CMakeCache.txt").read_text(), re.M):
        skip("built with sanitizers")
    with tempfile.TemporaryDirectory() as temporary:
        folder, made = pathlib.Path(temporary), build.parent / f"{build.name}-wheel"
        shutil.rmtree(made, ignore_errors=True)
        try:
            tools = needs_pypi(package.tools, build)
            plain = package.build_wheel(tools, made, new_folder(folder / "plain"))
            wheel = package.repair(tools, plain, new_folder(folder / "first"))
            test_same_bytes(tools, made, folder, wheel)
            test_carries_its_libraries(wheel, new_folder(folder / "in it"))
        finally:
            for each in (made, *build.parent.glob(f"{build.name}-tools-*")):
                shutil.rmtree(each, ignore_errors=True)
        fresh = needs_pypi(package.environment, folder / "fresh", "numpy", "ml_dtypes", "mypy")
        run(fresh, "-m", "pip", "install", "-q", wheel)
        assert subprocess.run([fresh, "-c", "import torch"], capture_output=True).returncode != 0
        run(fresh, TESTS / "numpy_test.py", "-v", cwd=folder)
        test_with_torch(python, wheel, folder / "packages")


main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else sys.executable)
