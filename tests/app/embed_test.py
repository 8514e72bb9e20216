"""`embed`: layout, measures, and the errors."""
import unittest

import h5py
import numpy as np

from program import ProgramTest


class Embed(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data, self.out = self.folder / "tree.h5", self.folder / "e.h5"
        self.ok("dataset", "tree", "-o", self.data, "-p", "depth=3")

    def embed(self, *arguments):
        return self.ok("embed", self.data, "-o", self.out, "--json", *arguments).json()

    def test_the_construction_of_a_tree_is_exact(self):
        said = self.embed("--method", "construction", "-p", "dim=2")
        self.assertEqual(said["map_neighbours"], 1)
        with h5py.File(self.out) as file:
            self.assertEqual(file["embedding/point"].shape, (15, 3))
            placed = file["embedding/placed"]
            self.assertEqual(placed.attrs["model"], "ball")
            self.assertLessEqual(np.linalg.norm(placed[:], axis=1).max(), 1)
            self.assertEqual(file["embedding"].attrs["map_neighbours"], 1)
            self.assertEqual(file["hierarchy/edge"].shape, (14, 2))

    def test_a_construction_whose_points_are_rounded_to_the_boundary_is_drawn(self):
        deep, out = self.folder / "deep.h5", self.folder / "far.h5"
        self.ok("dataset", "tree", "-o", deep, "-p", "branching=2", "-p", "depth=7")
        self.ok("embed", deep, "-o", out, "--method", "construction", "-p", "scale=6")
        self.ok("figure", "points", "-o", self.folder / "far.svg", "--input", out)

    def test_descent_stores_points_parameters_and_measures(self):
        said = self.embed("-s", "umbral", "-p", "dim=3", "-p", "epochs=200", "-p", "radius=0.5")
        for name in ("map", "map_neighbours", "mean_rank", "depth_correlation", "ancestor_f1"):
            self.assertIn(name, said)
        self.assertEqual(said["radius"], 0.5)
        self.assertNotEqual(said["gamma"], 1)
        self.assertEqual(said["spec"]["similarity"], "umbral")
        with h5py.File(self.out) as file:
            placed = file["embedding/placed"][:]
            self.assertEqual(file["embedding/placed"].attrs["model"], "halfspace")
            self.assertEqual(placed.shape, (15, 3))
            point = file["embedding/point"][:]
            np.testing.assert_allclose(placed[:, 2], np.exp(point[:, 2]))
            np.testing.assert_allclose(placed[:, :2], point[:, :2] * np.exp(point[:, 2:]))

    def test_a_radius_is_trained_for_attention_and_for_the_order(self):
        for more in ((), ("-p", "closure=25")):
            said = self.embed("-s", "umbral", "-p", "epochs=50", "-p", "radius=train", *more)
            self.assertNotEqual(said["radius"], 0.1)
            with h5py.File(self.out) as file:
                self.assertEqual(file["embedding"].attrs["radius"], said["radius"])

    def test_a_figure_has_the_cones_at_which_training_ended(self):
        for key, words in (("height", ["-s", "penumbral"]), ("radius", ["-s", "umbral", "-p", "radius=train"])):
            said = self.embed(*words, "-p", "dim=2", "-p", "epochs=100")
            text = self.ok("figure", "points", "-i", self.out, "-o", self.folder / "points.svg").out
            self.assertIn(f"{key} = {said[key]:.4g}", text)

    def test_an_embedding_is_a_trace_with_its_own_operator(self):
        self.embed("-s", "umbral", "-p", "dim=3", "-p", "epochs=200", "-p", "radius=0.5")
        out = self.folder / "a.h5"
        self.ok("attend", f"{self.out}:/embedding", "-o", out, "--keep", "weights")
        with h5py.File(self.out) as made, h5py.File(out) as file:
            np.testing.assert_array_equal(made["embedding/q"][:], made["embedding/point"][:])
            self.assertEqual([t.decode() for t in made["embedding/token"][:]],
                             [t.decode() for t in made["hierarchy/name"][:]])
            weights = file["attention/weights/weight"][0, 0]
        self.assertGreater(weights[-1, 0], 1 / 15)  # A leaf attends to the root more than to others.

    def test_equal_seeds_give_equal_bytes(self):
        files = []
        for name in ("a.h5", "b.h5"):
            self.ok("embed", self.data, "-o", self.folder / name, "-s", "penumbral", "-p", "epochs=20")
            files.append((self.folder / name).read_bytes())
        self.assertEqual(*files)

    def test_pairs_kept_from_training_are_stored(self):
        said = self.embed("-s", "penumbral", "-p", "closure=25", "-p", "epochs=50", "-p", "dim=4")
        self.assertIn("held_out_f1", said)
        with h5py.File(self.out) as file:
            held_out = file["hierarchy/held_out"][:]
        self.assertEqual(held_out.shape, (15, 2))  # Of 34 − 14 further pairs, 5 are trained.

    def test_held_out_ancestors_are_measured(self):
        said = self.embed("-s", "umbral", "-p", "held_out=0.2", "-p", "epochs=50", "-p", "dim=4")
        self.assertTrue(0 < said["held_out_map"] <= 1)
        self.assertGreaterEqual(said["held_out_rank"], 1)
        with h5py.File(self.out) as file:
            self.assertEqual(file["hierarchy/held_out"].shape, (4, 2))

    def test_an_input_is_no_output(self):
        self.embed("--method", "construction", "-p", "dim=2")
        before = self.out.read_bytes()
        for command in ("embed", "train"):
            self.fails(2, command, self.out, "-o", self.out, "--similarity", "penumbral",
                       says="is an input too")
        self.assertEqual(self.out.read_bytes(), before)

    def test_errors_are_one_line(self):
        self.fails(2, "embed", self.data, "-o", self.out, says="--similarity")
        self.fails(2, "embed", self.data, "-o", self.out, "-s", "umbra", says="did you mean 'umbral'")
        self.fails(2, "embed", self.data, "-o", self.out, "-s", "dot", "-p", "closure=10",
                   says="closure needs cones")
        self.fails(2, "embed", self.data, "-o", self.out, "-s", "umbral", "-p", "closure=10", "-p",
                   "held_out=.1", says="both hold pairs back")
        self.fails(2, "embed", self.data, "-o", self.out, "-s", "dot", "-p", "epoch=10",
                   says="did you mean 'epochs'")
        self.ok("dataset", "gaussian", "-o", self.folder / "g.h5", "-p", "n=8")
        self.fails(1, "embed", self.folder / "g.h5", "-o", self.out, "-s", "dot",
                   says="no group /hierarchy")
        self.assert_clean("tree.h5", "g.h5")


if __name__ == "__main__":
    unittest.main()
