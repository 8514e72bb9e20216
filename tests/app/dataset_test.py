"""`dataset`: every data set as a file that h5py reads, equal bytes, and the errors."""
import unittest

import h5py

from program import ProgramTest


class Dataset(ProgramTest):
    def make(self, *arguments, name="d.h5"):
        return self.ok("dataset", *arguments, "-o", self.folder / name, "--json").json()

    def names(self):
        rows = self.ok("list", "datasets", "--json").json()
        return [row["name"] for row in rows if "parameters" in row]

    def test_every_row_is_made_twice_with_equal_bytes(self):
        for name in self.names():
            self.make(name, name="a.h5")
            self.make(name, name="b.h5")
            self.assertEqual((self.folder / "a.h5").read_bytes(), (self.folder / "b.h5").read_bytes())
            with h5py.File(self.folder / "a.h5") as file:
                self.assertEqual(file.attrs["kind"], name)
                self.assertEqual(file.attrs["seed"], 1)
                self.assertIn('"command":"dataset"', file.attrs["spec"].replace(" ", ""))
                self.assertEqual(file["sha256"].shape, (32,))
            said = self.ok("inspect", self.folder / "a.h5").out
            self.assertNotIn("damaged", said)

    def test_the_mammals_have_their_sizes_and_layout(self):
        said = self.make("wordnet")
        self.assertEqual(said["sizes"]["ancestor_pairs"], 6448)
        self.assertEqual(said["spec"]["parameters"]["root"], "mammal.n.01")
        with h5py.File(self.folder / "d.h5") as file:
            group = file["hierarchy"]
            self.assertEqual(group["edge"].shape, (1170, 2))
            self.assertEqual(group["edge"].dtype, "int64")
            self.assertEqual(group["name"][0], b"mammal.n.01")
            self.assertEqual(group["depth"][0], 0)
            self.assertEqual(group["depth"].shape, (1170,))

    def test_tokens_are_a_trace(self):
        self.make("gaussian", "-p", "heads=2", "-p", "n=16", "-p", "d=4", "-p", "dtype=f16")
        with h5py.File(self.folder / "d.h5") as file:
            self.assertEqual(file["q"].dtype, "float16")
            self.assertEqual(file["v"].shape, (2, 16, 4))
        self.ok("attend", self.folder / "d.h5", "-o", self.folder / "a.h5", "-s", "umbral")

    def test_errors_are_one_line_and_leave_nothing(self):
        out = self.folder / "d.h5"
        self.fails(2, "dataset", "trees", "-o", out, says="did you mean 'tree'?")
        self.fails(2, "dataset", "tree", "-o", out, "-p", "dept=3", says="did you mean 'depth'?")
        self.fails(2, "dataset", "tree", "-o", out, "-p", "branching=0", says="branching")
        self.fails(1, "dataset", "wordnet", "-o", out, "-p", f"path={self.folder}",
                   says=["wordnet-base", "licence"])
        self.assert_clean()
        out.write_text("mine")
        self.fails(2, "dataset", "tree", "-o", out, says="would be lost")
        self.assertEqual(out.read_text(), "mine")

    def test_a_data_set_replaces_a_data_set_and_is_no_trace(self):
        self.make("tree")
        self.make("random-tree")
        self.fails(1, "attend", self.folder / "d.h5", "-o", self.folder / "a.h5", "-s", "dot",
                   says="a result of dataset, no trace")


if __name__ == "__main__":
    unittest.main()
