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
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CONELAB", str(ROOT / "build/bin/conelab"))
TRACE = ROOT / "datasets/minilm_trace.h5"


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


def run(*arguments, seconds=120, **options):
    """Runs the program to its end."""
    return Result(start(*arguments, **options), seconds)


class ProgramTest(unittest.TestCase):
    """Gives each test a folder of its own and the assertions of the exit-status contract."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="conelab-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def hang_ups(self, disposition):
        """What programs do about SIGHUP that start in this test; under nohup it would be ignored."""
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, disposition))

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

    def assert_clean(self, *expected):
        """The test's folder holds these files and nothing else, temporary files included."""
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(expected))

