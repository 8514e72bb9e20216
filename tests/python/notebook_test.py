"""Runs the notebooks of resources/examples, without their figures. Needs the installed package, PyTorch and
nbclient with a kernel."""
import json
import os
import pathlib
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "resources/examples"
BOOKS = sorted(EXAMPLES.glob("*.ipynb"))
MOST_BYTES = 100_000


class Notebooks(unittest.TestCase):
    def test_they_are_small(self):
        self.assertTrue(BOOKS)
        for path in BOOKS:
            self.assertLess(path.stat().st_size, MOST_BYTES, path.name)
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs"), f"{path.name} keeps outputs: clear them")

    def test_they_run(self):
        try:
            import ipykernel  # noqa: F401
            import nbclient
            import nbformat
            import torch  # noqa: F401
        except ImportError as missing:
            self.skipTest(str(missing))
        paths = [str(pathlib.Path(os.environ[name]).resolve().parent) for name in ("CONELAB",) if name in os.environ]
        os.environ["PATH"] = os.pathsep.join([*paths, os.environ["PATH"]])
        for path in BOOKS:
            with self.subTest(path.name):
                book = nbformat.read(path, as_version=4)
                nbclient.NotebookClient(book, timeout=300, kernel_name="python3",
                                        resources={"metadata": {"path": str(EXAMPLES)}}).execute()
                shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
                texts = "".join(output.get("text", "") for output in shown)
                figures = sum("image/svg+xml" in output.get("data", {}) for output in shown)
                self.assertRegex(texts, r"umbral +loss [01]\.\d+")
                self.assertGreaterEqual(figures, 2)
                self.assertEqual("best of" in texts, bool(paths), "tuned where the command is")


if __name__ == "__main__":
    unittest.main()
