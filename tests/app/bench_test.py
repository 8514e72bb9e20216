"""`bench` and `compare`: the result's shape, kill -9 at any moment, Ctrl-C, verdicts."""
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy as np

from program import PATIENCE, ROOT, TRACE, ProgramTest, sealed_samples, start

SMALL = ("--operators", "dot,umbral", "--lengths", "16..128:x2", "--dims", "8", "--heads", "1",
         "--rounds", "2", "--warm-only")
QUICK = ("--operators", "dot,umbral", "--lengths", "16,32,64", "--dims", "8", "--heads", "1",
         "--passes", "forward", "--rounds", "3", "--warm-only")
DECIDING = ("--operators", "dot,umbral", "--lengths", "16,32", "--dims", "8", "--heads", "1",
            "--rounds", "6", "--warm-only")


def labels_of(path):
    """Every axis with its labels, and every variable with its axes and dtype."""
    with h5py.File(path) as file:
        found = {}

        def visit(name, item):
            if isinstance(item, h5py.Dataset) and name.startswith("bench/"):
                axis = name.split("/")[-1] in ("operator_name", "pass_name", "device_name", "dtype_name",
                                               "threads", "dim", "head", "seq_len", "round", "status")
                found[name] = (item.shape, str(item.dtype), item[()].tolist() if axis else None)
        file.visititems(visit)
        return found


def sealed_times(path):
    """What a killed run had finished: the times in its sealed samples."""
    times = []
    for part in sealed_samples(path):
        items = dict(line.split("=", 1) for line in part.read_text().splitlines())
        times.append(float(items["warm"]))
    return times


def all_times(path):
    with h5py.File(path) as file:
        return {*file["bench/runtime/time_samples"][()].flat, *file["bench/control/time_samples"][()].flat}


class Bench(ProgramTest):
    def test_result_holds_every_case_and_opens_as_the_contract_says(self):
        out = self.folder / "b.h5"
        found = self.ok("bench", "-o", out, *SMALL, "--json").json()
        self.assertEqual(len(found["cases"]), 2 * 2 * 4)
        for case in found["cases"]:
            self.assertEqual(case["status"], "ok")
            self.assertGreater(case["time"], 0)
            self.assertLessEqual(case["time_low"], case["time"])
            self.assertGreater(case["bandwidth"], 1e7)
            self.assertEqual(case["bandwidth"], found["cases"][0]["bandwidth"])
            self.assertEqual(case["intensity"], case["flops"] / case["bytes"])
            if case["pass"] == "forward":  # At most 2.2e-6 was measured here.
                self.assertLess(case["error"], 1e-5)
        with h5py.File(out) as file:
            runtime = file["bench/runtime"]
            self.assertEqual(runtime["time"].shape, (2, 2, 1, 1, 1, 1, 1, 4))
            self.assertEqual(runtime["time_samples"].shape, (2, 2, 1, 1, 1, 1, 1, 4, 2))
            np.testing.assert_array_equal(runtime["seq_len"], [16, 32, 64, 128])
            self.assertEqual([n for n in runtime["operator_name"].asstr()], ["dot", "umbral"])
        check = subprocess.run([sys.executable, ROOT / "tests/files/contract.py", out],
                               capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assert_clean("b.h5")

    def test_killed_at_any_moment_and_resumed_equals_an_uninterrupted_run(self):
        whole = self.folder / "whole.h5"
        self.ok("bench", "-o", whole, *QUICK)
        moments = random.Random(7)
        kept = 0
        for attempt in range(6):
            out = self.folder / f"killed{attempt}.h5"
            process = start("bench", "-o", out, *QUICK)
            # From before the first sample to the merging of the last, at any moment after a sample.
            while process.poll() is None and len(sealed_samples(out)) < 5 * attempt:
                time.sleep(0.002)
            time.sleep(moments.uniform(0, 0.02))
            process.kill()
            process.communicate(timeout=PATIENCE)
            finished = sealed_times(out)
            self.ok("bench", "-o", out, *QUICK, "--resume")
            self.assertEqual(labels_of(out), labels_of(whole))
            self.assertFalse((self.folder / f"killed{attempt}.h5.parts").exists())
            self.assertLessEqual(set(finished), all_times(out))
            kept += len(finished)
        self.assertGreater(kept, 0)

    def test_interrupt_keeps_what_is_finished(self):
        out = self.folder / "b.h5"
        long_run = ("--operators", "dot", "--lengths", "512..2048:x2", "--heads", "2", "--rounds", "50")
        for number in (signal.SIGINT, signal.SIGTERM):
            before = len(sealed_samples(out))
            process = start("bench", "-o", out, *long_run, "--resume")
            self.addCleanup(process.kill)
            self.wait_until(lambda: len(sealed_samples(out)) >= before + 2, process)
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("--resume", err.decode())
            self.assertFalse(out.exists())
        self.assertTrue(sealed_samples(out))

    def test_key_heads_divide_the_heads(self):
        sweep = ("bench", "-o", self.folder / "b.h5", "--operators", "dot", "--lengths", "16", "--dims", "8",
                 "--passes", "forward", "--rounds", "1", "--warm-only", "--key-heads", "3", "--heads")
        self.fails(2, *sweep, "8,4", says="key-heads must divide heads (found 3 of 4)")
        self.ok(*sweep, "8,3")

    def test_an_unfinished_run_is_not_overwritten_unasked(self):
        out = self.folder / "b.h5"
        self.leave_unfinished(out, "bench", "-o", out, *SMALL)
        self.fails(2, "bench", "-o", out, *SMALL, says="--resume")
        self.fails(2, "bench", "-o", out, *SMALL, "--seed", "9", "--resume", says="another sweep")
        for reader in (("compare", out, "--base", "dot"),
                       ("figure", "scaling", "-o", self.folder / "s.svg", "--input", out)):
            self.fails(1, *reader, says=f"conelab bench --resume {out}")

    def test_figures_draw_the_pass_that_there_is(self):
        out = self.folder / "b.h5"
        self.ok("bench", "-o", out, "--operators", "dot", "--lengths", "16,32", "--dims", "8", "--heads", "1",
                "--rounds", "2", "--passes", "backward", "--controls", "0", "--warm-only")
        said = self.ok("figure", "scaling", "-o", self.folder / "s.svg", "--input", out).out
        self.assertIn("backward", said)
        self.fails(2, "figure", "scaling", "-o", self.folder / "s.svg", "--input", out, "-p", "pass=forward",
                   says="known: backward")

    def test_resuming_needs_no_other_option(self):
        out = self.folder / "b.h5"
        self.fails(2, "bench", "--resume", out, says="no run to resume")
        self.fails(2, "bench", "-o", out, "--resume", "--rounds", "2", says="no run to resume")
        self.fails(2, "bench", "--resume", says="--output")
        self.leave_unfinished(out, "bench", "-o", out, *SMALL, "--seed", "9", samples=2)
        before = sealed_times(out)
        self.fails(2, "bench", "--resume", out, "--seed", "8",
                   says=["another sweep", "seed (expected 9, found 8)"])
        self.fails(2, "bench", "--resume", out, "--lengths", "16", says="lengths (expected 16,32,64,128")
        self.fails(2, "bench", "--resume", out, "-o", self.folder / "c.h5", says="not the same file")
        self.ok("bench", "--resume", out, "--json")
        self.assertLessEqual(set(before), all_times(out))
        self.assert_clean("b.h5")
        with h5py.File(out) as file:
            sweep = list(file["bench/runtime"].attrs["sweep"])
        self.assertIn("seed=9", sweep)
        self.assertIn("rounds=2", sweep)
        self.assertIn("cold=0", sweep)
        said = self.ok("bench", "-o", out, "--resume").out
        self.assertIn(f"{out} was finished already: nothing was left to measure", said.splitlines())
        self.fails(2, "bench", "-o", out, "--resume", "--rounds", "5",
                   says=["is finished, and another sweep", "rounds (expected 2, found 5)"])

    def test_a_run_killed_before_its_first_sample_is_started(self):
        out = self.folder / "b.h5"
        for earlier in (False, True):
            process = start("bench", "-o", out, *SMALL, "--seed", "3")
            parts = out.with_name("b.h5.parts")
            self.wait_until((parts / "run.txt").exists, process)
            process.kill()
            process.communicate(timeout=PATIENCE)
            for sample in sealed_samples(out):
                sample.unlink()
            self.assertEqual(out.exists(), earlier)
            self.ok("bench", "--resume", out)
            with h5py.File(out) as file:
                self.assertIn("seed=3", list(file["bench/runtime"].attrs["sweep"]))
            self.assertFalse(parts.exists())

    def test_a_finished_run_without_controls_resumes_as_it_is(self):
        out = self.folder / "b.h5"
        self.ok("bench", "-o", out, *QUICK, "--controls", "0")
        for again in (("--resume", out), ("--resume", f"{self.folder}/./b.h5", "-o", out)):
            said = self.ok("bench", *again).out
            self.assertIn("was finished already: nothing was left to measure", said)

    def test_a_finished_result_is_replaced_by_a_measured_one_only(self):
        out = self.folder / "b.h5"
        self.ok("bench", "-o", out, *SMALL)
        earlier = out.read_bytes()
        hopeless = ("--operators", "dot", "--lengths", "400000000", "--passes", "forward", "--heads",
                    "1", "--rounds", "1")
        self.fails(1, "bench", "-o", out, *hopeless,
                   says=["b.h5: is left as it was", "no case was measured", "would need"])
        self.assertEqual(out.read_bytes(), earlier)
        self.assert_clean("b.h5")
        out.rename(self.folder / "earlier.h5")
        self.fails(1, "bench", "-o", out, *hopeless,
                   says=["b.h5: is not written", "no case was measured", "would need"])
        self.assert_clean("earlier.h5")
        (self.folder / "earlier.h5").rename(out)
        said = self.ok("bench", "-o", out, *SMALL, "--seed", "9").out
        self.assertIn("in the place of an earlier file", said)
        self.assertNotEqual(out.read_bytes(), earlier)
        self.assert_clean("b.h5")

    def test_what_is_no_benchmark_is_not_replaced(self):
        out = self.folder / "b.h5"
        shutil.copy(TRACE, out)
        self.fails(2, "bench", "-o", out, *SMALL, says=["b.h5: is not a result of `bench`", "lost"])
        self.fails(2, "bench", "-o", out, *SMALL, "--resume", says="b.h5: is not a result of `bench`")
        self.assertEqual(out.read_bytes(), TRACE.read_bytes())
        self.assert_clean("b.h5")

    def test_files_of_somebody_else_stay_where_samples_would_lie(self):
        own = self.folder / "b.h5.parts/own/keep"
        own.parent.mkdir(parents=True)
        own.touch()
        self.fails(2, "bench", "-o", self.folder / "b.h5", *SMALL, says="holds 'own', which is no sample")
        self.assertTrue(own.exists())

    def test_a_finished_run_has_nothing_left_to_resume(self):
        out = self.folder / "b.h5"
        self.assertIn(f"written to {out}", self.ok("bench", "-o", out, *QUICK).out.splitlines())
        finished = out.read_bytes()
        # As a kill leaves it that comes while the samples are discarded.
        (self.folder / "b.h5.parts").mkdir()
        (self.folder / "b.h5.parts/case-00000-round-000.txt").touch()
        said = self.ok("bench", "-o", out, *QUICK, "--resume").out
        self.assertIn(f"{out} was finished already: nothing was left to measure", said.splitlines())
        self.assertNotIn("written", said)
        self.assertEqual(out.read_bytes(), finished)
        self.assert_clean("b.h5")

    def test_a_damaged_sample_is_measured_again(self):
        out = self.folder / "b.h5"
        self.leave_unfinished(out, "bench", "-o", out, *SMALL, samples=2)
        damaged = sealed_samples(out)[0]
        damaged.write_bytes(damaged.read_bytes()[:-30])
        result = self.ok("bench", "-o", out, *SMALL, "--resume")
        lines = [line for line in result.err.splitlines() if "case-" in line]
        self.assertEqual(len(lines), 1, result)
        self.assertTrue(lines[0].startswith("conelab: warning: "), result)
        self.assertTrue(lines[0].endswith("; it is measured again"), result)
        self.assert_clean("b.h5")

    def test_what_is_no_peer_is_said(self):
        out = self.folder / "b.h5"
        for command, says in (("cat", "names no operators"), ("true", "ended with status 0"),
                              ("no-such-program", "No such file"), ("yes", "answered 'y'")):
            self.fails(1, "bench", "-o", out, *SMALL, "--peer", command, says=[command, says])
        self.assert_clean()

    def test_what_cannot_fit_is_skipped_and_says_why(self):
        out = self.folder / "b.h5"
        found = self.ok("bench", "-o", out, "--operators", "dot", "--lengths", "64,400000000",
                        "--passes", "forward", "--heads", "1", "--rounds", "2", "--json").json()
        self.assertEqual([case["status"] for case in found["cases"]], ["ok", "skipped"])
        self.assertRegex(found["cases"][1]["reason"], r"would need \d+\.\d GB of memory")

    def test_an_operator_may_have_one_number_per_head(self):
        out = self.folder / "b.h5"
        words = ("bench", "-o", out, "--operators", "umbral:gamma=1,2.5:masks=causal,dot", "--lengths",
                 "16,32", "--passes", "forward", "--rounds", "1", "--warm-only", "--heads")
        found = self.ok(*words, "2", "--json").json()
        names = ["umbral:gamma=1,2.5:masks=causal", "dot"]
        self.assertEqual([case["operator"] for case in found["cases"][::2]], names)
        self.assertLess(found["cases"][0]["error"], 1e-4)
        drawn = self.folder / "b.svg"
        self.ok("figure", "growth", "-i", out, "-o", drawn, "-p", "operators=" + ",".join(names[:1]))
        self.assertIn("causal", drawn.read_text())
        self.fails(2, *words, "3", says="gamma: a list gives one value per head (expected 3, found 2)")

    def test_wrong_usage(self):
        out = self.folder / "b.h5"
        self.fails(2, "bench", *SMALL, says="--output")
        self.fails(2, "bench", "-o", out, "--operators", "dott", says="did you mean 'dot'?")
        self.fails(2, "bench", "-o", out, "--operators", "dot,dot", says="twice")
        self.fails(2, "bench", "-o", out, "--lengths", "256..16", says="256..16")
        self.fails(2, "bench", "-o", out, "--lengths", "16..4:x2", says="backwards")
        self.fails(2, "bench", "-o", out, "--lengths", "-4", says="--lengths: '-4' is not a")
        self.fails(2, "bench", "-o", out, "--passes", "foreward", says="did you mean 'forward'?")
        self.fails(2, "bench", "-o", out, "--rounds", "0", says="rounds")
        self.fails(2, "bench", "-o", out, "--heads", "many", says="--heads")
        self.fails(2, "bench", "-o", out, *SMALL, "--seed", "-1",
                   says="--seed: wrong value (expected a whole number from 0, found '-1'")
        self.fails(1, "bench", "-o", self.folder / "no/b.h5", *SMALL, says="no/b.h5")
        self.assert_clean()


class Compare(ProgramTest):
    def change(self, source, name, edit):
        path = self.folder / name
        shutil.copy(source, path)
        with h5py.File(path, "r+") as file:
            samples = file["bench/runtime/time_samples"]
            samples[...] = edit(samples[...])
            file.pop("sha256", None)  # The seal: what is made here is no damage.
        return path

    def test_says_that_a_file_is_not_as_it_was_written(self):
        out, damaged = self.folder / "a.h5", self.folder / "b.h5"
        self.ok("bench", "-o", out, *QUICK)
        with h5py.File(out) as file:
            at = file["bench/runtime/seq_len"].id.get_offset()
        content = bytearray(out.read_bytes())
        content[at + 1] ^= 0x10
        damaged.write_bytes(content)
        for words in (("compare", damaged, "--base", "dot"),
                      ("figure", "scaling", "-i", damaged, "-o", self.folder / "s.svg")):
            self.assertIn("not those that were written", self.ok(*words).err)
        self.fails(1, "inspect", damaged, says="not those that were written")

    def test_verdicts(self):
        a = self.folder / "a.h5"
        self.ok("bench", "-o", a, *DECIDING)
        steady = self.change(a, "steady.h5", lambda t: np.broadcast_to(
            np.linspace(1, 1.001, t.shape[-1]), t.shape) * np.median(t, -1, keepdims=True))
        twice = self.change(steady, "twice.h5", lambda t: 2 * t)
        for b, verdict, ratio in ((steady, "same", 1), (twice, "slower", 2)):
            cases = self.ok("compare", steady, b, "--json").json()["cases"]
            self.assertEqual(len(cases), 8)
            for case in cases:
                self.assertEqual(case["verdict"], verdict)
                self.assertAlmostEqual(case["ratio"], ratio, delta=0.01)
        text = self.ok("compare", twice, steady).out
        self.assertIn("8 cases: 8 faster", text)
        self.assertIn("factor of 1.02 (--margin 0.02)", text)
        self.assertIn(f"{steady}: A/A control: ", text)
        within = self.ok("compare", steady, "--base", "dot", "--json").json()
        self.assertEqual([case["operator"] for case in within["cases"]], 4 * ["umbral"])
        self.assertEqual(within["margin"], 0.02)
        self.assertGreater(within["control"]["comparisons"], 0)
        text = self.ok("compare", steady, "--base", "dot", "--margin", "0.1").out
        self.assertIn("factor of 1.1 (--margin 0.1)", text)
        self.assertRegex(text.splitlines()[-1], r"^A/A control: \d of \d case.* came out different")
        self.fails(2, "compare", steady, "--base", "dott", says="did you mean 'dot'?")

    def test_nothing_is_decided_where_the_machine_itself_changed(self):
        a = self.folder / "a.h5"
        self.ok("bench", "-o", a, *QUICK)
        b = self.change(a, "b.h5", lambda t: 2 * t)
        with h5py.File(b, "r+") as file:
            peaks = file["bench/runtime/peak_flops_samples"]
            peaks[...] = peaks[...] / 2
        for case in self.ok("compare", a, b, "--json").json()["cases"]:
            self.assertEqual(case["verdict"], "undecided")
            self.assertIn("0.50 times its earlier speed", case["note"])

    def test_wrong_files(self):
        self.fails(1, "compare", self.folder / "a.h5", self.folder / "b.h5", says="a.h5")
        self.fails(1, "compare", ROOT / "datasets/minilm_trace.h5", self.folder / "b.h5",
                   says="minilm_trace.h5")
        self.fails(2, "compare", self.folder / "a.h5", says="--base")


if __name__ == "__main__":
    unittest.main()
