"""The NumPy module against formulas written out in NumPy. Needs the installed package `conelab`."""
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import conelab
from memory import check_calls_keep_none

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
        with self.assertRaisesRegex(ValueError, "another type"):
            conelab.attention(tokens(4, 4), tokens(4, 4, dtype=np.float32), tokens(4, 4))
        with self.assertRaisesRegex(ValueError, "int64|type"):
            conelab.attention(np.ones((4, 4), int))

    def test_dropout_has_a_seed(self):
        q = tokens(2, 60, 4)
        first, again, other = (conelab.attend(q, dropout_p=0.4, dropout_seed=seed, keep=("output", "gradients"))
                               for seed in (1, 1, 2))
        np.testing.assert_array_equal(first.gradients["q"], again.gradients["q"])
        self.assertTrue((first.output != other.output).any())
        many = np.mean([conelab.attention(q, dropout_p=0.4, dropout_seed=s) for s in range(500)], 0)
        np.testing.assert_allclose(many, conelab.attention(q), atol=0.1)
        for keywords, text in (({"dropout_p": 1}, "in \\[0, 1\\)"), ({"dropout_p": .1, "dropout_seed": -1}, "seed"),
                               ({"dropout_p": .1, "operator": "star"}, "star has no dropout")):
            with self.assertRaisesRegex(ValueError, text):
                conelab.attention(q, **keywords)

    def test_results_say_how_they_were_evaluated(self):
        q = tokens(1, 6, 2)
        for keywords, found in (({"similarity": "umbral", "evaluation": "intervals"}, "intervals"),
                                ({"similarity": "umbral"}, "pairs"), ({"similarity": "dot"}, "")):
            self.assertEqual(conelab.attend(q, **keywords).evaluation, found)

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

    def test_key_heads_may_be_shared(self):
        q, k, v = tokens(2, 4, 5, 8), tokens(2, 2, 6, 8), tokens(2, 2, 6, 3)
        every = [x.repeat(2, axis=1) for x in (k, v)]
        r = conelab.attend(q, k, v, keep=("output", "gradients"))
        np.testing.assert_array_equal(r.output, conelab.attention(q, *every))
        all_heads = conelab.attend(q, *every, keep="gradients").gradients["k"]
        np.testing.assert_allclose(r.gradients["k"], all_heads.reshape(2, 2, 2, 6, 8).sum(2),
                                   atol=1e-13)

    def test_masks_and_lengths(self):
        q = tokens(2, 2, 5, 4)
        own = RNG.random((2, 1, 5, 5)) < 0.6
        own |= np.eye(5, dtype=bool)
        np.testing.assert_allclose(conelab.attention(q, similarity="dot", mask=own),
                                   plain_dot(q, q, q, own)[0], atol=1e-13)
        seen = np.tril(np.ones((5, 5), bool))
        np.testing.assert_allclose(conelab.attention(q, similarity="dot", mask=seen),
                                   plain_dot(q, q, q, seen)[0], atol=1e-13)
        np.testing.assert_array_equal(
            conelab.attention(q, mask=["causal", np.ones((5, 5), bool)]),
            conelab.attention(q, mask="causal"))
        np.testing.assert_array_equal(conelab.attention(q, mask="causal,padding", lengths=[5, 3]),
                                      conelab.attention(q, mask=["causal", "padding"], lengths=[5, 3]))
        padded = conelab.attention(q, similarity="dot", mask="padding", lengths=[5, 3])
        np.testing.assert_allclose(padded[1], plain_dot(q[1], q[1, :, :3], q[1, :, :3])[0], atol=1e-13)

    def test_soft_cap_sinks_and_bias(self):
        q, k, v = tokens(2, 3, 7, 8), tokens(2, 3, 9, 8), tokens(2, 3, 9, 5)
        bias, sinks = tokens(3, 7, 9), tokens(3)
        bias[0, 2, 4] = -np.inf
        logits = 2 * np.tanh((np.einsum("...id,...jd->...ij", q, k) / np.sqrt(8) + bias) / 2)
        logits[:, 0, 2, 4] = -np.inf
        weights = np.exp(logits)
        total = weights.sum(-1, keepdims=True) + np.exp(sinks)[:, None, None]
        for own in (bias, bias[None], np.flip(np.flip(bias, 2).copy(), 2), bias.copy("F")):
            r = conelab.attend(q, k, v, similarity="dot", soft_cap=2.0, sinks=sinks, bias=own,
                               keep=("output", "lse", "weights", "gradients"))
            np.testing.assert_allclose(r.output, weights / total @ v, atol=1e-13)
            np.testing.assert_allclose(r.lse, np.log(total)[..., 0], atol=1e-13)
            np.testing.assert_allclose(r.weights, weights / total, atol=1e-13)
            self.assertEqual(r.gradients["bias"].shape, own.shape)
            self.assertEqual(r.gradients["sinks"].shape, (3,))
        tile = conelab.weights(q, k, similarity="dot", soft_cap=2.0, sinks=sinks, bias=bias, lse=r.lse,
                               rows=slice(2, 5))
        np.testing.assert_allclose(tile, r.weights[..., 2:5, :], atol=1e-13)
        with self.assertRaisesRegex(ValueError, "axis=query"):
            conelab.attention(q, k, v, similarity="dot", axis="query", sinks=sinks)
        with self.assertRaisesRegex(ValueError, "sizes of the pairs"):
            conelab.attention(q, k, v, similarity="dot", bias=bias[:, :, 1:])

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
        for rows, text in ((slice(0, 8, 2), "step"), (3, "rows is a slice"), ([1, 2], "is a slice")):
            with self.assertRaisesRegex(ValueError, text):
                conelab.weights(q, k, rows=rows)


class Errors(unittest.TestCase):
    def test_misuse_has_the_commands_own_text(self):
        q = tokens(4, 4)
        for keywords, text in (({"similarity": "penumbrel"}, "did you mean 'penumbral'"),
                               ({"similarity": "dot", "gamma": 1}, "gamma"),
                               ({"gamma": -1}, "gamma"), ({"keep": "outputs"}, "outputs"),
                               ({"gamma": [1, 2]}, "gamma"), ({"threads": -1}, "threads"),
                               ({"operator": "penumbral", "similarity": "dot"}, "contradicts")):
            with self.assertRaisesRegex(ValueError, text):
                conelab.attend(q, **keywords)

    def test_shapes_that_do_not_fit_are_named(self):
        q = tokens(2, 4, 3, 8)  # [batch, head, n, d]
        for keywords, text in (
                ({"k": tokens(2, 4, 3, 5)}, "q has 8, k has 5"),
                ({"k": q, "v": tokens(2, 4, 7, 8)}, "k has 3, v has 7"),
                ({"k": tokens(3, 4, 3, 8)}, "q has 2, k has 3"),
                ({"k": tokens(2, 3, 3, 8)}, "groups of equal size"),
                ({"mask": np.ones((3, 4), bool)}, "mask"),
                ({"mask": np.ones(3, bool)}, "mask has 1 axes"),
                ({"lengths": [1, 2]}, "padding"),
                ({"mask": "padding", "lengths": [1, 2, 3]}, "lengths"),
                ({"mask": "padding", "lengths": [1, 9]}, "length"),
                ({"similarity": "multiplicative", "W": tokens(3, 3)}, "W"),
                ({"gamma": [1, 2, 3]}, "gamma"),
                ({"keep": "gradients", "output_grad": tokens(2, 4, 3, 7)}, "output_grad")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                conelab.attend(q, **keywords)
        for shape in ((), (4,)):
            with self.assertRaisesRegex(ValueError, "axes"):
                conelab.attention(tokens(*shape))
        with self.assertRaisesRegex(ValueError, "lse"):
            conelab.weights(q, lse=tokens(2, 4, 5), similarity="dot")

    def test_types_that_do_not_fit_are_named(self):
        q = tokens(3, 4)
        for wrong in (q.astype(complex), q.astype(">f8"), q.astype(object), q.astype("f16"), q > 0):
            with self.subTest(wrong.dtype), self.assertRaisesRegex(ValueError, "type"):
                conelab.attention(wrong)
        with self.assertRaisesRegex(ValueError, "mask"):
            conelab.attention(q, mask=np.ones((3, 3)))
        with self.assertRaisesRegex(ValueError, "lengths"):
            conelab.attention(q, mask="padding", lengths=[2.0])

    def test_arrays_of_any_strides_are_taken(self):
        q = tokens(2, 6, 4)
        shared = np.broadcast_to(q[:1], q.shape)
        np.testing.assert_array_equal(conelab.attention(shared), conelab.attention(shared.copy()))
        backwards = q[:, ::-1]
        r, copied = (conelab.attend(x, similarity="umbral", keep=("output", "gradients"))
                     for x in (backwards, backwards.copy()))
        np.testing.assert_array_equal(r.output, copied.output)
        np.testing.assert_array_equal(r.gradients["q"], copied.gradients["q"])
        packed = np.zeros(6, [("byte", "u1"), ("x", "f8", 4)])
        packed["x"] = q[0]
        batches = tokens(2, 3, 2, 5, 4).swapaxes(0, 1)
        for other in (q[..., ::-1], q[..., ::2], q.swapaxes(1, 2), packed["x"], batches):
            with self.subTest(other.strides):
                r, copied = (conelab.attend(x, keep=("output", "gradients"), output_grad=x)
                             for x in (other, np.array(other, order="C")))
                np.testing.assert_array_equal(r.output, copied.output)
                np.testing.assert_array_equal(r.gradients["q"], copied.gradients["q"])

    def test_numbers_that_are_not_finite_stay_with_those_who_see_them(self):
        q = tokens(4, 4)
        q[1, 2] = np.nan
        for similarity in ("dot", "penumbral", "umbral"):
            self.assertTrue(np.isnan(conelab.attention(q, similarity=similarity)).all())
            seen = np.ones((4, 4), bool)
            seen[[0, 2, 3], 1] = False
            r = conelab.attend(q, similarity=similarity, mask=seen, keep=("output", "gradients"))
            self.assertTrue(np.isnan(r.output[1]).all())
            self.assertTrue(np.isfinite(r.output[[0, 2, 3]]).all())

    def test_ctrl_c_ends_a_long_call(self):
        q = tokens(4, 30000, 64)
        # Programs in the background may have been told to ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            conelab.attention(q)
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(conelab.attention(q[:, :8]).shape, (4, 8, 64))


class Calls(unittest.TestCase):
    def test_two_threads_compute_at_once(self):
        q = tokens(2, 200, 16)
        calls = ({"similarity": "dot"}, {"similarity": "penumbral", "mask": "causal"})
        expected = [conelab.attend(q, keep="gradients", **call).gradients["q"] for call in calls]
        wrong = []

        def compute(first):
            for i in range(20):
                which = (first + i) % 2
                found = conelab.attend(q, keep="gradients", **calls[which]).gradients["q"]
                if not np.array_equal(found, expected[which]):
                    wrong.append(which)

        both = [threading.Thread(target=compute, args=(i,)) for i in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        self.assertEqual(wrong, [])

    def test_many_calls_take_no_more_memory(self):
        """Two threads share each tenth call; the others are too short."""
        short, long = tokens(2, 2, 7, 4), tokens(2, 2, 52, 64)
        check_calls_keep_none(self, lambda i: conelab.attention(short if i % 10 else long, gamma=1 + i % 1000 / 1000,
                                                                threads=2))


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
        by_head = np.stack([mask, ~mask | np.eye(3, dtype=bool)])[None]
        conelab.write(self.path, {"": {"q": q, "mask": by_head}})
        np.testing.assert_array_equal(conelab.read(self.path)["mask"], by_head)

    def test_what_no_reader_takes_is_not_written(self):
        q = tokens(2, 3, 4)
        conelab.write(self.path, {"": {"q": q}})
        before = self.path.read_bytes()
        for layers, tokens_, text in (({"b": {"k": q}}, (), "no q"), ({"q": q}, (), "'q' is no layer"),
                                      ({"b": {"q": q}}, "ab", "2 tokens with texts"),
                                      ({"b": {"q": q, "k": q[..., :2]}}, (), "feature sizes"),
                                      ({"b": {"q": q, "v": q[:, :2]}}, (), "token counts"),
                                      ({"b": {"q": q, "mask": np.ones((3, 2), bool)}}, (), "mask")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                conelab.write(self.path, layers, tokens=tokens_)
        self.assertEqual(self.path.read_bytes(), before)

    def test_files_of_other_kinds_are_kept(self):
        note = self.path.with_name("note")
        note.write_text("to keep")
        for path in (note, note.with_suffix(".txt")):
            with self.assertRaisesRegex(ValueError, "note"):
                conelab.write(path, {"": {"q": tokens(2, 2)}})
        self.assertEqual(note.read_text(), "to keep")

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


class Graph:
    """What networkx.DiGraph has of a graph: edges from parent to child."""

    def __init__(self, nodes, edges, directed=True):
        self.nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self):
        return self._directed

    def edges(self):
        return self._edges


class Hierarchies(unittest.TestCase):
    def test_pairs_are_children_and_parents(self):
        made = conelab.hierarchy([("dog", "canine"), ("canine", "carnivore"), (7, "carnivore"), ("x", None),
                                  ("dog", "canine")])
        self.assertEqual(made.names, ["dog", "canine", "carnivore", "7", "x"])
        np.testing.assert_array_equal(made.edge, [[0, 1], [1, 2], [3, 2]])
        np.testing.assert_array_equal(made.depth, [2, 1, 0, 1, 0])

    def test_a_graph_leads_from_parents_to_children(self):
        for graph in self.graphs():
            made = conelab.hierarchy(graph)
            self.assertEqual(made.names, ["root", "a", "b", "alone"])
            np.testing.assert_array_equal(made.edge, [[1, 0], [2, 0], [2, 1]])
        with self.assertRaisesRegex(ValueError, "not directed"):
            conelab.hierarchy(Graph(["a"], [], directed=False))

    def graphs(self):
        nodes, edges = ["root", "a", "b", "alone"], [("root", "a"), ("root", "b"), ("a", "b")]
        yield Graph(nodes, edges)
        try:
            import networkx
        except ImportError:
            return
        for kind in (networkx.DiGraph, networkx.MultiDiGraph):
            graph = kind()
            graph.add_nodes_from(nodes)
            graph.add_edges_from(edges)
            yield graph

    def test_errors_name_what_is_wrong(self):
        with self.assertRaisesRegex(RuntimeError, "a cycle of 2 nodes: 'a' -> 'b' -> 'a'"):
            conelab.hierarchy([("a", "b"), ("b", "a")])
        with self.assertRaisesRegex(ValueError, "pair 2 has no child"):
            conelab.hierarchy([("a", "b"), ("", "b")])
        with self.assertRaisesRegex(RuntimeError, "no node"):
            conelab.hierarchy([])

    def test_a_file_is_a_data_set(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "h.h5"
            conelab.hierarchy([("a", "r"), ("b", "r"), ("c", "a")], path)
            with self.assertRaisesRegex(RuntimeError, "q"):
                conelab.read(path)
            program = os.environ.get("CONELAB")
            if not program:
                self.skipTest("CONELAB does not name the program")
            subprocess.run([program, "train", path, "-o", path.with_name("t.h5"), "-s", "dot", "-p", "epochs=2"],
                           check=True, capture_output=True)
            self.assertEqual(conelab.read(f"{path.with_name('t.h5')}:/dot/seed1")["q"].shape, (4, 2))


class Namespace(unittest.TestCase):
    def test_has_what_users_call(self):
        modules = {"torch", "transformers", "tracing"}
        self.assertLessEqual({name for name in vars(conelab) if name[0] != "_"}, {*conelab.__all__, *modules})
        self.assertLessEqual(set(conelab.__all__), set(dir(conelab)))
        self.assertNotIn("np", dir(conelab))
        for name in conelab.__all__:
            self.assertTrue(getattr(conelab, name).__doc__, name)

    def test_types_pass_mypy(self):
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("mypy is not installed")
        use = pathlib.Path(__file__).with_name("typed_use.py")
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", use], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
