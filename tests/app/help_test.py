"""`help`: the manual's topics, and that every command in the manual and the README runs as printed."""
import os
import re
import shlex
import unittest

import numpy as np

from program import ROOT, ProgramTest, run

# One word that only this topic's text explains, for each topic that a reader relies on.
KEY_WORDS = {
    "accuracy": ["float64", "--dtype", "NaN"],
    "benchmarks": ["--resume", "A/A", "of peak", "95 %"],
    "data": ["numpy.savez", "mask", "--keep", "[batch x head x n x d]"],
    "desktop": ["session", "Ctrl+Shift+P"],
    "figures": ["heatmap", "--width", "limits=own"],
    "files": ["/sha256", "130", "environment/KEY"],
    "hierarchies": ["gamma2_alpha", "certified", "--time-limit"],
    "intervals": ["hull", "four sums", "evaluation"],
    "machines": ["mpirun -n 4", "steps_by_rank", "#SBATCH --nodes=64"],
    "operators": ["logit_ij", "gamma", "Coneheads", "--operator"],
    "python": ["conelab.attention", "fullgraph", "find_package"],
    "reports": ["--check", "numbers.tex", "claim:"],
    "studies": ["[[attend]]", "--shard", "quick = {"],
    "reference": ["-gamma |q - k|", "Coneheads eq. 8", "default 0.1", "default 1/sqrt(d)"],
}
MANUAL = ROOT / "resources/manual"


def commands_in(text):
    """The command lines of Markdown's code blocks, without the program's name; `\\` joins lines."""
    joined = re.sub(r" *\\\n *", " ", text)
    lines = re.findall(r"^    (?:build/bin/)?conelab (.*)$", joined, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def made_short(words):
    """The same benchmark of short sequences, in one round."""
    if "--lengths" in words:
        words[words.index("--lengths") + 1] = "16,32"
    return words + ["--rounds", "1", "--controls", "0", "--warm-only"]


class Help(ProgramTest):
    def test_topics_are_the_files_of_the_manual(self):
        listed = re.findall(r"^  (\S+) +\S", self.ok("help").out, re.MULTILINE)
        self.assertEqual(listed, sorted(file.stem for file in MANUAL.glob("*.md")))
        self.assertEqual(listed, sorted(KEY_WORDS))

    def test_a_topic_prints_its_file_without_images(self):
        for topic, words in KEY_WORDS.items():
            printed = self.ok("help", topic).out
            lines = (MANUAL / f"{topic}.md").read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if not line.startswith("![")]
            self.assertEqual(printed.splitlines(), kept)
            for word in words:
                self.assertIn(word, printed)

    def test_the_reference_is_the_one_that_the_program_makes(self):
        text = (MANUAL / "reference.md").read_text(encoding="utf-8")
        self.assertTrue(text == self.ok("help", "reference").out,
                        "tables have changed; renew the manual by "
                        "build/bin/conelab help reference > resources/manual/reference.md")

    def test_a_command_is_explained_as_by_its_own_help(self):
        self.assertEqual(self.ok("help", "attend").out, self.ok("attend", "--help").out)

    def test_an_unknown_topic_names_the_nearest_and_the_list(self):
        self.fails(2, "help", "figuers", says=["unknown topic 'figuers'", "did you mean 'figures'?",
                                               "accuracy, benchmarks", "attend"])

    def test_references_between_topics_lead_somewhere(self):
        for file in MANUAL.glob("*.md"):
            for name in re.findall(r"conelab help ([a-z]+)", file.read_text(encoding="utf-8")):
                self.assertTrue((MANUAL / f"{name}.md").exists(), f"{file.name}: {name}")


class Examples(ProgramTest):
    """Runs the commands of a text in their order, in a folder that has the data that ships."""

    def run_examples(self, file):
        commands = commands_in(file.read_text(encoding="utf-8"))
        self.assertGreater(len(commands), 0, file)
        for words in commands:
            if words[0] == "gui" or "--peer" in words or "before.h5" in words:
                self.ok(words[0], "--help")  # Needs a display, PyTorch, or two machines' results.
                continue
            if words[0] == "bench" and "--resume" not in words:
                words = made_short(words)
            result = run(*words, cwd=self.folder)
            self.assertEqual(result.status, 0, f"{file.name}: {words}\n{result}")

    def setUp(self):
        super().setUp()
        for name in ("datasets", "resources"):
            os.symlink(ROOT / name, self.folder / name)
        numbers = np.random.default_rng(1)
        np.savez(self.folder / "mine.npz", **{key: numbers.standard_normal((2, 12, 8)) for key in "qkv"})
        np.save(self.folder / "W.npy", numbers.standard_normal((8, 8)))
        np.save(self.folder / "edge.npy", np.array([[0, 1], [1, 2]]))


def example_test(file):
    return lambda self: self.run_examples(file)


for source in [ROOT / "README.md", *MANUAL.glob("*.md")]:
    setattr(Examples, f"test_{source.stem.lower()}_runs_as_printed", example_test(source))


if __name__ == "__main__":
    unittest.main()
