"""The parts of run.py that need no device: operands and formulas against float64, on the CPU."""
import contextlib
import io
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import torch
except ImportError:
    print("SKIPPED: this Python has no PyTorch")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
torch.set_num_threads(1)  # Tensors are small: threads would wait for each other.
sys.path.insert(0, str(ROOT / "tests/gpu"))
import formulas
import kernels
import parts
import run
import stand_in
import supervise


class Formulas(unittest.TestCase):
    def test_penumbral_and_umbral_are_symmetric_and_zero_distance_gives_the_larger_height(self):
        d = torch.zeros(1)
        u, v = torch.tensor([0.3]), torch.tensor([0.6])
        for height in (formulas.umbral_height(d, u, v, 0.5), formulas.penumbral_height(d, u, v, 1.0)):
            self.assertAlmostEqual(float(height), 0.6, places=6)

    def test_penumbral_is_continuous_where_cones_cease_to_meet(self):
        u, v = torch.tensor([0.3], dtype=torch.float64), torch.tensor([0.6], dtype=torch.float64)
        border = (1 - u * u).sqrt() + (1 - v * v).sqrt()
        below = formulas.penumbral_height(border - 1e-9, u, v, 1.0)
        above = formulas.penumbral_height(border + 1e-9, u, v, 1.0)
        self.assertLess(abs(float(below - above)), 1e-6)

    def test_score_mods_give_the_formulas_logits(self):
        for name, parameters in run.PARAMETERS.items():
            q, k, _, _ = run.tokens(1, 5, 7, 8, 8, 3, "cpu", torch.float64)
            a, b = (kernels.place(name, t, torch.float64, parameters) for t in (q, k))
            exact = formulas.logits(name, a.base, b.base, a.height, b.height, parameters, 8)
            norms = [(p.base ** 2).sum(-1)[None] for p in (a, b)]
            heights = [None if p.height is None else p.height[None] for p in (a, b)]
            mod = formulas.score_mod(name, *heights, *norms, parameters, 8)
            product = a.base @ b.base.transpose(-1, -2)
            i, j = torch.meshgrid(torch.arange(5), torch.arange(7), indexing="ij")
            found = mod(product[0], 0, 0, i, j)
            self.assertLess(float((found - exact[0]).abs().max()), 1e-5, name)


class Operands(unittest.TestCase):
    def test_values_are_those_of_the_headers(self):
        place = kernels.place("penumbral", torch.tensor([[[0.5, 0.2]]]), torch.float32, {"height": 1.0})
        p, a, s = kernels.token_values("penumbral", place, {"height": 1.0})[0, :, 0].tolist()
        x = 1 / (1 + math.exp(-0.2))
        self.assertAlmostEqual(a, x * x, places=6)
        self.assertAlmostEqual(s, math.sqrt(1 - x * x), places=6)
        self.assertAlmostEqual(p, 1 - math.sqrt(1 - x * x), places=6)

    def test_spans_are_causal_ranges_aligned_at_the_end(self):
        rows, blocks = kernels.spans(70, 100, True, "cpu")
        self.assertEqual(rows[0].tolist(), [0, 31])
        self.assertEqual(rows[69].tolist(), [0, 100])
        self.assertEqual(blocks.tolist(), [[0, 94, 0, 31], [0, 100, 0, 95]])

    def test_packed_tiles_hold_every_number_at_its_swizzled_place(self):
        data = torch.arange(1, 2 * 70 * 60 + 1).reshape(2, 70, 60).to(torch.int16)
        packed = kernels.pack_tiles(data, 64, 64)
        self.assertEqual(list(packed.shape), [2, 2, 64 * 64])
        for g, r, c in ((0, 0, 0), (0, 5, 9), (1, 63, 59), (1, 69, 7)):
            place = kernels.swizzled(64, r % 64, c) // 2
            self.assertEqual(int(packed[g, r // 64, place]), int(data[g, r, c]))
        self.assertEqual(int(packed.ne(0).sum()), data.numel())

    def test_facts_lie_by_tile_then_number_then_key(self):
        offset, values = torch.rand(2, 200), torch.rand(2, 3, 200)
        facts = kernels.pack_facts(offset, values, 128)
        self.assertEqual(list(facts.shape), [2, 2, 4, 128])
        self.assertEqual(float(facts[1, 1, 0, 71]), float(offset[1, 199]))
        self.assertEqual(float(facts[0, 1, 3, 2]), float(values[0, 2, 130]))

    def test_lists_hold_the_pairs_of_each_block(self):
        seen = torch.rand(130, 70, generator=torch.Generator().manual_seed(1)) < 0.1
        seen[63, 5] = True
        first, token, rows = (t.tolist() for t in parts.lists(seen))
        found = torch.zeros_like(seen)
        for block in range(3):
            entries = range(first[block], first[block + 1])
            self.assertEqual([token[e] for e in entries], sorted({token[e] for e in entries}))
            for e in entries:
                for r in range(64):
                    if rows[e] >> r & 1:
                        found[block * 64 + r, token[e]] = True
        self.assertTrue(torch.equal(found, seen))

    def test_twins_are_planted(self):
        q, k, _, _ = run.tokens(2, 8, 8, 4, 4, 1, "cpu", torch.float32)
        self.assertTrue(torch.equal(q[:, 0], k[:, 1]))


# Prints what a header makes of parameters, and of tokens.
PRINTER = """
#include <cstdio>
#include "core/similarity/all.h"
template <class S>
void print(const double* parameters, double height, double light_distance) {
  double numbers[conelab::max_constants + conelab::max_values] = {};
  S::constant(parameters, numbers);
  S::token({height, light_distance}, parameters, numbers + S::constants);
  for (int i = 0; i < S::constants + S::values; ++i) std::printf("%.17g ", numbers[i]);
  std::puts("");
}
int main() {
"""


@unittest.skipIf(shutil.which("c++") is None, "no compiler of C++")
class Headers(unittest.TestCase):
    """What kernels.py repeats of the similarities' headers is what they say."""
    HEIGHT, GAP = 0.6, 0.4  # Below a light at height 1.
    WRITTEN = {"dot": [0.25], "laplacian": [1.5], "umbral": [1.5, 0.7], "penumbral": [1.5, 1.0]}

    def printed(self):
        calls = (f"  {{ const double p[] = {{{', '.join(map(str, numbers))}}}; "
                 f"print<conelab::{name.capitalize()}>(p, {self.HEIGHT}, {self.GAP}); }}\n"
                 for name, numbers in self.WRITTEN.items())
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "print.cpp"), pathlib.Path(folder, "print")
            source.write_text(PRINTER + "".join(calls) + "}\n")
            subprocess.run(["c++", "-std=c++20", f"-I{ROOT}", source, "-o", program], check=True)
            lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        return [[float(x) for x in line.split()] for line in lines.splitlines()]

    def test_constants_and_values_of_tokens(self):
        names = {"dot": ["scale"], "laplacian": ["gamma"], "umbral": ["gamma", "radius"],
                 "penumbral": ["gamma", "height"]}
        placed = kernels.Placed(torch.zeros(1, 1, 1), *(torch.full((1, 1), x, dtype=torch.float64)
                                                        for x in (self.HEIGHT, self.GAP)))
        for (name, written), expected in zip(self.WRITTEN.items(), self.printed()):
            parameters = dict(zip(names[name], written))
            values = kernels.token_values(name, placed, parameters)
            found = kernels.constants(name, parameters, 16) + ([] if values is None else values.flatten().tolist())
            self.assertEqual(len(found), len(expected), name)
            for mine, theirs in zip(found, expected):
                self.assertAlmostEqual(mine, theirs, places=6, msg=name)


class Check(unittest.TestCase):
    def rows(self, wrong):
        stand_in.Attention.wrong = wrong
        with run.rehearsal():
            return [row for name in run.OPERATORS for dtype in (torch.float32, torch.bfloat16)
                    for causal in (False, True)
                    for row in run.check_case(stand_in.Library, name, dtype, 20, 8, 2, causal)]

    def test_right_answers_pass(self):
        rows = self.rows(0.0)
        with run.rehearsal():
            further = [row for name in run.PORTABLE for row in
                       run.check_case(stand_in.Library, name, torch.float32, 20, 8, 2, True)]
            of_laws = [row for name in run.LAWS for row in
                       run.check_case(stand_in.Library, name, torch.bfloat16, 20, 8, 2, True)]
            grouped = [row for name in run.GROUPED for row in
                       run.check_case(stand_in.Library, name, torch.bfloat16, 20, 8, 2, True)]
        self.assertEqual([r for r in further if not r["good"]], [])
        self.assertEqual(len(further), 5 * 4 + 1 + 2)
        self.assertEqual([r for r in of_laws + grouped if not r["good"]], [])
        # All but the sigmoid alone have a bias, whose gradient is a fifth answer.
        self.assertEqual(len(of_laws), 4 * 2 * (5 * 4 + 4))
        self.assertEqual(len(grouped), 2 * (3 * 4 + 1))
        # The fast path is checked beside the portable one where it takes the type.
        self.assertEqual(len(rows), 4 * 2 * (4 + 8))
        self.assertEqual([r for r in rows if not r["good"]], [])

    def test_wrong_outputs_fail(self):
        rows = [r for r in self.rows(0.01) if r["what"].endswith("output")]
        self.assertTrue(rows and not any(r["good"] for r in rows))

    def test_gradients_that_vanish_are_judged_by_what_cancels(self):
        """One key: its weight is 1 whatever the logit, and rounding is all that a gradient holds."""
        def verdicts(noise):
            stand_in.Attention.wrong, stand_in.Attention.noise = 0.0, noise
            self.addCleanup(setattr, stand_in.Attention, "noise", 0.0)
            with run.rehearsal():
                return [row["good"] for name in run.OPERATORS
                        for row in run.check_case(stand_in.Library, name, torch.float32, 1, 8, 2, False)
                        if row["what"] in ("d query", "d key")]
        self.assertEqual(verdicts(1e-6), 8 * [True])
        self.assertEqual(verdicts(1e-1), 8 * [False])


def squares():
    """Answers of which some never come."""
    def answer(kind, x):
        if kind == "hangs":
            signal.pause()
        if kind == "dies":
            os._exit(3)
        if kind == "fails":
            raise RuntimeError("no square")
        return x * x
    return answer


class Supervision(unittest.TestCase):
    def ask(self, questions, following):
        return list(supervise.ask(questions, squares, lambda q: q[0], "fork", 60, following))

    def test_what_fails_or_dies_costs_one_answer(self):
        questions = [("good", 2), ("fails", 0), ("good", 3), ("dies", 0), ("good", 4)]
        answers = self.ask(questions, 60)
        self.assertEqual([q for q, _, _ in answers], questions)
        self.assertEqual([a for _, good, a in answers if good], [4, 9, 16])
        self.assertEqual([a for _, good, a in answers if not good],
                         ["RuntimeError: no square", "its process ended with 3"])

    def test_what_hangs_is_given_up(self):
        answers = self.ask([("good", 2), ("hangs", 0), ("good", 3)], 5)
        self.assertEqual([a for _, _, a in answers], [4, "no answer in 5 s", 9])

    def test_a_kind_that_keeps_failing_is_left(self):
        answers = self.ask([("fails", i) for i in range(9)] + [("good", 2)], 60)
        self.assertEqual([q for q, _, _ in answers], [("fails", 0), ("fails", 1), ("fails", 2), ("good", 2)])


EMULATED = os.environ.get("CONELAB_EMULATED_KERNELS", "")


class Emulated(kernels.Attention):
    """The kernels' own code on the scripts' own operands, without a GPU."""

    def has_fast_path(self):
        return True


@unittest.skipUnless(os.path.isfile(EMULATED), "CONELAB_EMULATED_KERNELS names no library that is built")
class Emulation(unittest.TestCase):
    def test_every_operator_agrees_with_float64_on_both_paths(self):
        class Library(kernels.Kernels):
            def call(self, function, *arguments):
                status = getattr(self.code, function)(*arguments, None)
                assert status == 0, f"{function}: {status}"
        library = Library(EMULATED)
        rows = []
        with run.rehearsal():
            kernels.Attention = Emulated
            for name in run.OPERATORS:
                for dtype, n, d, causal in ((torch.float32, 70, 33, True), (torch.bfloat16, 1, 64, False),
                                            (torch.bfloat16, 130, 33, True), (torch.float16, 70, 100, False)):
                    rows += run.check_case(library, name, dtype, n, d, 2, causal)
            for name in run.PORTABLE:
                for dtype, n, d, causal in ((torch.float32, 70, 33, True), (torch.float16, 130, 16, False)):
                    rows += run.check_case(library, name, dtype, n, d, 2, causal)
            for name in run.LAWS[:5]:
                rows += run.check_case(library, name, torch.float32, 70, 33, 2, True)
            for i, name in enumerate(run.LAWS):
                dtype, n, d, causal = ((torch.bfloat16, 130, 33, True), (torch.float16, 70, 100, False))[i % 2]
                rows += run.check_case(library, name, dtype, n, d, 2, causal, ("fast ",))
            for i, name in enumerate(run.GROUPED):
                dtype, n, causal = ((torch.bfloat16, 130, True), (torch.float16, 70, False))[i % 2]
                rows += run.check_case(library, name, dtype, n, 33, 2, causal)
                rows += run.check_case(library, name, torch.float32, 70, 33, 2, True)
        self.assertEqual([r for r in rows if not r["good"]], [])
        self.assertEqual(len(rows), 4 * (4 + 3 * 8) + 2 * (5 * 4 + 1 + 2) + (1 + 4) * (5 * 4 + 4)
                         + 3 * (3 * 4 + 1))


class Rehearsal(unittest.TestCase):
    """`run.py MODE - OUT --dry-run` from its command line to its file."""

    def rehearse(self, mode):
        stand_in.Attention.wrong = 0.0
        run.STARTED = time.time()  # The tests before may have taken longer than a mode may.
        with tempfile.TemporaryDirectory() as out:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = run.main(mode, "-", out, "--dry-run")
            self.assertEqual(status, 0, printed.getvalue())
            written = [p.suffix for p in pathlib.Path(out).iterdir()]
            self.assertIn(written, (["." + "h5"], [".json"]))
        return printed.getvalue()

    def test_check_ends_in_a_verdict_for_every_operator(self):
        printed = self.rehearse("check")
        for name in run.OPERATORS + run.LAWS + run.GROUPED:
            self.assertRegex(printed, rf"{re.escape(name)} +bfloat16 +fast d key .* ok")
        for name in run.PORTABLE:
            self.assertRegex(printed, rf"{name} +float32 +d value .* ok")
        self.assertIn(" 0 failed", printed)

    def test_time_puts_ours_beside_pytorchs(self):
        printed = self.rehearse("time")
        for who in ("conelab portable", "conelab sm_90a", "SDPA FLASH", "PyTorch eager"):
            self.assertRegex(printed, rf"dot +forward .* {who}")
        self.assertIn("CUDNN_ATTENTION", printed.replace("SDPA CUDNN", "CUDNN_ATTENTION"))

    def test_tune_lists_every_variant(self):
        printed = self.rehearse("tune")
        self.assertIn("turns=1", printed)
        self.assertIn("turns=0", printed)


class Script(unittest.TestCase):
    """run.sh with a stand-in for nvcc, which makes what it is asked for and keeps a list."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        self.program("cuda/bin/nvcc", f'echo "$@" >> {self.log}\n'
                     'while [ $# -gt 1 ]; do [ "$1" = -o ] && touch "$2"; shift; done')

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def run_script(self, *words, **more):
        environment = {**os.environ, "CUDA_HOME": str(self.folder / "cuda"),
                       "CONELAB_OUT": str(self.folder / "out"), "CONELAB_PYTHON": sys.executable,
                       "CONELAB_GPU_BUILD": str(self.folder / "built"),
                       "TMPDIR": str(self.folder / "temporary"),
                       "PATH": f"{self.folder}/tools:{os.environ['PATH']}", **more}
        (self.folder / "temporary").mkdir(exist_ok=True)
        return subprocess.run(["bash", ROOT / "tests/gpu/run.sh", *words], env=environment,
                              capture_output=True, text=True)

    def compiled(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def test_a_dry_run_leaves_nothing(self):
        for mode in ("build", "tune"):
            result = self.run_script(mode, "--dry-run")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn(f"{self.folder}/built/fast_Umbral_64_softmax.cu", result.stdout)
            self.assertNotRegex(result.stdout, r"\+ .*temporary")
        self.assertEqual(self.compiled(), [])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["cuda", "temporary"])
        self.assertEqual(list((self.folder / "temporary").iterdir()), [])

    def test_without_pytorch_nothing_is_built(self):
        self.program("tools/plain", "exit 1")
        for mode in ("check", "time", "tune"):
            result = self.run_script(mode, CONELAB_PYTHON="plain")
            self.assertEqual(result.returncode, 77, result.stdout + result.stderr)
            self.assertIn("no PyTorch in plain", result.stderr)
        self.assertEqual(self.compiled(), [])
        self.assertEqual(self.run_script("build", CONELAB_PYTHON="plain").returncode, 0)
        self.assertGreater(len(self.compiled()), 10)

    def test_a_library_is_used_again_on_gpus_that_it_is_for(self):
        def built_on(capability):
            self.program("tools/nvidia-smi", f"echo {capability}")
            result = self.run_script("build")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertEqual("up to date" in result.stdout, not (lines := self.compiled()))
            return lines
        self.assertNotIn("compute_80", " ".join(built_on("9.0")))
        self.assertEqual(built_on("9.0"), [])
        self.assertIn("compute_80", " ".join(built_on("8.0")))
        self.assertEqual(built_on("8.0") + built_on("9.0"), [])


if __name__ == "__main__":
    unittest.main()
