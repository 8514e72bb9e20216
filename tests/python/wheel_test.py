#!/usr/bin/env python3
"""Builds the wheel as `pip install .` does, and tests it in a fresh environment without PyTorch.

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
import venv

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TESTS = SOURCE / "tests/python"


def run(*command, **keywords):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}")
    return done.stdout


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def environment(folder, *packages):
    """A fresh virtual environment with these packages; returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        skip(f"PyPI gives no {' '.join(packages)}: {done.stdout.strip().splitlines()[-1]}")
    return python


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
        for name in ("torch_test", "transformers_test", "tracing_test")[len(paths) - 1:]:
            run(python, TESTS / f"{name}.py", "-v", cwd=folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))})


def build_wheel(build, folder):
    """Builds the wheel as pip does, but with tools whose place does not change."""
    made, tools = (build.parent / f"{build.name}-{name}" for name in ("wheel", "tools"))
    for each in (made, tools):
        shutil.rmtree(each, ignore_errors=True)
    try:
        python = environment(tools, "scikit-build-core>=0.11", "nanobind>=2.4")
        # The compiler by the name that the other builds use, or the cache knows nothing.
        run(python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder,
            f"--config-settings=build-dir={made}", SOURCE,
            env={**os.environ, "CC": "cc", "CXX": "c++"})
    finally:
        for each in (made, tools):
            shutil.rmtree(each, ignore_errors=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def main(build, python):
    if re.search(r"^CONELAB_SANITIZE:\w+=.+$", (build / "CMakeCache.txt").read_text(), re.M):
        skip("built with sanitizers")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        wheel = build_wheel(build, folder)
        fresh = environment(folder / "fresh", "numpy", "ml_dtypes")
        run(fresh, "-m", "pip", "install", "-q", wheel)
        assert subprocess.run([fresh, "-c", "import torch"], capture_output=True).returncode != 0
        run(fresh, TESTS / "numpy_test.py", "-v", cwd=folder)
        test_with_torch(python, wheel, folder / "packages")


main(pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else sys.executable)
