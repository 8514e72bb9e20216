"""A Python that has no PyTorch is told so in one line, by the whole table and by its worker."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class WithoutTorch(unittest.TestCase):
    def test_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (["run.py", "-o", folder + "/peers", "--quick"], ["worker.py"]):
                with self.subTest(words[0]):
                    # -S: without the folder where packages are installed.
                    end = subprocess.run([sys.executable, "-S", HERE / words[0], *words[1:]],
                                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
                    self.assertEqual(end.returncode, 1, end.stderr)
                    self.assertEqual(len(end.stderr.splitlines()), 1, end.stderr)
                    self.assertTrue(end.stderr.startswith(f"{words[0]}: needs PyTorch"), end.stderr)
                    self.assertEqual(end.stdout, "")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
