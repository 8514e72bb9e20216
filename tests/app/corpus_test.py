"""Files that earlier versions wrote open in this one: tests/files/corpus, and the benchmarks that ship.

tests/files/write_corpus.py writes a folder of the corpus.
"""
import json
import shutil
import unittest

from program import ROOT, ProgramTest

CORPUS = sorted((ROOT / "tests/files/corpus").iterdir())
ENDINGS = {"figure": ".svg", "report": "", "compare": None}


class Corpus(ProgramTest):
    def expect_to_read(self, folder, name, command):
        """A command reads a file, and writes what it writes."""
        words = [word.replace("{}", str(folder / name)) for word in command.split()]
        ending = ENDINGS.get(words[0], ".h5")
        out = self.folder / f"out{ending}"
        self.ok(*words, *([] if ending is None else ["-o", out]))
        if ending is not None:
            self.assertTrue(out.exists(), command)
            shutil.rmtree(out) if out.is_dir() else out.unlink()

    def test_every_file_opens(self):
        self.assertGreater(len(CORPUS), 1)
        for folder in CORPUS:
            reads = json.loads((folder / "reads.json").read_text())
            for name, commands in reads.items():
                for command in commands:
                    with self.subTest(folder.name, file=name, command=command):
                        self.expect_to_read(folder, name, command)

    def test_every_file_is_sound_and_known(self):
        for folder in CORPUS:
            files = [path for path in folder.rglob("*.h5")]
            reads = json.loads((folder / "reads.json").read_text())
            self.assertLessEqual({path.name for path in folder.glob("*.h5")}, set(reads))
            for path in files:
                with self.subTest(folder.name, file=path.name):
                    found = self.ok("inspect", path, "--json").json()
                    self.assertTrue(found["sound"])
                    self.assertEqual(found["creator"], f"conelab {folder.name.split('-')[0]}")
                    if path.parent == folder:
                        self.assertEqual(found["result"], path.stem.split("_")[0])

    def test_the_benchmarks_that_ship(self):
        for path in sorted((ROOT / "datasets/reference_runs").rglob("*.h5")):
            with self.subTest(str(path.relative_to(ROOT))):
                self.expect_to_read(path.parent, path.name, "figure scaling -i {}")


if __name__ == "__main__":
    unittest.main()
