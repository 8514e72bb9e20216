"""Every call that changes a file fails once, fails for ever, or is the last before a kill: whoever
writes leaves the whole file or none, says so in one line, and loses no sample.

CONELAB_FAILING_WRITES is the library that makes calls fail. Of the many calls of each command every
seventh is tried, so that all are within seven runs of different offsets; CONELAB_ALL_FAULTS=1 tries
all of them.
"""
import datetime
import hashlib
import os
import shutil
import unittest

from program import TRACE, ProgramTest, run

LIBRARY = os.environ.get("CONELAB_FAILING_WRITES", "")
EVERY = 1 if os.environ.get("CONELAB_ALL_FAULTS") else 7
FIRST = 1 if EVERY == 1 else 1 + datetime.date.today().toordinal() % EVERY


@unittest.skipUnless(os.path.exists(LIBRARY), "no library that makes writes fail")
class FailingWrites(ProgramTest):
    def environment(self, **more):
        return {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | \
            {"LD_PRELOAD": LIBRARY} | more

    def calls(self, *arguments):
        """How many such calls the command makes."""
        counts = self.folder / "counts"
        self.ok(*arguments, env=self.environment(CONELAB_FAULT_COUNT=str(counts)))
        most = max(map(int, counts.read_text().split()))
        counts.unlink()
        return most

    def faults(self, calls, every=EVERY):
        for number in range(FIRST, calls + 1, every):
            for mode in ("once", "ever", "before", "inside"):
                yield f"{number}:{mode}"

    def written(self, out):
        """The names beside the output, without what a killed process leaves hidden."""
        return sorted(p.name for p in out.parent.iterdir() if not p.name.startswith("."))

    def try_writer(self, name, *arguments, is_whole):
        """`is_whole(path)` says whether a file is a complete output of the command."""
        out = self.folder / "out" / name
        out.parent.mkdir()
        command = *arguments, "-o", out
        calls = self.calls(*command)
        self.assertGreater(calls, 2)
        whole = out.read_bytes()
        for earlier in (False, True):
            for fault in self.faults(calls):
                with self.subTest(fault=fault, earlier=earlier):
                    shutil.rmtree(out.parent)
                    out.parent.mkdir()
                    if earlier:
                        out.write_bytes(whole)
                    result = run(*command, env=self.environment(CONELAB_FAULT=fault))
                    killed = fault.endswith(("before", "inside"))
                    if result.status == 1:
                        self.assertEqual(len(result.err.splitlines()), 1, result)
                        self.assertIn("No space left on device", result.err)
                        self.assertEqual([p.name for p in out.parent.iterdir() if p != out], [])
                    else:
                        self.assertEqual(result.status, 137 if killed else 0, result)
                    if out.exists():
                        self.assertTrue(is_whole(out), result)
                    else:
                        self.assertFalse(earlier, result)
                        self.assertNotEqual(result.status, 0)
                    self.ok(*command)  # What was left is in nobody's way.
                    self.assertEqual([p.name for p in out.parent.iterdir()], [name])
        shutil.rmtree(out.parent)

    def inspects(self, path):
        return "every byte is as it was written" in run("inspect", path).out

    def test_of_results(self):
        spec = f"{TRACE}:/german/layer3"
        self.try_writer("a.h5", "attend", spec, "-s", "dot", "--keep", "weights", is_whole=self.inspects)
        self.try_writer("t.h5", "tree", spec, "-s", "dot", is_whole=self.inspects)

    def test_of_figures(self):
        for name, end in (("c.svg", b"</svg>\n"), ("c.pdf", b"%%EOF\n"), ("c.png", b"IEND\xaeB`\x82")):
            self.try_writer(name, "figure", "cones", is_whole=lambda p: p.read_bytes().endswith(end))

    def test_a_benchmark_loses_no_sample(self):
        out = self.folder / "b.h5"
        parts = out.with_name("b.h5.parts")
        sweep = ("--operators", "dot", "--lengths", "64", "--heads", "1", "--rounds", "2", "--warm-only",
                 "--passes", "forward", "--controls", "0", "--devices", "cpu")
        calls = self.calls("bench", "-o", out, *sweep)
        for fault in self.faults(calls, EVERY if EVERY == 1 else 5 * EVERY):  # Each takes seconds.
            with self.subTest(fault=fault):
                out.unlink(missing_ok=True)
                shutil.rmtree(parts, ignore_errors=True)
                result = run("bench", "-o", out, *sweep, env=self.environment(CONELAB_FAULT=fault))
                sealed = {p.name: p.read_bytes() for p in parts.glob("case-*.txt")} if parts.exists() else {}
                self.assertIn(result.status, (0, 1, 137), result)
                if result.status == 1:
                    self.assertIn("No space left on device", result.err)
                for path in parts.glob("case-*.txt"):  # The last line is the digest of the others.
                    text, _, digest = path.read_text().rpartition("sha256=")
                    self.assertEqual(digest.strip(), hashlib.sha256(text.encode()).hexdigest())
                if result.status == 0:
                    self.assertTrue(self.inspects(out))
                    continue
                resumed = self.ok("bench", "-o", out, *sweep, "--resume")
                self.assertTrue(self.inspects(out), resumed)
                self.assertNotIn("damaged", resumed.err)
                self.assertLessEqual(len(sealed), 2)
                self.assertFalse(parts.exists())


if __name__ == "__main__":
    unittest.main()
