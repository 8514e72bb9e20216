"""Ctrl-C as a terminal sends it, to every process of the group, whatever stage the work is in."""
import os
import signal
import unittest

import h5py
import numpy as np

from program import (PATIENCE, ProgramTest, bytes_read, children, computes, handles,
                     sealed_samples, start)


class Interrupt(ProgramTest):
    def compressible(self, name="in.h5", shape=(1, 200_000, 128)):
        """A sound file that takes its reader some time."""
        path = self.folder / name
        with h5py.File(path, "w") as file:
            file.create_dataset("q", shape, "f4", chunks=(1,) * (len(shape) - 2) + (10_000, 128),
                                compression="gzip", compression_opts=1, shuffle=True, fletcher32=True,
                                fillvalue=1.5)
            file["q"][..., 0] = 0.25
        return path

    def tokens(self, heads, n, d=16):
        return self.write(q=np.random.default_rng(1).standard_normal((heads, n, d)).astype("f4"))

    def interrupt(self, arrived, *arguments, number=signal.SIGINT):
        """Signals the group once `arrived(process)`: ends with 130, one line and nothing left.

        A command that writes names the file that it has not written. That it ends before its work
        does is seen from the status: work that is done is not interrupted any more."""
        before = [p.name for p in self.folder.iterdir()]
        process = start(*arguments, start_new_session=True)
        self.addCleanup(process.kill)
        self.wait_until(lambda: arrived(process), process)
        os.killpg(process.pid, number)
        out, err = (text.decode() for text in process.communicate(timeout=PATIENCE))
        self.assertEqual(process.returncode, 130, err)
        said = "interrupted"
        if arguments[0] in ("attend", "figure"):
            said = f"{arguments[arguments.index('-o') + 1]}: interrupted; nothing was written"
        self.assertEqual(err.splitlines()[-1], f"conelab: error: {said}")
        self.assertNotIn("damaged", out + err)
        self.assert_clean(*before)

    def attend(self, source, *options):
        return ("attend", source, "-o", self.folder / "out.h5", "-s", "dot", *options)

    def temporary_bytes(self):
        try:
            return sum(p.stat().st_size for p in self.folder.glob(".out.h5.*.tmp"))
        except FileNotFoundError:  # The program tries the folder with a file, which it removes.
            return 0

    def test_while_reading(self):
        self.hang_ups(signal.SIG_DFL)
        source = self.compressible()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.interrupt(children, *self.attend(source), number=number)

    def test_what_nohup_started_goes_on(self):
        self.hang_ups(signal.SIG_IGN)
        process = start(*self.attend(self.tokens(heads=8, n=20_000), "--threads", "1"),
                        start_new_session=True)
        self.addCleanup(process.kill)
        self.wait_until(lambda: computes(process), process)
        for _ in range(20):
            os.killpg(process.pid, signal.SIGHUP)
        self.assertNotIn(b"error", process.communicate(timeout=PATIENCE)[1])  # Progress is there.
        self.assertEqual(process.returncode, 0)

    def test_while_computing(self):
        self.interrupt(computes, *self.attend(self.tokens(heads=8, n=200_000), "--threads", "1"))

    def test_while_a_figure_computes(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.interrupt(computes, "figure", "determinant", "-o", self.folder / "d.svg", "-p", "draws=100000",
                           number=number)

    def test_while_writing_maps(self):
        source = self.tokens(heads=8, n=6000)
        for part in ("weights", "logits"):
            self.interrupt(lambda _: self.temporary_bytes() > 1_000_000,
                           *self.attend(source, "--keep", part))

    def test_while_inspecting(self):
        self.interrupt(children, "inspect", self.compressible(shape=(1_000_000, 128)))

    def test_while_inspecting_numbers_that_are_all_there(self):
        path = self.folder / "in.npy"
        np.lib.format.open_memmap(path, "w+", "f4", (1 << 30,)).flush()  # 4 GiB, a hole on the disk
        self.interrupt(lambda p: handles(p, signal.SIGINT) and bytes_read(p) > 1 << 27, "inspect", path)

    def test_while_measuring(self):
        out = self.folder / "b.h5"
        process = start("bench", "-o", out, "--operators", "dot", "--lengths", "1024,2048", "--heads", "2",
                        "--rounds", "50", start_new_session=True)
        self.addCleanup(process.kill)
        self.wait_until(lambda: len(sealed_samples(out)) >= 2, process)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("--resume", err.decode())
        parts = self.folder / "b.h5.parts"
        self.assertEqual([p.name for p in parts.iterdir() if p.name.startswith(".")], [])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
