"""The peers compute what Conelab computes, and their worker keeps the protocol.

Run by a Python that has torch and h5py (CMake's CONELAB_PEER_PYTHON); skipped elsewhere. The
program's path comes from the environment variable CONELAB.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import formulas
import run
import worker

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("CONELAB", str(HERE.parents[1] / "build/bin/conelab"))


def conelab(*words):
    subprocess.run([PROGRAM, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


class Formulas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        random = np.random.default_rng(3)
        self.arrays = {name: random.standard_normal((1, 2, 65, 16)) for name in "qkv"}
        np.savez(self.folder / "in.npz", **self.arrays)

    def test_outputs_and_gradients_are_conelabs(self):
        for name in formulas.LOGITS:
            out = self.folder / f"{name}.h5"
            conelab("attend", self.folder / "in.npz", "-o", out, "--similarity", name, "--dtype", "f64",
                    "--keep", "output,gradients")
            inputs = [torch.tensor(self.arrays[x], requires_grad=True) for x in "qkv"]
            output = formulas.attention(name)(*inputs)
            gradients = torch.autograd.grad(output.sum(), inputs)
            with h5py.File(out) as file:
                for key, found in [("output/output", output), *zip(
                        ("gradients/q", "gradients/k", "gradients/v"), gradients)]:
                    np.testing.assert_allclose(found.detach(), file["attention"][key], atol=1e-6,
                                               err_msg=f"{name} {key}")


class OldConfig:
    """As that of PyTorch 2.5: an unknown name is an error."""
    __slots__ = ("cache_size_limit", "accumulated_cache_size_limit")


class Worker(unittest.TestCase):
    def test_knows_the_limits_by_their_older_name(self):
        config = OldConfig()
        config.cache_size_limit = 8
        worker.lift_recompile_limits(config)
        self.assertEqual((config.cache_size_limit, config.accumulated_cache_size_limit), (10_000, 10_000))
        self.assertEqual(torch._dynamo.config.recompile_limit, 10_000)

    def ask(self, *requests):
        done = subprocess.run([sys.executable, HERE / "worker.py"], input="\n".join(requests), text=True,
                              capture_output=True, timeout=300)
        return done.stdout.splitlines()

    def test_answers_one_line_a_request(self):
        # Of 24 tokens: up to 25, cdist takes differences, and no pair of tokens cancels.
        case = "torch_{} {} cpu f32 1 16 1 24 1"
        eager = case.format("penumbral", "forward+backward")
        answers = self.ask(
            "operators", "predict " + eager, "facts", f"case {eager} 1", "facts", "sample 0",
            f"case {case.format('nonsense', 'forward')} 1", f"case {case.format('sdpa', 'forward')} 1",
            "facts", "case flex_umbral backward cpu f32 1 16 1 64 1 1")
        self.assertEqual([a.split()[0] for a in answers],
                         ["operators", "predict", "failed", "ready", "facts", "sample", "failed", "ready",
                          "facts", "skipped"])
        flops, _, error = map(float, answers[4].split()[1:])
        self.assertEqual(flops, 14 * 24 * 24 * 16)
        self.assertLess(error, 1e-6)
        self.assertEqual(len(answers[5].split()), 8)

    def test_counts_what_queries_and_values_of_their_own_sizes_take(self):
        case = "torch_{} {} cpu f32 1 16 4 24 1 1 query_len=2 value_dim=8 key_head={}"
        answers = self.ask(f"case {case.format('sdpa', 'forward', 2)}", "facts",
                           f"case {case.format('penumbral', 'forward+backward', 4)}", "facts",
                           f"case {case.format('penumbral', 'forward', 2)}")
        flops, size, error = map(float, answers[1].split()[1:])
        self.assertEqual(flops, 4 * 2 * 24 * (2 * 16 + 2 * 8))
        self.assertEqual(size, 4 * (4 * 2 * (16 + 8) + 2 * 24 * (16 + 8)))
        self.assertLess(error, 1e-6)
        flops, _, error = map(float, answers[3].split()[1:])
        self.assertEqual(flops, 4 * 2 * 24 * (8 * 16 + 6 * 8))
        self.assertLess(error, 1e-5)
        self.assertEqual(answers[4].split()[0], "skipped")

    def test_only_close_pairs_are_inaccurate(self):
        """Beyond 25 tokens cdist takes a product of matrices. Of the twins it keeps no digit of their
        distance, and so of that slope's direction: 6e-3 to 4e-2 in the gradient with torch 2.15."""
        case = worker.Case(worker.Words("torch_penumbral forward+backward cpu f32 1 16 1 64 1 1".split()))
        errors = case.row_errors()[0, 0]
        others = [row for row in range(len(errors)) if row not in (0, 2)]
        self.assertLess(errors[others].max().item(), 1e-6)
        case.attend = worker.exact_attention("penumbral")  # By differences, still in float32.
        self.assertLess(case.row_errors().max().item(), 1e-6)


class Run(unittest.TestCase):
    """run.py, but for its hours."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_creates_no_parents(self):
        end = subprocess.run([sys.executable, HERE / "run.py", "-o", self.folder / "no/peers"], text=True,
                             capture_output=True)
        self.assertEqual((end.returncode, end.stdout, len(end.stderr.splitlines())), (1, "", 1), end)
        self.assertIn("no/peers: cannot be created: No such file", end.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_figures_have_the_base_of_the_table(self):
        result = self.folder / "lengths.h5"
        conelab("bench", "-o", result, "--peer", f"{sys.executable} {HERE / 'worker.py'}", "--operators",
                f"{run.OURS},{run.FUSED}", "--lengths", "16,32", "--dims", "8", "--heads", "1", *run.ALL,
                "--rounds", "2")
        run.draw_ratios(PROGRAM, result)
        figures = sorted(self.folder.glob("ratio_*.svg"))
        self.assertEqual(len(figures), 4)
        for figure in figures:
            self.assertIn(f"time / {run.FUSED}", figure.read_text())


if __name__ == "__main__":
    unittest.main()
