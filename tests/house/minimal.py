#!/usr/bin/env python3
"""Compiles the preset `minimal`, the program without Qt and CUDA as a cluster needs it, and runs it.

    minimal.py BUILD   # BUILD is the build folder of the tests; the preset's stands beside it

The folder is at the same depth as BUILD, so that the compiler cache serves the engine's objects,
which do not differ. Exit status 77: the program was built with sanitizers, whose flags differ.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    done = subprocess.run(command, cwd=SOURCE, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}")
    return done.stdout


def check_program(program, folder):
    """The main job without Qt: attention of a shipped trace, and figures of it."""
    linked = run("ldd", program)
    assert not re.search(r"Qt6|libcuda|libGL", linked), linked
    result = folder / "maps.h5"
    run(program, "attend", SOURCE / "datasets/minilm_trace.h5:/german/layer3", "-o", result,
        "--similarity", "penumbral", "--keep", "weights")
    for ending, mark in (("svg", b"<svg"), ("pdf", b"%PDF")):
        figure = folder / f"maps.{ending}"
        run(program, "figure", "heatmap", "-i", result, "-o", figure)
        assert mark in figure.read_bytes()[:200], figure


def main():
    build = pathlib.Path(sys.argv[1])
    if re.search(r"^CONELAB_SANITIZE:\w+=.+$", (build / "CMakeCache.txt").read_text(), re.M):
        print("built with sanitizers")
        return 77
    folder = build.parent / f"{build.name}-minimal"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run("cmake", "--preset", "minimal", "-B", folder, "-DCONELAB_TESTS=OFF")
        run("cmake", "--build", folder, "--target", "conelab", "-j", str(os.cpu_count() or 2))
        with tempfile.TemporaryDirectory() as results:
            check_program(folder / "bin/conelab", pathlib.Path(results))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


sys.exit(main())
