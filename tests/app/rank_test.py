"""`rank`: sign changes, factorisation norms and fitting dimensions of small hierarchies."""
import math
import unittest

import h5py
import numpy as np

from program import ProgramTest


class Rank(ProgramTest):
    def hierarchy(self, name, edges, nodes):
        edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
        return self.write(name, **{"hierarchy/edge": edges,
                                   "hierarchy/name": [f"node {i}" for i in range(nodes)]})

    def test_of_a_root_and_its_child(self):
        # S = [[1, 1], [-1, 1]] is a Hadamard matrix, so that its norm is the root of 2.
        path = self.hierarchy("pair.h5", [(1, 0)], 2)
        found = self.ok("rank", path, "--dims", "1..3", "--alphas", "1,4", "--similarities",
                        "dot,umbral", "--json").json()
        self.assertEqual(found["nodes"], 2)
        self.assertEqual(found["sign_changes"], 1)
        self.assertEqual([row["alpha"] for row in found["gamma2_alpha"]], [1, 4])
        for norm in [found["gamma2"], *found["gamma2_alpha"]]:
            self.assertLessEqual(norm["lower"], math.sqrt(2))
            self.assertGreaterEqual(norm["upper"], math.sqrt(2))
            self.assertLessEqual(norm["upper"] - norm["lower"], 1e-3)
        for row in found["gamma2_alpha"]:
            self.assertAlmostEqual(row["bound"], (row["lower"] / row["alpha"]) ** 2, delta=1e-12)
        fits = {(row["similarity"], row["alpha"]): row for row in found["fit"]}
        self.assertEqual(len(fits), 4)
        self.assertEqual(fits["dot", 4]["dim"], 1)
        for row in fits.values():
            self.assertLessEqual(row["agreed"], row["starts"])
            self.assertEqual(row["dim"] is None, row["agreed"] == 0)

    def test_stores_what_it_prints(self):
        edges = [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)]
        path, out = self.hierarchy("tree.h5", edges, 7), self.folder / "rank.h5"
        arguments = ("rank", path, "--dims", "1..4", "--alphas", "4,2", "--similarities",
                     "penumbral")
        found = self.ok(*arguments, "-o", out, "--json").json()
        self.assertEqual(found["sign_changes"], 2)
        with h5py.File(out) as file:
            norm = file["rank/norm"]
            np.testing.assert_array_equal(norm["alpha"], [2, 4])
            for name in ("value", "lower", "upper", "bound"):
                np.testing.assert_array_equal(
                    norm[name], [row[name] for row in found["gamma2_alpha"]])
            self.assertEqual(norm.attrs["sign_changes"], 2)
            dims = [-1 if row["dim"] is None else row["dim"] for row in found["fit"]]
            np.testing.assert_array_equal(file["rank/fit/dim"][0], dims)
            self.assertEqual(file["hierarchy/edge"].shape, (6, 2))
        text = self.ok(*arguments).out
        self.assertIn("7 nodes, sign changes 2, so that the sign-rank is at most 3", text)
        self.assertIn("penumbral, alpha 4: dimension", text)
        again = self.ok(*arguments, "--threads", "1", "--json").json()
        self.assertEqual(again["fit"], found["fit"])

    def test_the_time_limit_gives_wider_intervals_and_says_so(self):
        edges = [(child, (child - 1) // 2) for child in range(1, 255)]
        path = self.hierarchy("deep.h5", edges, 255)
        found = self.ok("rank", path, "--time-limit", "0.01", "--alphas", "2", "--similarities",
                        "dot", "--json")
        norm = found.json()["gamma2_alpha"][0]
        self.assertGreater(norm["upper"] - norm["lower"], 1e-3)
        self.assertLess(norm["lower"], norm["upper"])
        self.assertIn("gamma2 at alpha 2: its interval is ", found.err)
        self.assertIn("dot at alpha 2: the time limit ended the search", found.err)
        self.assertEqual(found.json()["fit"][0]["searched"], 0)

    def test_refuses_in_one_line(self):
        path = self.hierarchy("pair.h5", [(1, 0)], 2)
        self.fails(2, "rank", path, "--alphas", "0.5",
                   says="--alphas: expected numbers from 1 (found '0.5')")
        self.fails(2, "rank", path, "--similarities", "dott", says="dott is no similarity")
        self.fails(2, "rank", path, "--dims", "0..3", says="--dims")
        self.fails(2, "rank", path, "--time-limit", "0", says="the time limit must be positive")
        self.fails(2, "rank", path, "-o", path, says="is an input too")
        self.fails(1, "rank", self.write("other.h5", q=np.zeros((3, 2))), says="has no group /hierarchy")
        large = self.hierarchy("large.h5", [(i, 0) for i in range(1, 3000)], 3000)
        self.fails(1, "rank", large, says="at most 2048 can be analysed")


if __name__ == "__main__":
    unittest.main()
