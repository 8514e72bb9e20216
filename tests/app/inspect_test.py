"""`inspect`: what files hold, and that damage is found."""
import os
import unittest
import zipfile

import h5py
import numpy as np

from program import TRACE, ProgramTest, run


class Inspect(ProgramTest):
    def test_of_a_result(self):
        out = self.folder / "out.h5"
        self.ok("attend", f"{TRACE}:/german/layer3", "-o", out, "-s", "umbral", "--keep", "weights")
        text = self.ok("inspect", out).out
        self.assertIn("written by conelab", text)
        self.assertIn("a result of attend", text)
        self.assertIn("weight: f32 [1 x 12 x 30 x 30]", text)
        self.assertTrue(text.rstrip().endswith("every byte is as it was written"), text)
        found = self.ok("inspect", out, "--json").json()
        self.assertEqual(found["result"], "attend")
        self.assertTrue(found["sound"])
        shapes = {item["path"]: item.get("shape") for item in found["items"]}
        self.assertEqual(shapes["/attention/weights/weight"], [1, 12, 30, 30])

    def test_bytes_that_are_no_text_are_shown_as_such(self):
        path = self.folder / "in.h5"
        with h5py.File(path, "w") as file:
            file["q"] = np.zeros((2, 3), "f4")
            file["q"].attrs["unit"] = np.bytes_(b"\xb5m" + b"x" * 5)
            file["q"].attrs["about"] = "ü" * 500
        text = self.ok("inspect", path).out
        self.assertIn("q: f32 [2 x 3]", text)
        self.assertIn("mxxxxx", text)
        self.assertIn("ü...", text)

    def test_shows_the_value_of_what_has_no_axes(self):
        path = self.write(word="two\nlines", long="ü" * 500, tenth=np.float32(0.1), list=[1.0],
                          big=np.uint64(2 ** 64 - 1), half=np.float16(-1.5), few=np.int8(-3))
        text = self.ok("inspect", path).out
        for line in ('word: text [] = "two\\x0alines"', "tenth: f32 [] = 0.1,", "half: f16 [] = -1.5,",
                     "few: int8 [] = -3,", "big: uint64 [] = 18446744073709551615,", "list: f64 [1], 8 bytes"):
            self.assertIn(line, text)
        self.assertIn("ü" * 30 + "…", text)
        self.assertNotIn("ü" * 31, text)
        found = {item["path"]: item.get("value") for item in self.ok("inspect", path, "--json").json()["items"]}
        self.assertEqual((found["/word"], found["/few"], found["/list"]), ("two\nlines", -3, None))
        np.savez(self.folder / "in.npz", scale=np.float64(0.25))
        self.assertIn("scale: f64 [] = 0.25,", self.ok("inspect", self.folder / "in.npz").out)

    def test_blames_no_file_for_types_that_are_not_read(self):
        path = self.folder / "mixed.npz"
        np.savez(path, q=np.zeros((2, 3), "f4"), when=np.array(["2026-01-01"], "M8[D]"),
                 objects=np.array([{}], object), eight=np.zeros(3, "u1").view("V1"))
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("README.txt", "what these are")
        found = self.ok("inspect", path)
        self.assertNotIn("damaged", found.out + found.err)
        self.assertEqual(found.out.count("cannot read: "), 4, found)
        self.assertIn("README.txt: is not an array", found.out)
        self.assertIn("4 of the arrays cannot be read, and the rest reads and every checksum holds", found.out)
        listed = self.ok("inspect", path, "--json").json()
        self.assertEqual((listed["sound"], listed["unread"], listed["unguarded"]), (False, 4, 0))
        # The checksum of each is verified: none of these bytes may change unnoticed.
        data = path.read_bytes()
        for name in ("q", "when", "eight", "README.txt"):
            with zipfile.ZipFile(path) as archive:
                member = archive.getinfo(name if "." in name else name + ".npy")
            extra = int.from_bytes(data[member.header_offset + 28:member.header_offset + 30], "little")
            at = member.header_offset + 30 + len(member.filename) + extra + member.compress_size - 1
            spoilt = bytearray(data)
            spoilt[at] ^= 1
            (self.folder / "spoilt.npz").write_bytes(spoilt)
            self.fails(1, "inspect", self.folder / "spoilt.npz", says=["damaged", "wrong checksum", name])

    def test_blames_no_hdf5_for_filters_types_and_storage_that_are_not_read(self):
        path = self.folder / "mixed.h5"
        with h5py.File(path, "w") as file:
            file["q"] = np.zeros((2, 3), "f4")
            file.create_dataset("lists", (2,), h5py.vlen_dtype(np.int32))[0] = [1, 2]
            file.create_dataset("packed", (4, 4), "f4", chunks=(2, 2), scaleoffset=2)[:] = 1
            file.create_dataset("away", (4,), "f4", external=[(str(self.folder / "away.raw"), 0, 16)])[:] = 1
            file["two"] = np.zeros(3, [("a", "i4"), ("b", "f8")])
        found = self.ok("inspect", path)
        self.assertNotIn("damaged", found.out + found.err)
        for text in ("/lists: lists of variable length", "/packed: filter 6 (scaleoffset)",
                     "/two: its type compound", "/away: keeps its numbers in another file (--allow-external reads it)"):
            self.assertIn("cannot read: " + text, found.out)
        self.assertIn("4 of the arrays cannot be read", found.out)
        self.assertIn("3 of the arrays cannot be read", self.ok("inspect", path, "--allow-external").out)
        (self.folder / "away.raw").write_bytes(bytes(15))
        self.fails(1, "inspect", path, "--allow-external", says=["/away", "truncated: expected 16 bytes", "have 15"])

    def test_reads_contiguous_numbers_of_any_type(self):
        path = self.write(whole=np.arange(2000))
        data = path.read_bytes()
        self.assertIn("every array reads", self.ok("inspect", path).out)
        begin = data.index(np.arange(2000).tobytes())
        address, beyond, errors = begin.to_bytes(8, "little"), begin + len(data), []
        for at in range(begin):
            if data[at:at + 8] == address:
                path.write_bytes(data[:at] + beyond.to_bytes(8, "little") + data[at + 8:])
                errors.append(self.fails(1, "inspect", path).err)
        self.assertIn("/whole: cannot be read", "".join(errors))

    def test_whole_numbers_are_exact(self):
        path = self.folder / "in.h5"
        large, small = 2 ** 64 - 1, 2 ** 53 + 1
        with h5py.File(path, "w") as file:
            file["q"] = np.zeros((2, 3), "f4")
            file["q"].attrs["one"] = np.uint64(large)
            file["q"].attrs["list"] = np.array([large, 1], np.uint64)
            file["q"].attrs["small"] = np.array([small, -small])
            file["scalar"] = np.uint64(large)
        items = {i["path"]: i for i in self.ok("inspect", path, "--json").json()["items"]}
        self.assertEqual(items["/q"]["attributes"], {"list": [large, 1], "one": large, "small": [small, -small]})
        self.assertEqual(items["/scalar"]["value"], large)
        np.savez(self.folder / "in.npz", a=np.uint64(large), b=np.int64(-small))
        items = {i["path"]: i for i in self.ok("inspect", self.folder / "in.npz", "--json").json()["items"]}
        self.assertEqual((items["a"]["value"], items["b"]["value"]), (large, -small))

    def test_says_that_another_program_holds_a_file(self):
        path = self.folder / "held.h5"
        with h5py.File(path, "w") as file:
            file["q"] = np.zeros((2, 3), "f4")
            file.flush()
            says = ["is open in another program", "HDF5_USE_FILE_LOCKING=FALSE"]
            held = self.fails(1, "inspect", path, says=says + ["cannot read"])
            self.assertNotIn("damaged", held.err)
            self.fails(1, "attend", path, "-o", self.folder / "o.h5", "-s", "dot", says=says)

    def test_takes_no_group(self):
        spec = f"{TRACE}:/german/layer3"
        for words in (("inspect", spec), ("figure", "scaling", "-i", spec, "-o", self.folder / "x.svg"),
                      ("compare", spec, "--base", "dot"), ("compare", spec, spec)):
            self.fails(2, *words, says=[f"{TRACE}: ", "without a group (found ':/german/layer3')"])
        self.fails(1, "inspect", f"{self.folder}/none.h5:/group", says="No such file")
        named = self.folder / "a:b.npz"
        np.savez(named, q=np.zeros(3))
        self.ok("inspect", named)
        self.assert_clean("a:b.npz")

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
        line = self.fails(1, "inspect", path, says=["damaged", ": /q: "]).err
        self.assertEqual(line.count(str(path)), 1, line)
        self.assertNotIn(".cpp", line)
        in_debug = run("inspect", path, env=dict(os.environ, CONELAB_DEBUG="1")).err
        self.assertRegex(in_debug, r"\(H5\w+ at \w+\.cpp:\d+: ")
        self.fails(1, "inspect", self.folder / "missing.h5", says="missing.h5")

    def test_of_what_does_not_open_no_writer_is_told(self):
        path = self.write(q=np.zeros(4096))
        self.assertIn("its writer is not named", self.ok("inspect", path).out)
        path.write_bytes(path.read_bytes()[:700])
        self.assertNotIn("written by", self.fails(1, "inspect", path, says=str(path)).out)

    def test_what_was_never_written_is_sound(self):
        path = self.folder / "in.h5"
        with h5py.File(path, "w") as file:
            late = file.create_dataset("late", (100, 64), "f8", chunks=(10, 64), fillvalue=np.nan)
            late[20:40] = 1
            packed = file.create_dataset("packed", (10**6, 10**6), "f4", chunks=(100, 100),
                                         compression="gzip", fletcher32=True)
            packed[500_000:500_100, 0:100] = 2
            file.create_dataset("never", (7, 5), "f2", fillvalue=np.inf)
            file.create_dataset("words", (1000,), h5py.string_dtype(), chunks=(10,))
        found = self.ok("inspect", path, "--json").json()
        special = {item["path"]: (item["nan"], item["infinite"])
                   for item in found["items"] if item["kind"] == "array"}
        self.assertEqual(special, {"/late": (80 * 64, 0), "/packed": (0, 0), "/never": (0, 35),
                                   "/words": (0, 0)})
        self.fails(1, "attend", path, "-o", self.folder / "o.h5", "-s", "dot", "--q", "packed",
                   says="are stored")

    def test_lzf_is_read(self):
        numbers = np.round(np.random.default_rng(3).standard_normal((2, 300, 16)), 1)
        plain, packed = self.folder / "plain.h5", self.folder / "packed.h5"
        for path, options in ((plain, {}), (packed, {"compression": "lzf", "shuffle": True})):
            with h5py.File(path, "w") as file:
                file.create_dataset("q", data=numbers, chunks=(1, 100, 16), **options)
                zeros = file.create_dataset("zeros", (100_000,), "f4", chunks=(50_000,), **options)
                zeros[:] = 0
        item = {i["path"]: i for i in self.ok("inspect", packed, "--json").json()["items"]}["/q"]
        self.assertEqual(item["filters"], ["shuffle", "lzf"])
        self.assertLess(item["stored_bytes"], numbers.nbytes)
        outputs = []
        for path in (plain, packed):
            self.ok("attend", path, "-o", self.folder / "out.h5", "-s", "dot")
            with h5py.File(self.folder / "out.h5") as file:
                outputs.append(file["attention/output/output"][()])
        np.testing.assert_array_equal(*outputs)
        # Any damage of the packed bytes is an error or other numbers, never a crash.
        with h5py.File(packed) as file:
            chunk = file["q"].id.get_chunk_info(0)
        whole = packed.read_bytes()
        random = np.random.default_rng(4)
        for _ in range(40):
            bytes_ = bytearray(whole)
            bytes_[chunk.byte_offset + random.integers(chunk.size)] ^= 1 << random.integers(8)
            packed.write_bytes(bytes_)
            result = run("inspect", packed)
            self.assertIn(result.status, (0, 1))
            self.assertNotIn("crashed", result.err)


if __name__ == "__main__":
    unittest.main()
