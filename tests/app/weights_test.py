"""`attend` with every law of weights and every map of values, against plain numpy, in every type."""
import itertools
import unittest

import h5py
import numpy as np

from program import ProgramTest

KEEP = ("--keep", "output,lse,weights,logits,gradients")


def numbers_of(dataset):
    """A tensor of the file in float64."""
    values = dataset[()]
    if dataset.attrs.get("dtype") == "bfloat16":
        values = (values.astype("u4") << 16).view("f4")
    return values.astype("f8")


def weigh(law, logits):
    if law == "sigmoid":
        return 1 / (1 + np.exp(-logits))
    if law == "exp":
        return np.exp(logits)
    axis = -2 if law == "query" else -1
    e = np.exp(logits - logits.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def klein(value_map, v):
    if value_map == "polar":
        return np.tanh(v[..., -1:]) * v[..., :-1] / np.linalg.norm(v[..., :-1], axis=-1, keepdims=True)
    if value_map == "lift":
        return v / np.sqrt(1 + (v * v).sum(-1, keepdims=True))
    return v


def aggregate(kind, weights, points):
    if kind == "mean":
        return weights @ points
    gamma = 1 / np.sqrt(1 - (points * points).sum(-1, keepdims=True))
    return weights @ (gamma * points) / (weights @ gamma)


class Weights(ProgramTest):
    def tensors(self, dtype="f8"):
        random = np.random.default_rng(3)
        q, k = (random.standard_normal((2, n, 5)).astype(dtype) for n in (12, 17))
        return q, k, random.uniform(-.5, .5, (2, 17, 4)).astype(dtype)

    def attend(self, tensors, *options, out="out.h5"):
        return super().attend(self.write(**tensors), *options, out=out)

    def options(self, law, value_map, kind):
        choice = ("-p", "axis=query") if law == "query" else ()
        weights = law if law in ("sigmoid", "exp") else "softmax"
        return ("-s", "dot", "--weights", weights, *choice, "--value-map", value_map, "--aggregate",
                kind, *KEEP)

    def test_equal_numpy_in_every_type(self):
        tolerance = {"f64": 1e-13, "f32": 1e-5, "bf16": 0.05}
        for law, value_map, kind in itertools.product(
                ("key", "query", "sigmoid", "exp"), ("none", "polar", "lift"), ("mean", "einstein")):
            for dtype, bound in tolerance.items():
                with self.subTest(law=law, value_map=value_map, kind=kind, dtype=dtype):
                    q, k, v = self.tensors()
                    found = self.attend({"q": q, "k": k, "v": v}, "--dtype", dtype,
                                        *self.options(law, value_map, kind))
                    logits = q @ k.transpose(0, 2, 1) / np.sqrt(5)
                    weights = weigh(law, logits)
                    output = aggregate(kind, weights, klein(value_map, v))
                    size = max(1, np.abs(weights).max())
                    for place, expected in (("logits/logit", logits), ("weights/weight", weights),
                                            ("output/output", output)):
                        numbers = numbers_of(found[place])[0]
                        self.assertEqual(numbers.shape, expected.shape, place)
                        self.assertLess(np.abs(numbers - expected).max(), bound * size, place)
                    sums = np.log((np.exp(logits) if law == "key" else weights).sum(-1))
                    self.assertLess(np.abs(numbers_of(found["output/lse"])[0] - sums).max(), bound)
                    self.assertEqual(found["gradients/v"].shape, (1, *v.shape))
                    self.assertTrue(np.isfinite(numbers_of(found["gradients/v"])).all())

    def test_gradients_are_those_of_finite_differences(self):
        for law, value_map in (("query", "polar"), ("exp", "lift")):
            q, k, v = self.tensors()
            options = self.options(law, value_map, "einstein")
            columns = klein(value_map, v).shape[-1]
            upstream = np.random.default_rng(5).standard_normal((2, 12, columns))
            found = self.attend({"q": q, "k": k, "v": v, "output_grad": upstream}, *options)

            def loss(q, k, v):
                logits = q @ k.transpose(0, 2, 1) / np.sqrt(5)
                output = aggregate("einstein", weigh(law, logits), klein(value_map, v))
                return (output * upstream).sum()
            for which, name in enumerate("qkv"):
                gradient = numbers_of(found[f"gradients/{name}"])[0]
                for at in ((0, 1, 2), (1, 9, 3)):
                    moved = [[q.copy(), k.copy(), v.copy()] for _ in range(2)]
                    moved[0][which][at] += 1e-5
                    moved[1][which][at] -= 1e-5
                    slope = (loss(*moved[0]) - loss(*moved[1])) / 2e-5
                    self.assertAlmostEqual(gradient[at], slope, delta=1e-8, msg=f"{law} {name} {at}")

    def test_the_call_is_in_the_file_and_comes_back(self):
        q, k, v = self.tensors()
        found = self.attend({"q": q, "k": k, "v": v}, *self.options("query", "polar", "einstein"))
        self.assertEqual(found.attrs["call"], "dot:value_map=polar:aggregate=einstein:axis=query")
        self.assertIn('"value_map":"polar"', found.attrs["spec"].replace(" ", ""))
        again = self.attend({"q": q, "k": k, "v": v}, "--operator", found.attrs["call"], *KEEP,
                            out="again.h5")
        np.testing.assert_array_equal(again["output/output"][()], found["output/output"][()])
        text = self.ok("inspect", self.folder / "again.h5").out
        self.assertIn("output", text)

    def test_wrong_calls_are_refused_in_a_line(self):
        q, k, v = self.tensors()
        source = self.folder / "in.h5"
        self.attend({"q": q, "k": k, "v": v[..., :1]}, "-s", "dot")
        out = ("-o", self.folder / "none.h5", "-s", "dot")
        self.fails(1, "attend", source, *out, "--value-map", "polar", says="found d_v = 1")
        self.fails(2, "attend", source, *out, "--value-map", "poler", says="polar")
        self.fails(2, "attend", source, *out, "-p", "axis=queries", says="query")
        self.fails(2, "attend", source, *out, "--weights", "exp", "-p", "axis=query", says="axis")
        self.attend({"q": q, "k": k, "v": v, "output_grad": np.ones((2, 12, 4))}, "-s", "dot")
        self.fails(1, "attend", source, *out, "--value-map", "polar", "--keep", "gradients",
                   says="output_grad")

    def test_a_benchmark_measures_them(self):
        self.ok("bench", "-o", self.folder / "b.h5", "--operators",
                "dot:axis=query,dot:weights=exp,hyperbolic:value_map=polar:aggregate=einstein",
                "--lengths", "64", "--dims", "8", "--heads", "1", "--passes", "forward,backward",
                "--rounds", "1", "--threads", "1")
        with h5py.File(self.folder / "b.h5") as file:
            self.assertTrue((file["bench/runtime/status"][()] == 0).all())
            self.assertLess(np.nanmax(file["bench/runtime/error"][()]), 1e-2)


if __name__ == "__main__":
    unittest.main()
