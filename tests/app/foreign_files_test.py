"""Files as other programs write them: types, orders of axes, models in several files."""
import json
import unittest

import h5py
import numpy as np

from program import ProgramTest

GENERATOR = np.random.default_rng(5)


def bf16_bits(numbers):
    """The upper halves of floats, which are bf16 exactly."""
    return (np.asarray(numbers, "<f4").view("<u4") >> 16).astype("<u2")


class Foreign(ProgramTest):
    def setUp(self):
        super().setUp()
        numbers = {name: GENERATOR.normal(size=(3, 7, 4)).astype("<f4") for name in "qkv"}
        self.bits = {name: bf16_bits(x) for name, x in numbers.items()}
        self.tensors = {name: (x.astype("<u4") << 16).view("<f4") for name, x in self.bits.items()}
        self.expected = self.output(self.save("plain.npz", self.tensors))

    def save(self, name, arrays):
        np.savez(self.folder / name, **arrays)
        return self.folder / name

    def output(self, *arguments, warns=None):
        out = self.folder / "out.h5"
        result = self.ok("attend", *arguments, "-o", out, "-s", "dot")
        self.assertEqual(result.err.count("warning"), 1 if warns else 0, result)
        for text in warns or ():
            self.assertIn(text, result.err)
        with h5py.File(out) as file:
            return file["attention/output/output"][:]

    def same(self, *arguments, **options):
        np.testing.assert_array_equal(self.output(*arguments, **options), self.expected)

    def test_reads_bf16_as_ml_dtypes_writes_it(self):
        opaque = {name: x.view("V2") for name, x in self.bits.items()}
        words = [w for name in "qkv" for w in ("--bf16", name)]
        path = self.save("v.npz", opaque)
        self.same(path, *words)
        self.fails(1, "attend", path, "-o", "x.h5", "-s", "dot", says=["q: wrong dtype", "|V2", "--bf16"])
        self.fails(1, "attend", path, "-o", "x.h5", "-s", "dot", "--bf16", "r", says="there is no such array")
        self.fails(1, "attend", self.folder / "plain.npz", "-o", "x.h5", "-s", "dot", "--bf16", "k",
                   says=["k: --bf16 names it", "<f4"])
        names = []
        for name, x in opaque.items():
            np.save(self.folder / f"{name}.npy", x)
            names += [f"--{name}", self.folder / f"{name}.npy"]
        self.same(*names, *words)
        self.same(*names, *(str(w).replace("--k", "--bf16").replace("--v", "--bf16").replace("--q", "--bf16")
                            for w in names))

    def test_reads_opaque_and_unsigned_numbers_of_hdf5_as_bf16(self):
        path = self.folder / "in.h5"
        with h5py.File(path, "w") as file:
            for name, x in self.bits.items():
                file[name] = x if name == "v" else x.view("V2")
        self.fails(1, "attend", path, "-o", "x.h5", "-s", "dot", says=["q: wrong dtype", "2 raw bytes", "--bf16"])
        self.same(path, "--bf16", "q", "--bf16", "k", "--bf16", "v")
        with h5py.File(path, "a") as file:
            for name in "qkv":
                file[name].attrs["dtype"] = "bfloat16"
        self.same(path)
        for words in (("tree", path, "-o", self.folder / "t.h5", "-s", "dot"),
                      ("figure", "heatmap", "-i", path, "-o", self.folder / "f.svg", "-p", "similarities=dot")):
            self.ok(*words)
            with h5py.File(path, "a") as file:
                file["q"].attrs.pop("dtype", None)
            self.fails(1, *words, says="--bf16")
            self.ok(*words, "--bf16", "q")
            with h5py.File(path, "a") as file:
                file["q"].attrs["dtype"] = "bfloat16"

    def test_names_float8_as_not_supported(self):
        eight = np.zeros((2, 3), "u1")
        self.save("f.npz", {"q": eight.view("V1")})
        header = json.dumps({"q": {"dtype": "F8_E4M3", "shape": [2, 3], "data_offsets": [0, 6]}})
        header = header.encode()
        (self.folder / "f.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(6))
        self.write("f.h5", q=eight.view("V1"))
        for name in ("f.npz", "f.safetensors", "f.h5"):
            self.fails(1, "attend", self.folder / name, "-o", "x.h5", "-s", "dot",
                       says=["q: wrong dtype", "float8", "not supported"])

    def test_takes_the_names_of_dtypes_that_others_use(self):
        plain = self.folder / "plain.npz"
        for names in (("f32", "float32", "f4"), ("f64", "float64", "double", "f8"), ("f16", "float16", "half"),
                      ("bf16", "bfloat16")):
            outputs = [self.output(plain, "--dtype", name) for name in names]
            for output in outputs[1:]:
                np.testing.assert_array_equal(output, outputs[0])
        self.fails(2, "attend", plain, "-o", "x.h5", "-s", "dot", "--dtype", "f9", says="unknown dtype 'f9'")

    def test_opens_a_model_in_several_files(self):
        def shard(name, tensors):
            header, data = {}, b""
            for key, x in tensors.items():
                header[key] = {"dtype": "F32", "shape": x.shape, "data_offsets": [len(data), len(data) + x.nbytes]}
                data += x.tobytes()
            text = json.dumps(header).encode()
            (self.folder / name).write_bytes(len(text).to_bytes(8, "little") + text + data)
        index = self.folder / "model.safetensors.index.json"

        def write(shards):
            index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": shards}))
        shard("a.safetensors", {"layer0.q": self.tensors["q"]})
        shard("b.safetensors", {"layer0.k": self.tensors["k"], "layer0.v": self.tensors["v"]})
        shards = {"layer0.q": "a.safetensors", "layer0.k": "b.safetensors", "layer0.v": "b.safetensors"}
        write(shards)
        self.same(f"{index}:/layer0")
        self.assertIn("layer0.k: f32 [3 x 7 x 4]", self.ok("inspect", index).out)
        out = "x.h5", "-s", "dot"
        write(shards | {"layer0.q": "../a.safetensors"})
        self.fails(1, "attend", f"{index}:/layer0", "-o", *out, says="malformed index")
        write(shards | {"layer0.q": "none.safetensors"})
        self.fails(1, "attend", f"{index}:/layer0", "-o", *out, says="none.safetensors: cannot be opened")
        write(shards | {"layer0.q": "b.safetensors"})
        self.fails(1, "attend", f"{index}:/layer0", "-o", *out, says="b.safetensors: layer0.q: is not in this file")
        index.write_text("[]")
        self.fails(1, "attend", index, "-o", *out, says="weight_map")

    def test_reads_axes_in_any_order(self):
        swapped = {name: x.transpose(1, 0, 2) for name, x in self.tensors.items()}
        path = self.save("swapped.npz", swapped)  # of Fortran's order in memory for one of them
        self.same(path, "--axes", "token,head,feature")
        self.same(path, "--axes", "batch, token, head, feature")
        np.savez(self.folder / "four.npz", **{name: x[None].T for name, x in self.tensors.items()})
        self.same(self.folder / "four.npz", "--axes", "feature,token,head,batch")
        julia = self.write("julia.h5", **{name: np.ascontiguousarray(x.T)
                                          for name, x in self.tensors.items()})
        self.same(julia, "--axes", "feature,token,head")
        for axes in ("token,head", "token,token,feature", "token,feature,head,batch,head"):
            self.fails(2, "attend", path, "-o", "x.h5", "-s", "dot", "--axes", axes, says="--axes")
        for axes in ("token,heads,feature", "token,,feature"):
            self.fails(2, "attend", path, "-o", "x.h5", "-s", "dot", "--axes", axes, says="unknown axis")
        self.fails(1, "attend", self.folder / "four.npz", "-o", "x.h5", "-s", "dot", "--axes", "token,head,feature",
                   says=["q: has 4 axes", "3"])

    def test_reads_what_matlab_writes(self):
        path = self.folder / "matlab.h5"
        mask = np.tri(7, dtype="u1")
        with h5py.File(path, "w") as file:
            for name, x in self.tensors.items():
                file[name] = np.ascontiguousarray(x.T)
                file[name].attrs["MATLAB_class"] = np.bytes_("single")
            file["mask"] = np.ascontiguousarray(mask.T)
            file["mask"].attrs["MATLAB_class"] = np.bytes_("uint8")
        causal = self.output(self.save("masked.npz", self.tensors | {"mask": mask}))
        np.testing.assert_array_equal(self.output(path), causal)
        np.testing.assert_array_equal(self.output(path, "--axes", "feature,token,head"), causal)

    def test_warns_of_fewer_tokens_than_heads(self):
        many = {name: x.transpose(1, 0, 2) for name, x in self.tensors.items()}
        path = self.save("many.npz", many)
        self.output(path, warns=("7 heads x 3 tokens x 4 features", "--axes token,head,feature"))
        self.same(path, "--axes", "token,head,feature")
        self.output(self.save("masked.npz", many | {"mask": np.ones((3, 3), "u1")}))  # Fits one order.
        figure = self.ok("figure", "heatmap", "-i", path, "-o", self.folder / "f.svg", "-p", "similarities=dot")
        self.assertIn("7 heads x 3 tokens", figure.err)
        tree = self.ok("tree", path, "-o", self.folder / "t.h5", "-s", "dot")
        self.assertIn("7 heads x 3 tokens", tree.err)

    def test_results_say_how_their_input_was_read(self):
        path = self.save("v.npz", {"q": self.bits["q"].transpose(1, 0, 2).view("V2")})
        out = self.folder / "o.h5"
        words = "--bf16", "q", "--axes", "token,head,feature"
        command = self.ok("attend", path, "-o", out, "-s", "dot", *words, "--json").json()["command"]
        self.assertIn(" ".join(words), command)
        with h5py.File(out) as file:
            spec = json.loads(file["attention"].attrs["spec"])
        self.assertEqual((spec["bf16"], spec["axes"]), (["q"], "token,head,feature"))


if __name__ == "__main__":
    unittest.main()
