"""Traces of models, as conelab.trace records them: what commands take from them, and what they say."""
import unittest

import h5py
import numpy as np

from program import ProgramTest, softmax


class Recorded(ProgramTest):
    def output(self, source, *options):
        return self.attend(source, *options)["output/output"][0]

    def recorded(self, name="recorded.h5", more={}, **attributes):
        """A trace as conelab.trace records it: of a model whose logits are not those of the default."""
        numbers = np.random.default_rng(1)
        q, k, v = (numbers.standard_normal((2, 12, 8)).astype("f4") for _ in range(3))
        bias = numbers.standard_normal((2, 1, 12)).astype("f4")
        path = self.write(name, **{"q": q, "k": k, "v": v, "bias": bias, **more})
        with h5py.File(path, "a") as file:
            file.attrs.update({"similarity": "dot", "scale": 1.0, "soft_cap": 2.0, "bias": "explicit",
                               **attributes})
        logits = 2 * np.tanh((q @ k.swapaxes(1, 2) + bias) / 2)
        return path, softmax(logits) @ v, softmax(np.tanh(q @ k.swapaxes(1, 2))) @ v

    def test_computes_what_the_model_did(self):
        path, expected, other = self.recorded()
        for options in ((), ("-s", "dot"), ("--similarity", "dot", "-p", "scale=1")):
            found = self.output(path, *options)
            np.testing.assert_allclose(found, expected, atol=2e-6)
        found = self.output(path, "-s", "dot", "--bias", "none", "-p", "soft_cap=1")
        np.testing.assert_allclose(found, other, atol=2e-6)

    def test_names_what_another_similarity_leaves_out(self):
        path = self.recorded()[0]
        said = self.ok("attend", path, "-o", self.folder / "out.h5", "-s", "penumbral").err
        self.assertIn("penumbral is computed without soft_cap = 2 and bias explicit, with which the "
                      "input was made for dot", said)
        self.assertEqual(len(said.splitlines()), 1)
        sunk = self.recorded("sunk.h5", {"sinks": np.ones(2, "f4")})[0]
        said = self.ok("attend", sunk, "-o", self.folder / "out.h5", "-s", "penumbral").err
        self.assertIn("made for dot, and takes its sinks", said)
        figure = ("figure", "heatmap", "-o", self.folder / "out.svg", "-i", path, "-p")
        said = self.ok(*figure, "similarities=dot,penumbral").err
        self.assertIn("penumbral is computed without soft_cap = 2 and bias explicit", said)
        self.assertIn("dot takes what is not given from it", said)
        self.assertIn("soft_cap = 2", (self.folder / "out.svg").read_text())

    def test_says_where_an_operator_leaves_its_own_numbers(self):
        path = self.recorded()[0]
        for options, remarks in ((("-s", "dot"), 0), (("-s", "dot", "--bias", "none"), 0), (("--operator", "dot"), 1)):
            said = self.ok("tree", path, "-o", self.folder / "tree.h5", *options).err
            self.assertEqual(said.count("--similarity dot takes what is not given from it"), remarks, said)

    def test_a_similarity_with_parameters_is_an_operator(self):
        path = self.recorded()[0]
        for command in ("attend", "tree"):
            self.fails(2, command, path, "-o", self.folder / "out.h5", "-s", "dot:position=rope",
                       says="or all by --operator dot:position=rope")

    def test_of_a_layer_that_is_not_exact_says_so(self):
        path = self.recorded(exact=np.int64(0), model="bert")[0]
        out = self.folder / "out.svg"
        for command in (("attend", path, "-o", self.folder / "out.h5"), ("tree", path, "-o", self.folder / "tree.h5"),
                        ("figure", "heatmap", "-o", out, "-i", path)):
            said = self.ok(*command).err
            self.assertIn(f"{path}: attention differs from what the model computed (exact = 0)", said)
        self.assertIn("bert, exact = 0, head 0", out.read_text())
        self.assertIn("@exact = 0", self.ok("inspect", path).out)


if __name__ == "__main__":
    unittest.main()
