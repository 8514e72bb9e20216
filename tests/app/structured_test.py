"""`attend` with structured operators, against plain numpy."""
import json
import re
import unittest

import h5py
import numpy as np

from attend_test import random_tensors
from program import TRACE, ProgramTest, softmax


class Structured(ProgramTest):
    def test_a_structured_operator_reads_q_alone_and_has_no_weights(self):
        q, k, v = random_tensors()
        d = q.shape[-1]
        draw = [word for name in ("P", "Q", "W_reference", "W_query")
                for word in ("-p", f"{name}=random")]
        source = self.write(q=q, k=k, v=v)
        text = self.ok("attend", source, "--operator", "agglomerative", *draw, "-p",
                       f"classes={1 if d % 2 else 2}", "-o", self.folder / "a.h5", "--keep",
                       "output,weights,gradients")
        self.assertIn("has no weights: left out", text.err)
        with h5py.File(self.folder / "a.h5") as file:
            self.assertNotIn("weights", file["attention"])
            self.assertEqual(file["attention/output/output"].shape[-2:], q.shape[-2:])
            self.assertEqual(file["attention/gradients/P"].shape, (d, d))
            self.assertNotIn("k", file["attention/gradients"])
            ones = file["attention/gradients/q"][()]
        twice = self.write("twice.h5", q=q, output_grad=np.full_like(q, 2))
        self.ok("attend", twice, "--operator", "agglomerative", *draw, "-p",
                f"classes={1 if d % 2 else 2}", "-o", self.folder / "b.h5", "--keep", "gradients")
        with h5py.File(self.folder / "b.h5") as file:
            np.testing.assert_allclose(file["attention/gradients/q"][()], 2 * ones, rtol=1e-4)

    def test_volume_preserving_equals_numpy(self):
        q = random_tensors(d=6)[0].astype("f8")
        A = np.random.default_rng(2).standard_normal((6, 6))
        A -= A.T
        source = self.write(q=q, A=A)
        skew = ("--operator", "volume-preserving", "-p", "weighting=skew")
        linear = self.attend(source, *skew, out="linear.h5")
        cubic = self.attend(source, *skew, "-p", "form=cubic", "--keep", "weights", out="cubic.h5")
        one = np.eye(q.shape[1])
        C = q @ A @ q.transpose(0, 2, 1)
        weights = ((one - C) @ np.linalg.inv(one + C)).transpose(0, 2, 1)
        np.testing.assert_allclose(cubic["weights/weight"][0], weights, atol=1e-11)
        for found in (linear, cubic):
            np.testing.assert_allclose(found["output/output"][0], weights @ q, atol=1e-11)
        self.assertEqual(linear["parameters/form"].asstr()[()], "linear")
        text = self.ok("attend", source, *skew, "--keep", "weights,logits", "-o",
                       self.folder / "kept.h5").err
        self.assertIn("volume-preserving has no weights (-p form=cubic has them): left out", text)
        self.assertIn("volume-preserving has no logits: left out", text)
        A[4, 2] += 1
        self.fails(1, "attend", self.write("bad.h5", q=q, A=A), *skew, "-o",
                   self.folder / "bad-out.h5", says="A[2,4] = -A[4,2]")
        self.assertFalse((self.folder / "bad-out.h5").exists())

    def test_a_determinant_is_kept_for_each_head(self):
        q, k, _ = (t.astype("f8") for t in random_tensors(n=6, d=4))
        source = self.write(q=q)
        volume = ("--operator", "volume-preserving", "-p", "A=random", "--keep", "determinant")
        skew = self.attend(source, *volume, "-p", "weighting=skew", out="skew.h5")
        np.testing.assert_allclose(skew["output/determinant"][()], np.ones((1, 2)), atol=1e-10)
        arbitrary = self.attend(source, *volume, out="arbitrary.h5")["output/determinant"][()]
        self.assertGreater(abs(abs(arbitrary) - 1).min(), 1e-6)
        dot = self.attend(source, "-s", "dot", "--keep", "determinant", out="dot.h5")
        self.assertLess(abs(dot["output/determinant"][()]).max(), 1)

        other = self.write("other.h5", q=q, k=k, v=k[..., :3])
        text = self.ok("attend", other, "-s", "dot", "-o", self.folder / "other-out.h5", "--keep",
                       "determinant")
        self.assertIn("dot has no determinant (its Jacobian is not square: q is [1, 2, 6, 4], the "
                      "output [1, 2, 6, 3]): left out", text.err)
        large = self.write("large.h5", q=np.ones((65, 64)))
        self.fails(2, "attend", large, *volume, "-o", self.folder / "large-out.h5",
                   says=("at most 4096", "65 x 64"))

    def test_one_head_of_an_input_is_read_alone(self):
        q, k, v = random_tensors()
        numbers = np.random.default_rng(3)
        W = numbers.normal(size=(2, 8, 8))
        P = {name: numbers.normal(size=(3, 8, 8)) / 8 for name in ("P_query", "P_key", "P_value")}
        grad = numbers.normal(size=q.shape)
        for words, more, more_of_one in (
                (("-s", "multiplicative", "--keep", "weights,gradients"), {"W": W}, {"W": W[1]}),
                (("--operator", "multi-head", "--keep", "weights", "-p", "P_output=random"), P, P)):
            both = self.write("both.h5", q=q, k=k, v=v, output_grad=grad, **more)
            one = self.write("one.h5", q=q[1:], k=k[1:], v=v[1:], output_grad=grad[1:], **more_of_one)
            a = self.attend(both, *words, "--head", "1", out=words[1] + "-a.h5")
            b = self.attend(one, *words, out=words[1] + "-b.h5")
            self.assertEqual(a["output/output"].shape, (1, 1, 40, 8))
            for name in ("output/output", "output/lse", "weights/weight"):
                np.testing.assert_array_equal(a[name][()], b[name][()])
        self.assertEqual(json.loads(a.attrs["spec"])["head"], 1)
        for head in ("2", "-1"):
            self.fails(2, "attend", both, "-s", "dot", "--head", head, "-o", self.folder / "c.h5",
                       says=f"--head {head}: there is none (the input has 2, counted from 0)")
        # The layers of the trace that ships have 12 heads.
        draw = [word for name in P for word in ("-p", f"{name}=random")]
        layer = ("attend", f"{TRACE}:/german/layer3", "--operator", "recursive", *draw, "-p", "heads=4",
                 "-o", self.folder / "d.h5")
        self.fails(1, *layer, says="must have one (found 12; choose one, as by `conelab attend --head 0`)")
        self.ok(*layer, "--head", "3")

    def test_one_head_has_the_numbers_that_the_whole_input_gives_it(self):
        q, k, v = random_tensors(heads=3)
        source = self.write(q=q, k=k, v=v)
        for i, words in enumerate((
                ("-s", "dot", "--bias", "alibi"), ("-s", "penumbral", "-p", "gamma=1,2,4"),
                ("-s", "multiplicative", "-p", "W=random", "-p", "seed=5", "--mask", "graph", "-p", "edge=random"),
                ("--operator", "star", "-p", "scale=.3,.2,.1"))):
            whole = self.attend(source, *words, out=f"whole{i}.h5")
            for head in (0, 2):
                one = self.attend(source, *words, "--head", str(head), out=f"one{i}{head}.h5")
                np.testing.assert_array_equal(one["output/output"][0, 0], whole["output/output"][0, head])
        self.fails(2, "attend", source, "-s", "dot", "-p", "scale=1,2", "--head", "1", "-o",
                   self.folder / "no.h5", says="a list gives one value per head (expected 3, found 2)")

    def test_multi_head_makes_heads_of_tokens_with_one(self):
        q, k, v = random_tensors(heads=1)
        numbers = np.random.default_rng(9)
        P = {name: numbers.normal(size=shape) / 3
             for name, shape in (("P_query", (4, 3, 8)), ("P_key", (4, 3, 8)),
                                 ("P_value", (4, 2, 8)), ("P_output", (5, 8)))}
        source = self.write(q=q, k=k, v=v, **P)
        found = self.attend(source, "--operator", "multi-head", "-p", "scale=0.5,1,1.5,2",
                            "--keep", "weights,logits,gradients")
        tokens = [np.einsum("id,hed->hie", x[0], P[name])
                  for x, name in ((q, "P_query"), (k, "P_key"), (v, "P_value"))]
        logits = np.einsum("h,hie,hje->hij", [.5, 1, 1.5, 2], tokens[0], tokens[1])
        heads = softmax(logits) @ tokens[2]
        output = np.concatenate(list(heads), axis=1) @ P["P_output"].T
        self.assertEqual(found["output/output"].shape, (1, 1, 40, 5))
        np.testing.assert_allclose(found["output/output"][0, 0], output, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found["logits/logit"][0], logits, rtol=1e-3, atol=1e-4)
        self.assertEqual(found["weights/weight"].shape, (1, 4, 40, 40))
        self.assertEqual(found["output/lse"].shape, (1, 4, 40))
        self.assertEqual(found["gradients/q"].shape, (1, 1, 40, 8))
        self.assertEqual(found["gradients/scale"].shape, (4,))
        for name, tensor in P.items():
            self.assertEqual(found[f"gradients/{name}"].shape, tensor.shape)
        two = random_tensors()[0]
        self.fails(1, "attend", self.write("two.h5", q=two, **P), "--operator", "multi-head", "-o",
                   self.folder / "no.h5", says="q, k and v must have one (found 2;")

    def test_classes_that_are_drawn_divide_the_columns(self):
        draw = [word for name in ("P", "Q", "W_reference", "W_query") for word in ("-p", f"{name}=random")]
        for d, classes in ((6, 2), (7, 1), (32, 8)):
            source = self.write("drawn.h5", q=random_tensors(d=d)[0])
            found = self.attend(source, "--operator", "agglomerative", *draw, out="classes.h5")
            self.assertEqual(found["parameters/W_query"].shape, (d, classes))

    def test_refusals_name_options(self):
        source = self.write(q=random_tensors()[0])
        out = ("-o", self.folder / "no.h5")
        self.fails(2, "attend", source, "--operator", "star", "--value-map", "lift", *out,
                   says="star does not combine with value-map lift")
        self.fails(2, "attend", source, "--operator", "star", "--similarity", "dot", *out,
                   says="star does not combine with similarity dot")
        self.fails(2, "attend", source, "--operator", "multi-head", "-s", "umbrall", *out,
                   says="did you mean 'umbral'?")
        self.fails(2, "attend", source, "--operator", "random", "-p", "R=random", "--bias", "alibi", *out,
                   says="position sinusoidal, weights, value-map, aggregate, and parameters")
        self.fails(2, "attend", source, "--operator", "random", "-p", "R=random", "-p", "rank=3", *out,
                   says="random reads rank where it takes R_query and R_key (found R)")

    def test_a_missing_log_sum_exp_is_named_where_it_is_asked_for(self):
        source = self.write(q=random_tensors()[0])
        star = ("attend", source, "--operator", "star", "-o", self.folder / "star.h5")
        self.assertIn("star has no lse: left out", self.ok(*star, "--keep", "output,lse,weights").err)
        self.assertNotIn("left out", self.ok(*star).err)

    def test_relation_network_reads_no_values(self):
        q, k, v = random_tensors(d=4)
        draw = [word for name in ("W_query", "W_key", "W_out") for word in ("-p", f"{name}=random")]
        found = [self.attend(self.write(name, **tensors), "--operator", "relation-network", *draw,
                             out="of_" + name)["output/output"][()]
                 for name, tensors in (("keys.h5", {"q": q, "k": k[:, :25]}),
                                       ("values.h5", {"q": q, "k": k[:, :25], "v": v[:, :7]}))]
        self.assertEqual(found[0].shape[-2], q.shape[-2])
        np.testing.assert_array_equal(found[0], found[1])
        said = self.ok("attend", self.folder / "values.h5", "--operator", "relation-network", *draw, "--v",
                       "values", "-o", self.folder / "no_values.h5").err
        self.assertIn("--v values: relation-network does not read it", said)

    def test_a_mask_beside_q_applies_to_operators_that_combine_with_it(self):
        q, k, _ = random_tensors(heads=1)
        mask = np.tril(np.ones((40, 40), dtype="u1"))
        draw = [word for name in ("P_query", "P_key", "P_value") for word in ("-p", f"{name}=random")]
        own, plain = self.write("own.h5", q=q, mask=mask), self.write("plain.h5", q=q)
        recursive = ("--operator", "recursive", *draw)
        causal = self.attend(plain, *recursive, "--mask", "causal", out="causal.h5")
        for words in ((), ("--mask", "explicit")):
            found = self.attend(own, *recursive, *words, out="found.h5")
            np.testing.assert_array_equal(found["output/output"][()], causal["output/output"][()])
            self.assertEqual(json.loads(found.attrs["spec"])["call"]["masks"], ["explicit"])
        star = self.attend(own, "--operator", "star", out="star.h5")  # It reads no mask.
        for source, says in ((own, True), (plain, False)):
            warned = self.ok("attend", source, "--operator", "star", "-o", self.folder / "warned.h5").err
            self.assertEqual("star takes no mask of a file; the one beside q is not read" in warned, says)
        np.testing.assert_array_equal(star["output/output"][()], self.attend(
            plain, "--operator", "star", out="plain-star.h5")["output/output"][()])
        self.fails(2, "attend", own, "--operator", "star", "--mask", "explicit", "-o",
                   self.folder / "no.h5", says="star does not combine with mask explicit (it takes: full)")

    def test_random_logits_are_the_same_in_figures_and_benchmarks(self):
        q, k, v = random_tensors()
        logits = np.random.default_rng(2).normal(size=(q.shape[1], k.shape[1]))
        np.save(self.folder / "R.npy", logits)
        plain, source = self.write(q=q, k=k, v=v), self.write("with_R.h5", q=q, k=k, v=v, R=logits)
        result = self.folder / "weights.h5"
        self.ok("attend", source, "-o", result, "--operator", "random", "--keep", "weights")
        of_file = f"random:R=@{self.folder}/R.npy"

        def picture(path, *words):
            svg = self.folder / "map.svg"
            self.ok("figure", "heatmap", "-o", svg, "-i", path, *words)
            return re.findall(r'base64,([^"]+)"', re.sub("@font-face.*", "", svg.read_text()))
        expected = picture(result, "-p", "head=1")
        self.assertEqual(picture(source, "-p", "head=1", "-p", "similarities=random"), expected)
        self.assertEqual(picture(plain, "-p", "head=1", "-p", f"similarities={of_file}"), expected)
        self.assertNotEqual(picture(plain, "-p", "similarities=random:R=random"), expected)
        for words in (["-p", f"similarities={of_file}", "-p", "join=mean"],):
            self.assertEqual(picture(plain, *words), expected)
        self.ok("figure", "heads", "-o", self.folder / "heads.svg", "-i", plain, "-p", f"similarities={of_file}")
        found = self.ok("bench", "-o", self.folder / "b.h5", "--operators", f"random:R=random,{of_file}",
                        "--lengths", str(q.shape[1]), "--dims", "8", "--heads", "2", "--rounds", "2",
                        "--warm-only", "--json").json()
        for case in found["cases"]:
            self.assertEqual(case["status"], "ok", case)
            self.assertLess(case["error"], 1e-4)

    def test_random_logits_come_from_tensors_that_are_drawn(self):
        q, k, v = random_tensors()
        source = self.write(q=q, k=k, v=v)
        full = self.attend(source, "--operator", "random", "-p", "R=random", "--keep",
                           "logits,gradients", out="full.h5")
        np.testing.assert_array_equal(full["logits/logit"][0, 1], full["parameters/R"])
        self.assertEqual(full["gradients/R"].shape, (40, 40))
        self.assertEqual(np.abs(full["gradients/q"]).max(), 0)
        factors = self.attend(source, "--operator", "random", "-p", "R_query=random", "-p",
                              "R_key=random", "-p", "rank=3", "--keep", "weights", out="low.h5")
        logits = factors["parameters/R_query"][()] @ factors["parameters/R_key"][()].T
        np.testing.assert_allclose(factors["weights/weight"][0, 0], softmax(logits), rtol=1e-3)
        self.fails(1, "attend", source, "--operator", "random", "-o", self.folder / "no.h5",
                   says="R_query [n_q x rank]")


if __name__ == "__main__":
    unittest.main()
