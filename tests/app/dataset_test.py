"""`dataset`: every data set as a file that h5py reads, equal bytes, and the errors."""
import resource
import unittest

import h5py

import gene_ontology
from program import ROOT, ProgramTest, run

ROWS = ROOT / "tests/core/dataset/rows"


class Dataset(ProgramTest):
    def make(self, *arguments, name="d.h5"):
        return self.ok("dataset", *arguments, "-o", self.folder / name, "--json").json()

    def names(self):
        rows = self.ok("list", "datasets", "--json").json()
        return [row["name"] for row in rows if "parameters" in row]

    def keys(self, name):
        """The keys that the tests of core give to this row."""
        words = []
        for line in (ROWS / f"{name}.txt").read_text().splitlines():
            key, value = line.split(maxsplit=1)
            if key not in ("digest", "drawn"):
                words += ["-p", f"{key}={ROWS / value if key == 'path' else value}"]
        return words

    def test_every_row_is_made_twice_with_equal_bytes(self):
        for name in self.names():
            self.make(name, *self.keys(name), name="a.h5")
            self.make(name, *self.keys(name), name="b.h5")
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

    def test_an_ontology_has_names_and_identifiers(self):
        is_a, part_of, live = gene_ontology.write(self.folder / "go.obo", 3000)
        sizes = self.make("obo", "-p", f"path={self.folder / 'go.obo'}")["sizes"]
        self.assertEqual((sizes["nodes"], sizes["edges"], sizes["roots"]), (live, is_a, 3))
        sizes = self.make("obo", "-p", f"path={self.folder / 'go.obo'}", "-p", "relations=part_of")["sizes"]
        self.assertEqual(sizes["edges"], is_a + part_of)
        with h5py.File(self.folder / "d.h5") as file:
            self.assertEqual(file["hierarchy/id"][0], b"GO:0000000")
            self.assertEqual(file["hierarchy/name"][0], b"biological_process")

    def test_a_long_chain_is_counted_without_lists(self):
        n = 200000
        table = self.folder / "chain.csv"
        table.write_text("".join(f"{i},{i - 1}\n" for i in range(1, n)))

        made = run("dataset", "edges", "-o", self.folder / "c.h5", "-p", f"path={table}", "--json",
                   limits=[(resource.RLIMIT_DATA, 2 << 30)])
        self.assertEqual(made.status, 0, made)
        self.assertEqual(made.json()["sizes"]["ancestor_pairs"], n * (n - 1) // 2)
        for command in (["embed"], ["train", "-s", "dot"], ["rank"]):
            self.fails(1, command[0], self.folder / "c.h5", "-o", self.folder / "x.h5", *command[1:],
                       *(["-s", "dot"] if command == ["embed"] else []), says="200000 nodes")

    def test_errors_of_files_are_one_line(self):
        out, table = self.folder / "d.h5", self.folder / "t.csv"
        self.fails(2, "dataset", "edges", "-o", out, says="path=... is missing")
        self.fails(1, "dataset", "edges", "-o", out, "-p", f"path={table}", says=str(table))
        for text, says in (("", "empty"), ("a,b\nb,c\nc,a\n", "'a' -> 'b' -> 'c' -> 'a'"),
                           ("\x1b[2J,\x1b\n\x1b,\x1b[2J\n", r"\x1b")):
            table.write_text(text)
            self.fails(1, "dataset", "edges", "-o", out, "-p", f"path={table}", says=[str(table), says])
        self.fails(1, "dataset", "folder", "-o", out, "-p", f"path={table}", says="is no folder")
        self.assert_clean("t.csv")

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
