"""The NumPy module against formulas written out in NumPy. Needs the installed package `conelab`."""
import gc
import os
import pathlib
import resource
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import conelab

RNG = np.random.default_rng(5)


def tokens(*shape, dtype=np.float64):
    return RNG.normal(size=shape).astype(dtype)


def plain_dot(q, k, v, seen=None):
    logits = np.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1])
    if seen is not None:
        logits = np.where(seen, logits, -np.inf)
    top = logits.max(-1, keepdims=True)
    weights = np.exp(logits - top)
    total = weights.sum(-1, keepdims=True)
    return (weights / total) @ v, (top + np.log(total))[..., 0], weights / total


class Attention(unittest.TestCase):
    def test_equals_a_formula_written_out(self):
        q, k, v = tokens(2, 3, 7, 8), tokens(2, 3, 9, 8), tokens(2, 3, 9, 5)
        output, lse, weights = plain_dot(q, k, v)
        r = conelab.attend(q, k, v, similarity="dot", keep=("output", "lse", "weights", "logits"))
        np.testing.assert_allclose(r.output, output, atol=1e-13)
        np.testing.assert_allclose(r.lse, lse, atol=1e-13)
        np.testing.assert_allclose(r.weights, weights, atol=1e-13)
        np.testing.assert_allclose(np.exp(r.logits - r.lse[..., None]), weights, atol=1e-13)

    def test_shapes_follow_the_queries(self):
        for lead in ((), (3,), (2, 3), (2, 2, 3)):
            q = tokens(*lead, 5, 4)
            r = conelab.attend(q, keep=("output", "lse", "gradients"), gamma=2)
            self.assertEqual(r.output.shape, q.shape)
            self.assertEqual(r.lse.shape, q.shape[:-1])
            self.assertEqual(r.gradients["k"].shape, q.shape)
            self.assertEqual(np.ndim(r.gradients["gamma"]), 0)

    def test_takes_every_type_and_keeps_it(self):
        import ml_dtypes
        wide = tokens(2, 6, 8)
        expected = conelab.attention(wide)
        for dtype, error in ((np.float32, 1e-5), (np.float16, 5e-3), (ml_dtypes.bfloat16, 5e-2)):
            out = conelab.attention(wide.astype(dtype))
            self.assertEqual(out.dtype, np.dtype(dtype))
            np.testing.assert_allclose(out.astype(float), expected, atol=error)

    def test_reads_memory_of_any_strides(self):
        model = tokens(2, 6, 3, 8)  # [batch, token, head, feature]
        np.testing.assert_array_equal(conelab.attention(model.swapaxes(1, 2)),
                                      conelab.attention(model.swapaxes(1, 2).copy()))
        with self.assertRaisesRegex(ValueError, "features of q are not contiguous"):
            conelab.attention(model.T)
        with self.assertRaisesRegex(ValueError, "another type"):
            conelab.attention(tokens(4, 4), tokens(4, 4, dtype=np.float32), tokens(4, 4))
        with self.assertRaisesRegex(ValueError, "int64|type"):
            conelab.attention(np.ones((4, 4), int))

    def test_gradients_are_those_of_differences(self):
        q, k, v, g = tokens(2, 5, 4), tokens(2, 6, 4), tokens(2, 6, 3), tokens(2, 5, 3)
        r = conelab.attend(q, k, v, similarity="umbral", radius=0.5, gamma=[1.0, 2.0],
                           keep="gradients", output_grad=g)

        def loss(step, name):
            arrays = {"q": q.copy(), "k": k.copy(), "v": v.copy()}
            gamma = [1.0, 2.0]
            if name == "gamma":
                gamma[1] += step
            else:
                arrays[name][1, 2, 1] += step
            return (conelab.attention(**arrays, similarity="umbral", radius=0.5, gamma=gamma) * g).sum()

        for name in ("q", "k", "v", "gamma"):
            slope = (loss(1e-6, name) - loss(-1e-6, name)) / 2e-6
            found = r.gradients[name][1] if name == "gamma" else r.gradients[name][1, 2, 1]
            self.assertAlmostEqual(found, slope, delta=1e-6)

    def test_masks_and_lengths(self):
        q = tokens(2, 2, 5, 4)
        seen = np.tril(np.ones((5, 5), bool))
        np.testing.assert_allclose(conelab.attention(q, similarity="dot", mask=seen),
                                   plain_dot(q, q, q, seen)[0], atol=1e-13)
        np.testing.assert_array_equal(
            conelab.attention(q, mask=["causal", np.ones((5, 5), bool)]),
            conelab.attention(q, mask="causal"))
        padded = conelab.attention(q, similarity="dot", mask="padding", lengths=[5, 3])
        np.testing.assert_allclose(padded[1], plain_dot(q[1], q[1, :, :3], q[1, :, :3])[0], atol=1e-13)

    def test_tensors_are_parameters(self):
        q, k, v, w = tokens(5, 4), tokens(5, 4), tokens(5, 4), tokens(4, 4)
        out = conelab.attention(q, k, v, similarity="multiplicative", W=w)
        np.testing.assert_allclose(out, plain_dot(2 * (q @ w), k, v)[0], atol=1e-12)
        drawn = conelab.attention(q, operator="agglomerative", classes=4, P="random", Q="random",
                                  W_reference="random", W_query="random", seed=1)
        self.assertEqual(drawn.shape, q.shape)


class Weights(unittest.TestCase):
    def test_any_tile_of_a_map_that_was_never_stored(self):
        q, k = tokens(2, 40, 8), tokens(2, 50, 8)
        r = conelab.attend(q, k, similarity="penumbral", keep=("lse", "weights"))
        for lse in (r.lse, None):
            tile = conelab.weights(q, k, similarity="penumbral", lse=lse, rows=slice(3, 9),
                                   cols=slice(-8, None))
            np.testing.assert_allclose(tile, r.weights[:, 3:9, -8:], atol=1e-14)
        with self.assertRaisesRegex(ValueError, "step"):
            conelab.weights(q, k, rows=slice(0, 8, 2))


class Errors(unittest.TestCase):
    def test_misuse_has_the_commands_own_text(self):
        q = tokens(4, 4)
        for keywords, text in (({"similarity": "penumbrel"}, "did you mean 'penumbral'"),
                               ({"similarity": "dot", "gamma": 1}, "gamma"),
                               ({"gamma": -1}, "gamma"), ({"keep": "outputs"}, "outputs"),
                               ({"gamma": [1, 2]}, "gamma")):
            with self.assertRaisesRegex(ValueError, text):
                conelab.attend(q, **keywords)

    def test_shapes_that_differ_are_named(self):
        with self.assertRaisesRegex((ValueError, RuntimeError), r"q has 4, k has 5"):
            conelab.attention(tokens(3, 4), tokens(3, 5), tokens(3, 5))

    def test_numbers_that_are_not_finite_are_kept(self):
        q = tokens(4, 4)
        q[1, 2] = np.nan
        out = conelab.attention(q, similarity="dot")
        self.assertTrue(np.isnan(out[1]).all())

    def test_ctrl_c_ends_a_long_call(self):
        q = tokens(4, 30000, 64)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            conelab.attention(q)
        self.assertLess(time.monotonic() - start, 5)


class Calls(unittest.TestCase):
    def test_two_threads_compute_at_once(self):
        q = tokens(2, 200, 16)
        expected, wrong = conelab.attention(q), []

        def compute():
            for _ in range(20):
                if not np.array_equal(conelab.attention(q), expected):
                    wrong.append(1)

        both = [threading.Thread(target=compute) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        self.assertEqual(wrong, [])

    def test_many_calls_take_no_more_memory(self):
        q = tokens(1, 4, 4)

        def repeat(count):
            for i in range(count):
                conelab.attention(q, gamma=1 + i % 1000 / 1000, threads=1)
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = repeat(20_000)
        self.assertLess(repeat(80_000) - before, 8_000)  # KiB


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "trace.h5"

    def test_a_trace_comes_back_as_it_was_written(self):
        import ml_dtypes
        q, mask = tokens(2, 3, 4, dtype=ml_dtypes.bfloat16), np.tril(np.ones((3, 3), bool))
        conelab.write(self.path, {"a/layer0": {"q": q, "k": q, "v": q, "mask": mask}},
                      tokens=["ä", "b", "c"], model="M")
        layer = conelab.read(f"{self.path}:/a/layer0")
        np.testing.assert_array_equal(layer["k"].astype(float), q.astype(float))
        self.assertEqual(layer["v"].dtype, np.dtype(ml_dtypes.bfloat16))
        np.testing.assert_array_equal(layer["mask"], mask)
        self.assertEqual((layer["tokens"], layer["layer"]), (["ä", "b", "c"], 0))
        with self.assertRaisesRegex(ValueError, "no q"):
            conelab.write(self.path, {"b": {"k": q}})
        self.assertTrue(self.path.exists())

    def test_figures_show_themselves(self):
        q = tokens(2, 5, 4, dtype=np.float32)
        drawn = conelab.figure("heatmap", [{"q": q, "k": q, "v": q, "tokens": list("abcde")}], head=1,
                               similarities=["dot", "umbral:gamma=2"])
        self.assertIn("<svg", drawn._repr_svg_())
        drawn.save(self.path.with_suffix(".pdf"))
        self.assertEqual(self.path.with_suffix(".pdf").read_bytes()[:4], b"%PDF")
        with self.assertRaisesRegex(ValueError, "heatmap"):
            conelab.figure("heatmp")


class Tables(unittest.TestCase):
    def test_operators_and_ancestors(self):
        self.assertIn("penumbral", {row["name"] for row in conelab.operators()})
        answer = conelab.lca("penumbral", [0.1, 0.5], [0.4, 0.3], height=1)
        self.assertEqual(answer["relation"], "unrelated")
        self.assertEqual(len(answer["lca"]), 2)


if __name__ == "__main__":
    unittest.main()
