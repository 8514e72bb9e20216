"""`attend`: results against plain numpy, the contract of the file, and every wrong input."""
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import unittest

import h5py
import numpy as np

from program import PATIENCE, ROOT, TRACE, ProgramTest, computes, softmax, start

GERMAN = f"{TRACE}:/german/layer3"


def random_tensors(heads=2, n=40, d=8, seed=1, dtype="f4"):
    numbers = np.random.default_rng(seed)
    return [numbers.standard_normal((heads, n, d)).astype(dtype) for _ in range(3)]


class Results(ProgramTest):
    def test_dot_equals_numpy(self):
        q, k, v = (t.astype("f8") for t in random_tensors())
        source = self.write(q=q, k=k, v=v)
        found = self.attend(source, "-s", "dot", "--keep", "output,lse,weights,logits")
        logits = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        np.testing.assert_allclose(found["logits/logit"][0], logits, atol=1e-13)
        np.testing.assert_allclose(found["weights/weight"][0], softmax(logits), atol=1e-13)
        np.testing.assert_allclose(found["output/output"][0], softmax(logits) @ v, atol=1e-13)
        np.testing.assert_allclose(found["output/lse"][0], np.log(np.exp(logits).sum(-1)), atol=1e-13)

    def test_umbral_equals_numpy_with_one_gamma_per_head(self):
        q, k, v = (t.astype("f8") for t in random_tensors())
        source = self.write(q=q, k=k, v=v)
        found = self.attend(source, "-s", "umbral", "-p", "gamma=1,3", "-p", "radius=0.5", "--keep",
                            "logits")
        place = [(t[..., :-1] * np.exp(t[..., -1:]), np.exp(t[..., -1])) for t in (q, k)]
        (x, a), (y, b) = place
        distance = np.linalg.norm(x[:, :, None] - y[:, None], axis=-1)
        height = distance / (2 * np.sinh(0.5)) + (a[:, :, None] + b[:, None]) / 2
        height = np.maximum(height, np.maximum(a[:, :, None], b[:, None]))
        expected = -np.array([1, 3])[:, None, None] * height
        np.testing.assert_allclose(found["logits/logit"][0], expected, rtol=1e-12)
        np.testing.assert_array_equal(found["parameters/gamma"][()], [1, 3])

    def test_causal_mask_and_file_mask(self):
        q, k, v = random_tensors()
        n = q.shape[1]
        plain = self.write(q=q, k=k, v=v)
        masked = self.write("masked.h5", q=q, k=k, v=v, mask=np.tril(np.ones((n, n), "u1")))
        options = ("-s", "penumbral", "--keep", "weights")
        causal = self.attend(plain, *options, "--mask", "causal", out="a.h5")
        explicit = self.attend(masked, *options, out="b.h5")
        np.testing.assert_array_equal(causal["weights/weight"], explicit["weights/weight"])
        said = self.ok("attend", masked, "-o", self.folder / "c.h5", "-s", "dot").out
        self.assertIn("under the input's mask", said)
        self.assertEqual(np.triu(causal["weights/weight"][0, 0], 1).max(), 0)

    def test_an_operator_may_be_a_call_as_one_word(self):
        source = self.write(q=random_tensors()[0])
        options = ("--keep", "weights")
        self.attend(source, "-s", "umbral", "-p", "gamma=1,3", "-p", "radius=0.5", "--mask", "causal",
                    "--bias", "alibi", *options, out="a.h5")
        words = ("umbral:gamma=1,3:radius=0.5:masks=causal:bias=alibi",
                 "umbral:gamma=1,3:mask=causal:bias=alibi")
        self.attend(source, "--operator", words[0], *options, out="b.h5")
        self.attend(source, "--operator", words[1], "-p", "radius=0.5", "--mask", "causal", *options,
                    out="c.h5")
        first = (self.folder / "a.h5").read_bytes()
        self.assertEqual((self.folder / "b.h5").read_bytes(), first)
        self.assertEqual((self.folder / "c.h5").read_bytes(), first)

    def test_a_word_and_an_option_must_not_disagree(self):
        source = self.write(q=random_tensors()[0])
        for word, *option in (("dot:masks=causal", "--mask", "full"), ("dot:bias=alibi", "--bias", "none"),
                              ("laplacian:gamma=2", "-p", "gamma=3")):
            self.fails(2, "attend", source, "-o", self.folder / "out.h5", "--operator", word, *option,
                       says=["--operator " + word, option[0]])
        for word, says in (("dot:masks=casual", "causal"), ("dot:masks", "KEY=VALUE"), ("dott", "'dot'"),
                           ("dot:gamma=2", "gamma"), ("dot:scale=1:scale=2", "twice")):
            self.fails(2, "attend", source, "-o", self.folder / "out.h5", "--operator", word, says=says)
        self.assert_clean("in.h5")

    def test_padding_lengths(self):
        q, k, v = (t[None] for t in random_tensors())
        source = self.write(q=np.concatenate([q, q]), k=np.concatenate([k, k]),
                            v=np.concatenate([v, v]))
        found = self.attend(source, "-s", "dot", "--mask", "padding", "--lengths", "40,7", "--keep",
                            "weights")["weights/weight"]
        self.assertEqual(found[1, :, :, 7:].max(), 0)
        self.assertGreater(found[0, :, :, 7:].max(), 0)
        both = [self.attend(source, "-s", "dot", "--mask", masks, "--lengths", "40,7", "--keep", "weights")
                for masks in ("causal,padding", "causal+padding")]
        np.testing.assert_array_equal(both[0]["weights/weight"], both[1]["weights/weight"])
        self.assertEqual(np.triu(both[1]["weights/weight"][0, 0], 1).max(), 0)

    def test_gradients_by_finite_differences(self):
        q, k, v = (t.astype("f8") for t in random_tensors(heads=1, n=6, d=3))
        upstream = np.random.default_rng(2).standard_normal((1, 6, 3))
        options = ("-s", "umbral", "-p", "gamma=0.7", "--keep", "output,gradients")
        found = self.attend(self.write(q=q, k=k, v=v, output_grad=upstream), *options)
        gradient = found["gradients/q"][0, 0]

        def loss(query):
            out = self.attend(self.write("moved.h5", q=query, k=k, v=v), *options, out="moved-out.h5")
            return (out["output/output"][0] * upstream).sum()
        step = 1e-5
        for at in [(0, 0, 0), (0, 3, 2)]:
            up, down = q.copy(), q.copy()
            up[at] += step
            down[at] -= step
            numeric = (loss(up) - loss(down)) / (2 * step)
            self.assertAlmostEqual(gradient[at[1:]], numeric, delta=1e-7)
        self.assertEqual(found["gradients/gamma"].shape, ())

    def test_dtypes_round_inputs_and_results(self):
        q, k, v = random_tensors()
        source = self.write(q=q, k=k, v=v)
        exact = self.attend(source, "-s", "dot", "--dtype", "f64", out="f64.h5")["output/output"][()]
        for dtype, bound in (("f32", 1e-6), ("f16", 5e-3), ("bf16", 4e-2)):
            found = self.attend(source, "-s", "dot", "--dtype", dtype, out=f"{dtype}.h5")
            output = found["output/output"][()]
            if dtype == "bf16":
                self.assertEqual(output.dtype, np.uint16)
                output = (output.astype("u4") << 16).view("f4")
            error = np.abs(output.astype("f8") - exact).max()
            self.assertLess(error, bound, dtype)
            self.assertGreater(error, 0, dtype)

    def test_logits_of_half_types_keep_their_digits(self):
        q, k, v = random_tensors()
        source = self.write(q=100 * q, k=1000 * k, v=v)
        for dtype in ("f16", "bf16"):
            found = self.attend(source, "-s", "dot", "--dtype", dtype, "--keep", "logits",
                                out=f"{dtype}.h5")
            logits = found["logits/logit"]
            self.assertEqual(logits.dtype, np.float32)
            self.assertTrue(np.isfinite(logits[()]).all())
            self.assertGreater(np.abs(logits[()]).max(), 65504)

    def test_rows_out_of_float32s_reach_are_nan_and_the_advice_is_float64(self):
        q, k, v = random_tensors()
        q[..., -1] += 60  # heights e^60
        source = self.write(q=q, k=k, v=v)
        exact = self.attend(source, "-s", "umbral", "--dtype", "f64", out="f64.h5")
        self.assertTrue(np.isfinite(exact["output/output"][()]).all())
        text = self.ok("attend", source, "-s", "umbral", "--dtype", "f32", "-o",
                       self.folder / "f32.h5", "--keep", "output,gradients")
        self.assertIn("output numbers are not finite", text.err)
        self.assertIn("--dtype f64", text.err)
        q[..., -1] = 400  # beyond float64
        text = self.ok("attend", self.write("far.h5", q=q, k=k, v=v), "-s", "umbral", "-o",
                       self.folder / "far-out.h5")
        self.assertIn("output numbers are not finite", text.err)

    def test_tensor_parameters_come_from_the_file_from_npy_or_are_drawn(self):
        q, k, v = random_tensors()
        W = np.random.default_rng(5).normal(size=(q.shape[-1], q.shape[-1]))
        beside = self.attend(self.write(q=q, k=k, v=v, W=W), "-s", "multiplicative", "--keep",
                             "logits,gradients", out="beside.h5")
        scores = np.einsum("...id,de,...je->...ij", q, W, k)
        np.testing.assert_allclose(beside["logits/logit"][()].reshape(scores.shape), scores,
                                   rtol=1e-3, atol=1e-4)
        self.assertEqual(beside["gradients/W"].shape, W.shape)
        np.save(self.folder / "W.npy", W)
        plain = self.write("plain.h5", q=q, k=k, v=v)
        given = self.attend(plain, "-s", "multiplicative", "-p", f"W=@{self.folder / 'W.npy'}",
                            out="given.h5")
        np.testing.assert_array_equal(given["output/output"][()], beside["output/output"][()])
        drawn = self.attend(plain, "-s", "multiplicative", "-p", "W=random", "-p", "seed=7",
                            out="drawn.h5")
        self.assertEqual(drawn["parameters/W"].shape, W.shape)
        np.save(self.folder / "U.npy", np.ones((5, q.shape[-1])))
        mixed = self.attend(plain, "-s", "additive", "-p", "W=random", "-p", "v_a=random", "-p",
                            f"U=@{self.folder / 'U.npy'}", out="mixed.h5")
        self.assertEqual(mixed["parameters/W"].shape, (5, q.shape[-1]))
        self.assertEqual(mixed["parameters/v_a"].shape, (5,))
        self.fails(1, "attend", plain, "-s", "multiplicative", "-o", self.folder / "missing.h5",
                   says="tensor W [d x d]")
        self.fails(2, "attend", plain, "-s", "multiplicative", "-p", "W=random", "-p", "seed=x", "-o",
                   self.folder / "none.h5", says="parameter seed")

    def test_soft_cap_sinks_and_bias_equal_numpy(self):
        q, k, v = (t.astype("f8") for t in random_tensors(n=12))
        numbers = np.random.default_rng(2)
        bias, sinks = numbers.standard_normal((2, 1, 12)), np.array([0.5, -1.0])
        logits = 2 * np.tanh((q @ k.transpose(0, 2, 1) / np.sqrt(8) + bias) / 2)
        total = np.exp(logits).sum(-1, keepdims=True) + np.exp(sinks)[:, None, None]
        for name, array in (("bias", bias), ("sinks", sinks)):
            np.save(self.folder / f"{name}.npy", array)
        beside = self.write("beside.h5", q=q, k=k, v=v, bias=bias, sinks=sinks)
        plain = self.write("plain.h5", q=q, k=k, v=v)
        files = ("-p", f"sinks=@{self.folder}/sinks.npy")
        for source, options in (
                (beside, ("--bias", "explicit")),
                (plain, ("--bias", "explicit", "-p", f"bias=@{self.folder}/bias.npy", *files)),
                (plain, ("--bias", f"@{self.folder}/bias.npy", *files))):
            found = self.attend(source, "-s", "dot", "-p", "soft_cap=2", *options, "--keep",
                                "output,lse,weights,logits,gradients")
            np.testing.assert_allclose(found["logits/logit"][0], logits, atol=1e-13)
            np.testing.assert_allclose(found["weights/weight"][0], np.exp(logits) / total, atol=1e-13)
            np.testing.assert_allclose(found["output/output"][0], np.exp(logits) / total @ v, atol=1e-13)
            np.testing.assert_allclose(found["output/lse"][0], np.log(total)[..., 0], atol=1e-13)
            for name, shape in (("bias", bias.shape), ("sinks", (2,)), ("soft_cap", ())):
                self.assertEqual(found[f"gradients/{name}"].shape, shape)
            self.assertEqual(float(found["parameters/soft_cap"][()]), 2)
        for options, says in (((), True), (("--bias", "explicit"), False)):
            warned = self.ok("attend", beside, "-s", "dot", *options, "-o", self.folder / "w.h5").err
            self.assertEqual("the bias beside q is not read (--bias explicit adds it)" in warned, says)

    def test_what_caps_sinks_and_biases_do_not_combine_with_is_one_line(self):
        source = self.write(q=random_tensors()[0])
        for options, text in ((("-p", "sinks=random", "-p", "axis=query"), "axis=key"),
                              (("-p", "sinks=random", "--weights", "sigmoid"), "sinks"),
                              (("-p", "soft_cap=0"), "soft_cap"),
                              (("-p", "soft_cap=1,2,3"), "one value per head")):
            self.fails(2, "attend", source, "-o", self.folder / "o.h5", "-s", "dot", *options, says=text)
        bad = self.write("bad.h5", q=random_tensors()[0], bias=np.zeros((40, 39), "f4"))
        for path, text in ((source, "needs tensor bias"), (bad, "sizes of the pairs")):
            self.fails(1, "attend", path, "-o", self.folder / "o.h5", "-s", "dot", "--bias", "explicit", says=text)

    def test_transformer_xl_is_dot_with_the_mask_segment(self):
        x = np.array([[1.], [2.], [3.], [4.]])
        source = self.write(q=x)
        found = self.attend(source, "--operator", "transformer-xl", "-p", "segment=2", "-p", "scale=1",
                            "--dtype", "f64", "--keep", "output,gradients")
        np.testing.assert_allclose(found["output/output"][0, 0, 2:, 0], [2.947975, 3.981343], atol=5e-7)
        plain = self.attend(source, "-s", "dot", "--mask", "segment", "-p", "segment=2", "-p", "scale=1",
                            "--dtype", "f64", "--keep", "gradients", out="plain.h5")
        for name in ("q", "k", "v", "scale"):
            np.testing.assert_array_equal(found[f"gradients/{name}"], plain[f"gradients/{name}"])
        for other in (("--mask", "causal"), ("-s", "umbral")):
            self.fails(2, "attend", source, "--operator", "transformer-xl", *other, "-o",
                       self.folder / "no.h5", says="transformer-xl")
        self.fails(2, "attend", source, "--operator", "transformer-xl:masks=causal", "-o",
                   self.folder / "no.h5", says="takes no other similarity or mask")

    def test_hype_on_a_grid_has_numbers_for_each_axis_and_reports_what_columns_lose(self):
        q, k, v = (t.astype("f8") for t in random_tensors(n=12))
        source = self.write(q=q, k=k, v=v)
        mu = np.array([[.3, .1], [.2, .4]])
        call = ["-s", "dot", "--bias", "hype", "-p", "grid=3x4", "-p", "hype_mu=.3,.1;.2,.4"]
        found = self.attend(source, *call, "--keep", "logits,gradients")
        x, y = np.arange(12) // 4, np.arange(12) % 4
        bias = sum(np.sinh(mu[:, a, None, None] * (c[None, :] - c[:, None])[None])
                   for a, c in enumerate((x, y)))
        logits = q @ k.transpose(0, 2, 1) / np.sqrt(8) + bias
        np.testing.assert_allclose(found["logits/logit"][0], logits, atol=1e-12)
        np.testing.assert_array_equal(found["parameters/hype_mu"], mu)
        self.assertEqual(found["gradients/hype_mu"].shape, (2, 2))
        self.assertEqual(found["gradients/hype_tau"].shape, (2,))
        text = self.ok("attend", source, *call, "-p", "hype_form=columns", "--keep", "gradients",
                       "-o", self.folder / "columns.h5")
        self.assertIn("hype_form=columns: the bias differs", text.err)
        with h5py.File(self.folder / "columns.h5") as columns:
            self.assertLess(columns["attention/environment/hype_columns_error"][()], 1e-14)
            np.testing.assert_allclose(columns["attention/gradients/hype_mu"],
                                       found["gradients/hype_mu"], atol=1e-11)
        self.fails(2, "attend", source, "-s", "umbral", *call[2:], "-p", "hype_form=columns", "-o",
                   self.folder / "no.h5", says="dot product")
        self.fails(2, "attend", source, "-s", "dot", "--bias", "hype", "-p", "hype_form=columns",
                   "-p", "hype_mu=1", "--dtype", "f16", "-o", self.folder / "no.h5",
                   says=["overflows", "10."])

    def test_threads_change_no_bit(self):
        one = self.folder / "one.h5"
        two = self.folder / "two.h5"
        for path, threads in ((one, 1), (two, 2)):
            self.ok("attend", GERMAN, "-o", path, "-s", "penumbral", "--threads", threads, "--keep",
                    "output,gradients")
        with h5py.File(one) as a, h5py.File(two) as b:
            for name in ("output/output", "gradients/q", "gradients/gamma"):
                np.testing.assert_array_equal(a["attention"][name], b["attention"][name])

    def test_the_same_call_gives_the_same_bytes(self):
        for name in ("one.h5", "two.h5"):
            self.ok("attend", GERMAN, "-o", self.folder / name, "-s", "umbral", "--keep", "weights")
        self.assertEqual((self.folder / "one.h5").read_bytes(), (self.folder / "two.h5").read_bytes())

    def test_every_input_format(self):
        q, k, v = random_tensors()
        expected = self.attend(self.write(q=q, k=k, v=v), "-s", "laplacian")["output/output"][()]
        np.savez(self.folder / "in.npz", q=q, k=k, v=v)
        for name, array in zip("qkv", (q, k, v)):
            np.save(self.folder / f"{name}.npy", array)
        self.write_safetensors(self.folder / "in.safetensors", q=q, k=k, v=v)
        npy = [word for name in "qkv" for word in (f"--{name}", self.folder / f"{name}.npy")]
        for source in ([self.folder / "in.npz"], [self.folder / "in.safetensors"], npy):
            self.ok("attend", *source, "-o", self.folder / "o.h5", "-s", "laplacian")
            with h5py.File(self.folder / "o.h5") as file:
                np.testing.assert_array_equal(file["attention/output/output"], expected)

    @staticmethod
    def write_safetensors(path, **tensors):
        header, data = {}, b""
        for name, array in tensors.items():
            header[name] = {"dtype": "F32", "shape": list(array.shape),
                            "data_offsets": [len(data), len(data) + array.nbytes]}
            data += array.tobytes()
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data)


class File(ProgramTest):
    def test_opens_as_the_contract_says_in_every_reader(self):
        paths = []
        for name, similarity, keep in (("all", "penumbral", "output,lse,weights,logits,gradients"),
                                       ("plain", "dot", "output,lse"), ("one", "umbral", "weights")):
            paths.append(self.folder / f"{name}.h5")
            self.ok("attend", GERMAN, "-o", paths[-1], "-s", similarity, "--keep", keep)
        check = subprocess.run([sys.executable, ROOT / "tests/files/contract.py", *paths],
                               capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_says_how_it_was_made(self):
        found = self.attend(GERMAN, "-s", "penumbral", "-p", "gamma=2", "--dtype", "f64")
        spec = json.loads(found.attrs["spec"])
        self.assertEqual(spec["input"], GERMAN)
        self.assertEqual(spec["call"]["similarity"], "penumbral")
        self.assertEqual(spec["call"]["map"], "xi")
        self.assertEqual(spec["call"]["parameters"]["gamma"], 2)
        self.assertEqual(found["parameters/gamma"][()], 2)
        self.assertEqual(found["parameters/height"][()], 1)
        self.assertEqual(found["parameters/convention"].asstr()[()], "paper")
        with h5py.File(TRACE) as file:
            read = {name: file["german/layer3"][name][()].tobytes() for name in ("q", "k", "v")}
            read["token"] = b"".join(text + b"\0" for text in file["german/layer3/token"][()])
        lines = "".join(f"{name} {hashlib.sha256(read[name]).hexdigest()}\n" for name in sorted(read))
        self.assertEqual(found["environment/input_sha256"].asstr()[()],
                         hashlib.sha256(lines.encode()).hexdigest())
        for key in ("version", "git_hash", "compiler", "cpu", "threads"):
            self.assertIn(key, found["environment"])
        self.assertGreaterEqual(found["environment/threads"][()], 1)  # Not the 0 of "all cores".

    def test_keeps_tokens(self):
        found = self.attend(GERMAN, "-s", "dot", "--keep", "weights")
        self.assertEqual(found["weights/query_token"].asstr()[13], "!")
        self.assertEqual(found["weights/key_token"].asstr()[0], "[CLS]")

    def test_json_is_all_there_is_on_standard_output(self):
        result = self.ok("attend", GERMAN, "-o", self.folder / "o.h5", "-s", "dot", "--json")
        found = result.json()
        self.assertEqual(result.err, "")
        self.assertEqual(found["extents"], {"batch": 1, "head": 12, "query": 30, "key": 30,
                                            "feature": 32, "value": 32, "key_head": 12})
        again = found["command"].split()
        self.assertEqual(again[:2], ["conelab", "attend"])
        self.ok(*again[1:])

    def test_text_says_what_was_written(self):
        line = self.ok("attend", GERMAN, "-o", self.folder / "o.h5", "-s", "dot").out
        self.assertRegex(line, r"o\.h5: output, lse of dot attention, .*30 queries x 30 keys, .*computed in ")

    def test_says_what_q_stands_for(self):
        q, k, v = random_tensors()
        for tensors, says in (({"q": q}, "keys (k and v are q), "), ({"q": q, "v": v}, "keys (k is q), "),
                              ({"q": q, "k": k}, "keys (v is q), "), ({"q": q, "k": k, "v": v}, "keys, ")):
            line = self.ok("attend", self.write(**tensors), "-o", self.folder / "o.h5", "-s", "dot").out
            self.assertIn(says, line)
        line = self.ok("attend", self.write(q=q, k=k, v=v), "-o", self.folder / "o.h5", "--operator", "star").out
        self.assertIn("keys (q alone is read), ", line)

    def test_a_wrong_seed_or_file_of_a_tensor_is_wrong_usage(self):
        source = self.write(q=random_tensors()[0])
        for seed, says in (("x", "parameter seed"), ("9" * 20, "whole number"), ("1.5", "whole number")):
            self.fails(2, "attend", source, "-o", self.folder / "o.h5", "-s", "multiplicative", "-p", "W=random",
                       "-p", f"seed={seed}", says=says)
        self.fails(2, "attend", source, "-o", self.folder / "o.h5", "-s", "multiplicative", "-p", "W=@",
                   says="W=@FILE.npy")

    def test_nan_in_a_tensor_is_counted(self):
        q = random_tensors()[0]
        W = np.eye(q.shape[-1])
        W[0, 1] = np.nan
        result = self.ok("attend", self.write(q=q, W=W), "-o", self.folder / "o.h5", "-s", "multiplicative")
        self.assertIn("1 NaN and 0 infinite numbers in W; ", result.err)

    def test_names_of_files_may_hold_any_bytes(self):
        folder = os.fsencode(self.folder)
        for name in ("q", "k", "v"):
            np.save(os.fsdecode(folder + b"/caf\xe9_" + name.encode() + b".npy"), np.ones((3, 2), "f4"))
        files = [word for name in ("q", "k", "v")
                 for word in (f"--{name}", os.fsdecode(folder + b"/caf\xe9_" + name.encode() + b".npy"))]
        self.ok("attend", *files, "-o", self.folder / "o.h5", "-s", "dot")
        with h5py.File(self.folder / "o.h5") as file:
            self.assertIn("caf", file["attention"].attrs["spec"])

    def test_nan_is_counted_and_kept(self):
        q, k, v = random_tensors()
        q[0, 3, 1], k[1, 2, 0], v[0, 0, 0] = np.nan, np.inf, np.nan
        source = self.write(q=q, k=k, v=v)
        result = self.ok("attend", source, "-o", self.folder / "o.h5", "-s", "dot")
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertIn("2 NaN and 1 infinite numbers in q, k, v; ", result.err)
        with h5py.File(self.folder / "o.h5") as file:
            output = file["attention/output/output"][0]
        self.assertTrue(np.isnan(output[0, 3]).all())
        self.assertTrue(np.isfinite(output[0, 5, 1:]).all())


class WrongInput(ProgramTest):
    def refuse(self, status, source, *options, says=(), **more):
        """Refused in one line, with no output and nothing else left behind."""
        options = options or ("-s", "dot")
        before = sorted(p.name for p in self.folder.iterdir())
        self.fails(status, "attend", source, "-o", self.folder / "never.h5", *options, says=says, **more)
        self.assert_clean(*before)

    def test_missing_and_unreadable(self):
        self.refuse(1, self.folder / "none.h5", says="none.h5")
        self.refuse(1, self.folder, says=str(self.folder))
        (self.folder / "empty.h5").touch()
        self.refuse(1, self.folder / "empty.h5", says="empty")
        (self.folder / "text.h5").write_text("no tensors here\n" * 100)
        self.refuse(1, self.folder / "text.h5", says="text.h5")

    def test_truncated(self):
        whole = self.write(q=random_tensors(n=400)[0]).read_bytes()
        for share in (0.1, 0.5, 0.9, 0.999):
            path = self.folder / "cut.h5"
            path.write_bytes(whole[:int(len(whole) * share)])
            self.refuse(1, path, says="truncated: expected")

    def test_damaged_bytes_never_crash(self):
        whole = bytearray(self.write(q=random_tensors(n=20)[0], token=["a"] * 20).read_bytes())
        places = np.random.default_rng(5).integers(0, 3000, 40)
        for place in places:
            damaged = bytearray(whole)
            damaged[place] ^= 0xFF
            path = self.folder / "damaged.h5"
            path.write_bytes(damaged)
            process = start("attend", path, "-o", self.folder / "o.h5", "-s", "dot")
            _, err = process.communicate(timeout=PATIENCE)
            self.assertIn(process.returncode, (0, 1), err)
            self.assertLessEqual(len(err.splitlines()), 1, err)

    def test_shapes(self):
        q, k, v = random_tensors()
        cases = {
            "rank 1": (dict(q=q[0, 0]), "rank"),
            "rank 5": (dict(q=q[None, None]), "rank"),
            "text": (dict(q=["a", "b"]), "q"),
            "integers": (dict(q=np.zeros((4, 4), "i8")), "int64"),
            "d differs": (dict(q=q, k=k[..., :5], v=v), "8"),
            "n differs": (dict(q=q, k=k, v=v[:, :9]), "9"),
            "heads differ": (dict(q=q, k=k[[0, 1, 0]], v=v[[0, 1, 0]]), "divisor"),
            "mask size": (dict(q=q, mask=np.ones((3, 3), "u1")), "mask"),
            "mask type": (dict(q=q, mask=np.ones((40, 40), "f4")), "mask"),
            "no q": (dict(k=k, v=v), "q"),
        }
        for name, (tensors, says) in cases.items():
            with self.subTest(name):
                self.refuse(1, self.write(**tensors), says=says)

    def test_empty_tensors(self):
        for shape in ((0, 8), (2, 0, 8), (4, 0)):
            with self.subTest(shape=shape):
                source = self.write(q=np.zeros(shape, "f4"))
                process = start("attend", source, "-o", self.folder / "o.h5", "-s", "dot")
                _, err = process.communicate(timeout=PATIENCE)
                self.assertIn(process.returncode, (0, 1), err)
                self.assertLessEqual(len(err.splitlines()), 1, err)

    def test_gigantic_declared_shape(self):
        path = self.folder / "huge.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("q", (1 << 20, 1 << 20, 64), "f4", chunks=(1, 1024, 64))
        self.refuse(1, path, says="q", limits=[(resource.RLIMIT_AS, 4 << 30)])

    def test_unknown_groups_names_and_keys(self):
        self.refuse(1, f"{TRACE}:/german/layer9", says="layer")
        self.refuse(1, f"{TRACE}:/germn/layer3", says="german")
        self.refuse(1, TRACE, says="q")
        self.refuse(2, GERMAN, "-s", "penumbrl", says="did you mean 'penumbral'?")
        self.refuse(2, GERMAN, "-s", "dot", "--map", "xii", says="map")
        self.refuse(2, GERMAN, "-s", "umbral", "--map", "pi", says="map")
        self.refuse(2, GERMAN, "-s", "dot", "--bias", "alibbi", says="did you mean 'alibi'?")
        self.refuse(2, GERMAN, "-s", "dot", "--mask", "casual", says="did you mean 'causal'?")
        self.refuse(2, GERMAN, "-s", "dot", "--mask", "full,", says="--mask")
        self.refuse(2, GERMAN, "-s", "dot", "--mask", "padding", says="--lengths")
        self.refuse(1, GERMAN, "-s", "dot", "--mask", "explicit", says="mask")
        self.refuse(2, GERMAN, "-s", "dot", "--weights", "softmix", says="softmax")
        self.refuse(2, GERMAN, "-s", "dot", "--aggregate", "meen", says="mean")
        self.refuse(2, GERMAN, "-s", "dot", "--dtype", "f33", says="f32")
        self.refuse(2, GERMAN, "-s", "dot", "--device", "gpu", says="cuda")
        self.refuse(2, GERMAN, "-s", "dot", "--keep", "outputs", says="did you mean 'output'?")
        self.refuse(2, GERMAN, "-s", "umbral", "-p", "gama=1", says="did you mean 'gamma'?")
        self.refuse(2, GERMAN, "-s", "umbral", "-p", "height=1", says=["height", "radius"])
        self.refuse(2, GERMAN, "-s", "umbral", "-p", "gamma=-1", says="gamma")
        self.refuse(2, GERMAN, "-s", "umbral", "-p", "gamma=1,2,3", says="12")
        self.refuse(2, GERMAN, "-s", "umbral", "-p", "gamma=x", says="gamma")
        self.refuse(2, GERMAN, "--threads", "none", "-s", "dot", says="--threads")
        self.refuse(2, GERMAN, "--threads", "-3", "-s", "dot", says="--threads")
        self.refuse(2, GERMAN, "--mask", "full", says="--similarity")
        self.refuse(2, GERMAN, "--operator", "umbral", "-s", "dot",
                    says="--similarity dot contradicts --operator umbral, which means --similarity umbral")
        self.refuse(2, GERMAN, "--operator", "umbral:gamma=2", "-p", "gamma=3",
                    says="-p gamma=3 contradicts --operator umbral:gamma=2, which means gamma=2")

    def test_lengths_without_padding(self):
        self.refuse(2, GERMAN, "-s", "dot", "--lengths", "30", says="--mask padding")
        self.refuse(2, GERMAN, "-s", "dot", "--mask", "causal", "--lengths", "30", says="--lengths")
        self.refuse(2, GERMAN, "-s", "dot", "--mask", "padding", "--lengths", "-1,5",
                    says="--lengths: '-1' is not a whole number from 0")

    def test_points_outside_the_cone_name_tensor_and_token(self):
        inside = np.full((1, 5, 3), 0.5)
        outside = inside.copy()
        outside[0, 3, 2] = 2
        for name, tensors in (("q", dict(q=outside, k=inside)), ("k", dict(q=inside, k=outside))):
            self.refuse(1, self.write(**tensors), "-s", "penumbral", "--map", "none",
                        says=f"token 3 of {name} (batch 0, head 0) lies outside")
        twice = np.stack([np.concatenate([inside, inside]), np.concatenate([inside, outside])])
        self.refuse(1, self.write(q=twice, k=np.full_like(twice, 0.5)), "-s", "penumbral", "--map", "none",
                    says="token 3 of q (batch 1, head 1) lies outside")
        self.refuse(1, self.write(q=twice, k=twice, v=twice), "-s", "dot", "--aggregate", "einstein",
                    says="token 3 of v (batch 1, head 1) lies outside the Klein ball")

    def test_no_gpu_is_said_and_not_a_crash(self):
        self.refuse(1, GERMAN, "-s", "dot", "--device", "cuda", says="device cuda: no")


class Output(ProgramTest):
    def test_unwritable_folder_is_found_before_the_work(self):
        self.fails(1, "attend", "missing-input.h5", "-o", self.folder / "no/such/o.h5", "-s", "dot",
                   says="no/such")
        self.fails(1, "attend", GERMAN, "-o", self.folder, "-s", "dot")
        self.fails(1, "attend", GERMAN, "-o", "/proc/o.h5", "-s", "dot", says="/proc/o.h5")

    def test_results_are_hdf5_whatever_their_name_asks_for(self):
        for name in ("o.npz", "o.npy", "o.safetensors", "o.txt", "o.pdf"):
            for command in ("attend", "tree"):
                self.fails(2, command, GERMAN, "-o", self.folder / name, "-s", "dot",
                           says=f"{name}: results are HDF5")
        self.assert_clean()

    def test_only_a_result_of_its_own_is_replaced(self):
        out = self.folder / "o.h5"
        tree, attend = (("tree", GERMAN, "-o", out, "-s", "dot"), ("attend", GERMAN, "-o", out, "-s", "dot"))
        out.touch()  # as `mktemp` does
        for own, other, name in ((attend, tree, "tree"), (tree, attend, "attend")):
            self.ok(*own)
            self.ok(*own)
            before = out.read_bytes()
            self.fails(2, *other, says=[f"o.h5: is not a result of `{name}`", "would be lost"])
            self.assertEqual(out.read_bytes(), before)
            out.unlink()
        out.write_text("a letter")
        self.fails(2, *attend, says="o.h5: is not a result of `attend`")
        self.assertEqual(out.read_text(), "a letter")
        self.assert_clean("o.h5")

    def test_full_disk_leaves_the_old_result_whole(self):
        out = self.folder / "o.h5"
        self.ok("attend", GERMAN, "-o", out, "-s", "dot")
        before = out.read_bytes()
        for limit in (0, 1000, 30_000, 100_000):
            self.fails(1, "attend", GERMAN, "-o", out, "-s", "dot", "--keep", "weights,logits,output",
                       says="o.h5", limits=[(resource.RLIMIT_FSIZE, limit)])
            self.assertEqual(out.read_bytes(), before)
            self.assert_clean("o.h5")

    def test_interrupt_leaves_nothing_and_says_130(self):
        q = np.random.default_rng(1).standard_normal((8, 100_000, 16)).astype("f4")
        source = self.write(q=q)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = start("attend", source, "-o", self.folder / "o.h5", "-s", "penumbral", "--keep",
                            "output,gradients", "--threads", "1")
            self.addCleanup(process.kill)
            self.wait_until(lambda: computes(process), process)
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130, err)
            self.assert_clean("in.h5")


if __name__ == "__main__":
    unittest.main()
