"""`inspect`: what files hold, and that damage is found."""
import unittest

import h5py
import numpy as np

from program import TRACE, ProgramTest


class Inspect(ProgramTest):
    def test_of_a_result(self):
        out = self.folder / "out.h5"
        self.ok("attend", f"{TRACE}:/german/layer3", "-o", out, "-s", "umbral", "--keep", "weights")
        text = self.ok("inspect", out).out
        self.assertIn("written by conelab", text)
        self.assertIn("weight: f32 [1 x 12 x 30 x 30]", text)
        self.assertTrue(text.rstrip().endswith("every checksum holds"), text)
        found = self.ok("inspect", out, "--json").json()
        self.assertTrue(found["sound"])
        shapes = {item["path"]: item.get("shape") for item in found["items"]}
        self.assertEqual(shapes["/attention/weights/weight"], [1, 12, 30, 30])

    def test_counts_what_is_not_finite(self):
        path = self.folder / "in.npz"
        np.savez(path, q=np.array([1.0, np.nan, np.inf, -np.inf]))
        item = self.ok("inspect", path, "--json").json()["items"][0]
        self.assertEqual((item["nan"], item["infinite"]), (1, 2))

    def test_finds_a_flipped_byte(self):
        path = self.folder / "in.h5"
        with h5py.File(path, "w") as file:
            data = file.create_dataset("q", data=np.arange(4096.0), chunks=(512,), fletcher32=True)
            place = data.id.get_chunk_info(3).byte_offset
        with open(path, "r+b") as file:
            file.seek(place + 100)
            byte = file.read(1)
            file.seek(place + 100)
            file.write(bytes([byte[0] ^ 1]))
        self.fails(1, "inspect", path, says="damaged")
        self.fails(1, "inspect", self.folder / "missing.h5", says="missing.h5")


if __name__ == "__main__":
    unittest.main()
