"""Files of today's models: heads of q that share heads of k and v, tokens and masks of their own for
each batch element, and attention maps that another program computed."""
import unittest

import h5py
import numpy as np

from program import ProgramTest, softmax


def tokens(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


class InputTest(ProgramTest):
    def refuse(self, status, says, *arguments):
        return self.fails(status, *arguments, says=says)

    def attend(self, source, *options, out="out.h5"):
        said = self.ok("attend", source, "-o", self.folder / out, "-s", "dot", *options)
        self.said = said.out + said.err
        return h5py.File(self.folder / out, "r")["attention"]


class GroupedHeads(InputTest):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = tokens(2, 8, 9, 4), tokens(2, 2, 11, 4), tokens(2, 2, 11, 3, seed=2)
        self.source = self.write(q=self.q, k=self.k, v=self.v)

    def test_head_h_attends_with_head_h_times_kv_heads_over_heads(self):
        k, v = (np.repeat(t, 4, axis=1) for t in (self.k, self.v))
        found = self.attend(self.source, "--keep", "weights,logits,gradients")
        logits = self.q @ k.transpose(0, 1, 3, 2) / 2
        np.testing.assert_allclose(found["logits/logit"], logits, atol=1e-13)
        np.testing.assert_allclose(found["output/output"], softmax(logits) @ v, atol=1e-13)
        self.assertEqual(found["weights/weight"].shape, (2, 8, 9, 11))
        self.assertEqual(found["output/lse"].shape, (2, 8, 9))
        self.assertIn("8 heads on 2", self.said)

    def test_gradients_of_k_and_v_have_their_own_heads(self):
        found = self.attend(self.source, "--keep", "gradients", "-p", "scale=1,2,3,4,5,6,7,8")
        k, v = (np.repeat(t, 4, axis=1) for t in (self.k, self.v))
        everything = self.attend(self.write("all.h5", q=self.q, k=k, v=v), "--keep", "gradients", "-p",
                                 "scale=1,2,3,4,5,6,7,8", out="all_out.h5")
        for name in "kv":
            sums = everything[f"gradients/{name}"][()].reshape(2, 2, 4, 11, -1).sum(2)
            np.testing.assert_allclose(found[f"gradients/{name}"], sums, atol=1e-12)
            axes = [dim[0].name.split("/")[-1] for dim in found[f"gradients/{name}"].dims]
            self.assertEqual(axes[:3], ["batch", "key_head", "key"])
        np.testing.assert_allclose(found["gradients/q"], everything["gradients/q"], atol=1e-13)
        np.testing.assert_allclose(found["gradients/scale"], everything["gradients/scale"], atol=1e-12)

    def test_one_head_of_q_reads_its_own_head_of_k(self):
        all_heads = self.attend(self.source)["output/output"][:, 5]
        alone = self.attend(self.source, "--head", "5", out="one.h5")["output/output"][:, 0]
        np.testing.assert_array_equal(all_heads, alone)

    def test_other_numbers_are_refused_in_a_line(self):
        source = self.write("odd.h5", q=self.q, k=tokens(2, 3, 11, 4), v=tokens(2, 3, 11, 4))
        self.refuse(1, "divisor", "attend", source, "-o", self.folder / "o.h5", "-s", "dot")
        source = self.write("two.h5", q=self.q, k=self.k, v=tokens(2, 4, 11, 4))
        self.refuse(1, "number of heads", "attend", source, "-o", self.folder / "o.h5", "-s", "dot")

    def test_trees_figures_and_benchmarks_take_them(self):
        source = self.write("square.h5", q=tokens(8, 9, 4), k=tokens(2, 9, 4), v=tokens(2, 9, 3))
        self.ok("tree", source, "-o", self.folder / "tree.h5", "-s", "penumbral")
        with h5py.File(self.folder / "tree.h5") as file:
            depth = file["tree/depth/lca_depth"][0]
        self.assertEqual(depth.shape, (8, 9, 9))
        np.testing.assert_array_equal(depth[0], depth[3])
        self.assertTrue((depth[3] != depth[4]).any())
        for name in ("heatmap", "heads", "arcs", "tree"):
            self.ok("figure", name, "-o", self.folder / f"{name}.svg", "--input", source)
        bench = self.folder / "bench.h5"
        self.ok("bench", "-o", bench, "--operators", "dot", "--lengths", "32", "--heads", "4",
                "--key-heads", "1,2,3", "--rounds", "2", "--controls", "0")
        with h5py.File(bench) as file:
            runtime = file["bench/runtime"]
            self.assertEqual(list(runtime["key_head"]), [1, 2, 3])
            status = runtime["status"][()].reshape(2, 3)
            self.assertTrue((status[:, :2] == 0).all() and (status[:, 2] == 1).all())
            self.assertTrue((runtime["error"][()].reshape(2, 3)[:, :2] < 1e-4).all())


class Rows(InputTest):
    words = np.array([["the", "cat", "sat"], ["a", "dog", "[PAD]"]], dtype=h5py.string_dtype())

    def test_tokens_of_each_batch_element(self):
        source = self.write(q=tokens(2, 1, 3, 4), token=self.words)
        found = self.attend(source, "--keep", "weights")
        self.assertEqual(found["weights/key_token"][1, 1].decode(), "dog")
        self.assertEqual(found["output/query_token"].shape, (2, 3))
        for path in (source, self.folder / "out.h5"):
            figure = self.folder / "map.svg"
            self.ok("figure", "heatmap", "-o", figure, "--input", path, "-p", "batch=1", "-p",
                    *(["similarities=dot"] if path == source else ["caption=1"]))
            self.assertIn("dog", figure.read_text())
            self.assertNotIn("cat", figure.read_text())
        self.ok("tree", source, "-o", self.folder / "tree.h5", "-s", "penumbral")
        self.ok("figure", "tree", "-o", self.folder / "tree.svg", "--input",
                self.folder / "tree.h5", "-p", "batch=1")
        self.assertIn("dog", (self.folder / "tree.svg").read_text())

    def test_masks_broadcast(self):
        q = tokens(2, 3, 4, 5)
        logits = q @ q.transpose(0, 1, 3, 2) / np.sqrt(5)
        numbers = np.random.default_rng(3)
        for shape in ((4, 4), (2, 4), (3, 4, 4), (1, 4, 4), (2, 1, 4, 4), (2, 3, 4, 4), (2, 1, 1, 4)):
            for kind in ("u1", "?", "i8"):
                mask = numbers.random(shape) < 0.7
                mask[..., 0] = True
                whole = mask[:, None, None, :] if shape == (2, 4) else mask
                expected = softmax(np.where(whole, logits, -np.inf))
                source = self.write(q=q, mask=mask.astype(kind))
                found = self.attend(source, "--keep", "weights")["weights/weight"]
                np.testing.assert_allclose(found, expected, atol=1e-13, err_msg=str(shape))

    def test_other_masks_are_refused(self):
        q = tokens(2, 3, 4, 5)
        for mask, said in ((np.ones((4, 4), "f4"), "expected integers or bool, 1 = seen"),
                           (np.full((4, 4), -10000, "i4"), "holds -10000 (expected 0 and 1 = seen"),
                           (np.full((4, 4), 2, "u1"), "holds 2 (expected 0 and 1 = seen"),
                           (np.ones((2, 4, 4), "u1"), "wrong shape"),
                           (np.ones((3, 4), "u1"), "wrong shape")):
            source = self.write(q=q, mask=mask)
            self.refuse(1, said, "attend", source, "-o", self.folder / "o.h5", "-s", "dot")

    def test_rows_that_see_no_key_are_counted(self):
        source = self.write(q=tokens(2, 3, 4, 5))
        self.attend(source, "--mask", "padding", "--lengths", "4,0")
        self.assertIn("12 of 24 rows see no key", self.said)
        self.attend(source, "--mask", "causal")
        self.assertNotIn("see no key", self.said)
        mask = np.ones((3, 4, 4), "u1")
        mask[1, 2] = 0
        self.attend(self.write("m.h5", q=tokens(2, 3, 4, 5), mask=mask))
        self.assertIn("2 of 24 rows see no key", self.said)

    def test_a_mask_of_the_opposite_sense_is_warned_of(self):
        source = self.write(q=tokens(1, 4, 5), mask=np.triu(np.ones((4, 4), "u1"), 1))
        self.attend(source)
        self.assertIn("MultiheadAttention uses the opposite sense", self.said)
        source = self.write(q=tokens(1, 4, 5), mask=np.tril(np.ones((4, 4), "u1")))
        self.attend(source)
        self.assertNotIn("opposite", self.said)


class Maps(InputTest):
    def setUp(self):
        super().setUp()
        self.weights = softmax(tokens(2, 3, 6, 6)).astype("f4")

    def files(self, name):
        """The same weights in every format, without a q."""
        yield self.write("maps.h5", **{name: self.weights})
        np.savez(self.folder / "maps.npz", **{name: self.weights})
        yield self.folder / "maps.npz"

    def test_are_drawn_without_q(self):
        for name in ("attentions", "weight"):
            for source in self.files(name):
                for figure in ("heatmap", "heads", "arcs"):
                    out = self.folder / f"{figure}.svg"
                    self.ok("figure", figure, "-o", out, "--input", source, "-p", "batch=1")
                    self.assertIn("maps", out.read_text())

    def test_show_the_numbers_of_the_file(self):
        source = self.write("own.h5", attentions=np.eye(4)[None, None] * 0.75 + 0.0625)
        self.ok("figure", "heatmap", "-o", self.folder / "own.svg", "--input", source)
        text = (self.folder / "own.svg").read_text()
        self.assertIn(">0.8<", text)  # The scale of colours ends at the largest weight, 0.8125.

    def test_any_name(self):
        source = self.write("named.h5", probabilities=self.weights[0])
        figure = ("figure", "heatmap", "-o", self.folder / "f.svg", "--input", source)
        self.refuse(1, "no array q", *figure)
        self.ok(*figure, "--weights-array", "probabilities", "-p", "head=2")
        self.refuse(1, "not found", *figure, "--weights-array", "other")
        np.save(self.folder / "w.npy", self.weights[0])
        self.ok("figure", "arcs", "-o", self.folder / "f.svg", "--input", self.folder / "w.npy",
                "--weights-array", "w")

    def test_layers_of_one_array(self):
        source = self.write("layers.h5", attentions=np.stack([self.weights] * 3))
        self.ok("figure", "heads", "-o", self.folder / "f.svg", "--input",
                f"{source}:/attentions/0", "-p", "rows=file")
        self.assertIn("attentions/2", (self.folder / "f.svg").read_text())
        self.refuse(1, "has no layer 3", "figure", "heatmap", "-o", self.folder / "f.svg", "--input",
                   f"{source}:/attentions/3")

    def test_can_be_compared_with_ones_own(self):
        source = self.write("maps.h5", attentions=self.weights)
        trace = self.write("trace.h5", q=tokens(2, 3, 6, 4))
        for first, second in ((source, trace), (trace, source)):
            self.ok("figure", "heatmap", "-o", self.folder / "f.svg", "--input", first, "-p",
                    f"beside={second}", "-p", "similarities=dot")

    def test_what_needs_q_refuses(self):
        for source in self.files("attentions"):
            for command in ("attend", "tree"):
                said = self.refuse(1, "attention weights", command, source, "-o",
                                  self.folder / "o.h5", "-s", "penumbral")
                self.assertIn("need q", said.err)
            self.refuse(1, "no q", "figure", "tree", "-o", self.folder / "t.svg", "--input", source)
            self.refuse(2, "no logits", "figure", "heatmap", "-o", self.folder / "t.svg", "--input",
                       source, "-p", "quantity=logits")
            self.refuse(2, "similarities", "figure", "heatmap", "-o", self.folder / "t.svg",
                       "--input", source, "-p", "similarities=dot")

    def test_parameters_of_a_network_are_no_maps(self):
        np.savez(self.folder / "net.npz", **{"layers.0.mlp.weight": tokens(6, 6)})
        self.refuse(1, "no array q", "figure", "heatmap", "-o", self.folder / "f.svg", "--input",
                   self.folder / "net.npz")


if __name__ == "__main__":
    unittest.main()
