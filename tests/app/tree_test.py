"""`tree`: the trees of a small hierarchy that can be read off by hand."""
import math
import unittest

import h5py
import numpy as np

from program import TRACE, ProgramTest


class Tree(ProgramTest):
    def test_ancestors_of_three_points(self):
        # Umbral cones with sinh r = 1 under map none: u is above v when |x_u - x_v| <= h_u - h_v.
        path, out = self.write(q=np.array([[[0.0, 3.0], [1.0, 1.0], [-1.0, 0.5]]]),
                               token=["root", "left", "right"]), self.folder / "out.h5"
        found = self.ok("tree", path, "-o", out, "-s", "umbral", "--map", "none", "-p",
                        f"radius={math.asinh(1)!r}", "--json").json()
        self.assertEqual(found["heads"][0]["tokens"], 3)
        with h5py.File(out) as file:
            ancestor = file["tree/order/is_ancestor"][0, 0]
            depth = file["tree/depth/lca_depth"][0, 0]
            placed = {name: file["tree/placed"][name][0, 0] for name in
                      ("token_point", "token_potential", "merge_point", "merge_potential")}
            self.assertEqual(file["tree/placed"].attrs["model"], "halfspace")
        # left and right meet 3/4 left of left; the root is above that.
        expected = {"token_point": [[0, 3], [1, 1], [-1, 0.5]], "token_potential": [-3, -1, -0.5],
                    "merge_point": [[0.25, 1.75], [0, 3]], "merge_potential": [-1.75, -3]}
        for name, numbers in expected.items():
            np.testing.assert_allclose(placed[name], numbers, atol=1e-12, err_msg=name)
        np.testing.assert_array_equal(ancestor, [[0, 1, 1], [0, 0, 0], [0, 0, 0]])
        # left and right: height = 2/2 + (1 + 0.5)/2
        self.assertAlmostEqual(depth[1, 2], -1.75, delta=1e-12)
        self.assertAlmostEqual(depth[0, 1], -3, delta=1e-12)

    def test_of_a_real_sentence(self):
        out = self.folder / "tree.h5"
        text = self.ok("tree", f"{TRACE}:/german/layer3", "-o", out, "-s", "penumbral").out
        self.assertEqual(len(text.splitlines()), 13)
        self.assertIn("30 tokens", text)
        with h5py.File(out) as file:
            self.assertEqual(file["tree/dendrogram/left"].shape, (1, 12, 29))

    def test_says_which_tokens_are_not_finite(self):
        path, out = self.folder / "nan.npz", self.folder / "tree.h5"
        q, k = (np.random.default_rng(s).normal(size=(1, 2, 6, 4)) for s in (1, 2))
        k[0, 0, 3, 2] = np.nan
        np.savez(path, q=q, k=k, v=q)
        found = self.ok("tree", path, "-o", out, "-s", "umbral")
        self.assertIn("the input has 1 NaN and 0 infinite numbers in k; ", found.err)
        self.assertIn("keys without a place in their tree: 1", found.err)
        first, second = found.out.splitlines()[1:]
        self.assertIn("6 tokens, 1 of them not finite", first)
        self.assertIn("unknown: its weights are not finite", first)
        self.assertNotIn("least attention", first)
        self.assertIn("least attention", second)
        with h5py.File(out) as file:
            depth = file["tree/depth/lca_depth"][0, 0]
            self.assertTrue(np.isnan(depth[3]).all() and np.isnan(depth[:, 3]).all())
            self.assertEqual(np.isnan(depth).sum(), 11)
            self.assertEqual(file["tree/order/is_ancestor"][0, 0, 3].sum(), 0)
            self.assertTrue(np.isnan(file["tree/dendrogram/depth"][0, 0, -1]))
            self.assertEqual(file["tree/segmentation/strongest"][0, 0], -1)
        for figure in ("tree", "hasse"):
            text = self.ok("figure", figure, "-i", out, "-o", self.folder / "f.svg").out
            self.assertIn("1 token has no place (?)", text)
        text = self.ok("figure", "arcs", "-i", path, "-p", "similarities=umbral",
                       "-o", self.folder / "f.svg").out
        self.assertIn("36 of 36 weights of umbral are not finite numbers", text)

    def test_points_of_a_trace_of_its_tree_and_of_an_embedding(self):
        source, out = f"{TRACE}:/german/layer3", self.folder / "tree.h5"
        self.ok("tree", source, "-o", out, "-s", "umbral")
        drawn = [self.folder / "a.svg", self.folder / "b.svg"]
        texts = [self.ok("figure", "points", "-i", source, "-p", "similarity=umbral", "-o",
                         drawn[0]).out, self.ok("figure", "points", "-i", out, "-o", drawn[1]).out]
        for text in texts:
            self.assertIn("umbral cones, radius = 0.1; half-plane; places by the first principal "
                          "axis", text)
            self.assertIn("(29 of 29 merges have one)", text)
        circles = [path.read_text().count("<circle") for path in drawn]
        self.assertEqual(circles[0], circles[1])
        path = self.folder / "embedding.h5"
        with h5py.File(path, "w") as file:
            file.attrs.update({"conelab_format": 1, "result": "embed"})
            file["hierarchy/edge"] = np.array([[1, 0], [2, 0]])
            file["hierarchy/name"] = ["animal", "cat", "dog"]
            file["embedding/placed"] = np.array([[0, 0.5], [0.4, 0.2], [-0.4, 0.2]])
            file["embedding/placed"].attrs["model"] = "halfspace"
        text = self.ok("figure", "points", "-i", path, "-o", drawn[0]).out
        self.assertIn("embedding, 3 nodes. umbral cones", text)
        self.assertIn("lines: edges of the hierarchy", text)
        for name in ("animal", "cat", "dog"):
            self.assertIn(name, drawn[0].read_text())
        self.fails(2, "figure", "points", "-i", source, "-p", "similarity=dot", "-o", drawn[0],
                   says="figure points shows tokens of a cone family, which dot is not")

    def test_padding_is_no_part_of_the_tree(self):
        source, out = f"{TRACE}:/german/layer3", self.folder / "tree.h5"
        text = self.ok("tree", source, "-o", out, "-s", "umbral", "--mask", "padding",
                       "--lengths", "12").out
        self.assertIn("30 tokens, 18 of them padding, ", text)
        with h5py.File(out) as file:
            depth = file["tree/depth/lca_depth"][0, 0]
            self.assertTrue(np.isnan(depth[12:]).all() and np.isfinite(depth[:12, :12]).all())
            self.assertTrue((file["tree/segmentation/strongest"][0] < 11).all())
        text = self.ok("figure", "tree", "-i", out, "-o", self.folder / "f.svg").out
        self.assertIn("18 tokens have no place (?): padding or not finite", text)
        text = self.ok("tree", source, "-o", self.folder / "one.h5", "-s", "umbral", "--mask",
                       "padding", "--lengths", "1").out
        self.assertIn("no attention may cross a boundary", text)

    def test_tokens_that_no_query_sees_are_padding(self):
        # Two sentences of 3 and 2 tokens; the second is padded at its begin.
        path, out = self.folder / "batch.npz", self.folder / "tree.h5"
        mask = np.array([[1, 1, 1, 0], [0, 0, 1, 1]])
        np.savez(path, q=np.random.default_rng(1).normal(size=(2, 1, 4, 2)), mask=mask)
        text = self.ok("tree", path, "-o", out, "-s", "umbral").out
        self.assertIn("4 tokens, 1 of them padding", text)
        self.assertIn("4 tokens, 2 of them padding", text)
        with h5py.File(out) as file:
            depth = file["tree/depth/lca_depth"][:, 0]
            for batch in range(2):
                seen = mask[batch] == 1
                self.assertTrue(np.isfinite(depth[batch][np.ix_(seen, seen)]).all())
                self.assertTrue(np.isnan(depth[batch][~seen]).all())

    def test_a_mask_without_a_diagonal_leaves_no_token_out(self):
        path = self.folder / "strict.npz"
        np.savez(path, q=np.random.default_rng(1).normal(size=(1, 1, 4, 2)), mask=np.tril(np.ones((4, 4), "u1"), -1))
        self.assertNotIn("padding", self.ok("tree", path, "-o", self.folder / "t.h5", "-s", "umbral").out)

    def test_masks_mean_what_they_say(self):
        source, out = f"{TRACE}:/german/layer3", self.folder / "tree.h5"
        call = ("tree", source, "-o", out, "-s", "dot")
        self.fails(2, *call, "--mask", "padding", says="--lengths")
        self.fails(2, *call, "--lengths", "12", says="--mask padding")
        self.fails(1, *call, "--mask", "explicit", says="'mask'")
        self.fails(2, *call, "--mask", "window", "-p", "window=3,5,7,9,11,13,15,17,19,21,23,25",
                   says="one number for all heads")
        self.ok(*call, "--mask", "padding", "--lengths", "12")

    def test_wrong_usage(self):
        out = self.folder / "tree.h5"
        self.fails(2, "tree", f"{TRACE}:/german/layer3", "-o", out, "-s", "dto", says="'dot'")
        self.fails(2, "tree", f"{TRACE}:/german/layer3", "-o", out, "-s", "dot", "--tokens", "keys",
                   says="did you mean 'key'?")
        self.fails(1, "tree", "none.h5", "-o", out, "-s", "dot", says="none.h5")
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
