"""Drives the built program as a user would; shared by the tests of this folder.

The program's path comes from the environment variable CONELAB, the sources' root from this file.
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CONELAB", str(ROOT / "build/bin/conelab"))
TRACE = ROOT / "datasets/minilm_trace.h5"
PATIENCE = 120  # seconds: only what hangs takes as long, on the busiest machine


def start(*arguments, limits=(), **options):
    """A running program; `limits` are (resource, bytes or seconds) pairs."""
    def lower_limits():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))
    # Without a display: alone, the program would open its window.
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    options.setdefault("env", environment)
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=lower_limits if limits else None, **options)


class Result:
    def __init__(self, process, seconds):
        self.out, self.err = (text.decode("utf-8", "backslashreplace")
                              for text in process.communicate(timeout=seconds))
        self.status = process.returncode

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"status {self.status}\nstdout: {self.out[:2000]}\nstderr: {self.err[:2000]}"


def run(*arguments, seconds=PATIENCE, **options):
    """Runs the program to its end."""
    return Result(start(*arguments, **options), seconds)


def children(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return file.read().split()


def handles(process, number):
    """Whether the program answers this signal itself by now."""
    with open(f"/proc/{process.pid}/status") as file:
        caught = next(line for line in file if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


def processor_seconds(process):
    """What its own threads have worked, without its children."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bytes_read(process):
    with open(f"/proc/{process.pid}/io") as file:
        return int(next(line for line in file if line.startswith("rchar:")).split()[1])


def computes(process):
    """Whether `attend` is at its sums: its reader, a child, is gone, and it has worked itself."""
    return (handles(process, signal.SIGINT) and not children(process)
            and processor_seconds(process) > 0.5)


def sealed_samples(out):
    """Those of an unfinished `bench -o OUT`."""
    return sorted(out.with_name(out.name + ".parts").glob("case-*.txt"))


def softmax(logits):
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


class ProgramTest(unittest.TestCase):
    """Gives each test a folder of its own and the assertions of the exit-status contract."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="conelab-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def hang_ups(self, disposition):
        """What programs do about SIGHUP that start in this test; under nohup it would be ignored."""
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, disposition))

    def write_study(self, text, name="s.toml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def write(self, name="in.h5", /, **arrays):
        """A file of HDF5 with these arrays."""
        path = self.folder / name
        with h5py.File(path, "w") as file:
            for key, value in arrays.items():
                file[key] = value
        return path

    def attend(self, source, *options, out="out.h5"):
        """What `attend` has written."""
        self.ok("attend", source, "-o", self.folder / out, *options)
        return h5py.File(self.folder / out, "r")["attention"]

    def index(self, folder):
        """The index of a study's folder, which the test's folder holds."""
        return json.loads((self.folder / folder / "index.json").read_text())

    def ok(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.status, 0, result)
        return result

    def fails(self, status, *arguments, says=(), **options):
        """Ends with `status` and exactly one line on standard error that has all of `says`."""
        result = run(*arguments, **options)
        self.assertEqual(result.status, status, result)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, result)
        self.assertTrue(lines[0].startswith("conelab: error: "), result)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, lines[0])
        return result

    def wait_until(self, arrived, process):
        """Waits for a condition, never for a time; the program runs all the while."""
        end = time.monotonic() + PATIENCE
        while not arrived():
            self.assertIsNone(process.poll(), "ended before it was where it should be")
            self.assertLess(time.monotonic(), end, "never came to where it should be")
            time.sleep(0.002)

    def leave_unfinished(self, out, *arguments, samples=1, **options):
        """Kills `bench -o OUT` with so many samples sealed; one that has ended by then starts anew."""
        while True:
            process = start(*arguments, **options)
            while process.poll() is None and len(sealed_samples(out)) < samples:
                time.sleep(0.002)
            process.kill()
            process.communicate(timeout=PATIENCE)
            self.assertIn(process.returncode, (0, -signal.SIGKILL))
            if not out.exists():
                return
            out.unlink()
            shutil.rmtree(out.with_name(out.name + ".parts"), ignore_errors=True)

    def assert_clean(self, *expected):
        """The test's folder holds these files and nothing else, temporary files included."""
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(expected))

