"""conelab.transformers and conelab.trace on models with random weights; nothing is downloaded. Needs
the installed package, PyTorch and transformers."""
import pathlib
import tempfile
import unittest

try:
    import torch
    import transformers
except ImportError:
    raise unittest.SkipTest("no PyTorch or transformers")

import numpy as np

import conelab
import conelab.transformers

conelab.transformers.register(threads=1)
SMALL = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "max_position_embeddings": 32}


def models():
    bert = transformers.BertConfig(**SMALL, attention_probs_dropout_prob=0.0)
    gpt = transformers.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32,
                                  attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0)
    llama = transformers.LlamaConfig(**SMALL, num_key_value_heads=2)
    return {"bert": transformers.BertForMaskedLM(bert), "gpt2": transformers.GPT2LMHeadModel(gpt),
            "llama": transformers.LlamaForCausalLM(llama)}


def use(model, attention):
    """Before 4.53, a model cannot change its attention by itself."""
    if hasattr(model, "set_attn_implementation"):
        return model.set_attn_implementation(attention)
    for module in model.modules():
        if hasattr(getattr(module, "config", None), "_attn_implementation"):
            module.config._attn_implementation = attention
    return model


def batch(padded):
    ids = torch.randint(0, 50, (2, 9))
    seen = torch.ones(2, 9, dtype=torch.int64)
    if padded:
        seen[1, 6:] = 0
    return {"input_ids": ids, "attention_mask": seen}


class Models(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)

    def test_dot_has_the_logits_of_sdpa(self):
        for name, model in models().items():
            for padded in (False, True):
                with self.subTest(name, padded=padded), torch.no_grad():
                    inputs = batch(padded)
                    use(model.eval(), "sdpa")
                    expected = model(**inputs).logits
                    use(model, "conelab")
                    seen = inputs["attention_mask"].bool()
                    difference = (model(**inputs).logits - expected)[seen].abs().max()
                    self.assertLess(difference, 1e-5)

    def test_penumbral_trains(self):
        for name, model in models().items():
            with self.subTest(name):
                use(model.train(), "conelab:penumbral")
                inputs = batch(False)
                optimizer = torch.optim.Adam(model.parameters(), 1e-2)
                losses = []
                for _ in range(8):
                    loss = model(**inputs, labels=inputs["input_ids"]).loss
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
                self.assertLess(losses[-1], 0.8 * losses[0])

    def test_generates_with_a_cache_what_it_does_without(self):
        grouped = {**SMALL, "num_key_value_heads": 2}
        rows = {"LlamaForCausalLM": ("LlamaConfig", grouped),
                "MistralForCausalLM": ("MistralConfig", {**grouped, "sliding_window": 4}),
                "GptOssForCausalLM": ("GptOssConfig", {
                    **grouped, "head_dim": 8, "sliding_window": 4, "num_local_experts": 2,
                    "num_experts_per_tok": 1})}
        for name, (config, keywords) in rows.items():
            for attention in ("conelab", "conelab:penumbral"):
                with self.subTest(name, attention=attention):
                    if not hasattr(transformers, name):
                        self.skipTest(f"transformers {transformers.__version__} has no {name}")
                    torch.manual_seed(3)
                    model = getattr(transformers, name)(getattr(transformers, config)(**keywords))
                    for parameter in model.parameters():
                        if parameter.ndim > 1:
                            torch.nn.init.normal_(parameter, std=0.2)
                    use(model.eval(), attention)
                    ids = batch(False)["input_ids"][:, :6]
                    ways = {cache: model.generate(ids, max_new_tokens=8, do_sample=False,
                                                  pad_token_id=0, eos_token_id=None, **cache_words)
                            for cache, cache_words in (("none", {"use_cache": False}), ("usual", {}),
                                                       ("static", {"cache_implementation": "static"}))}
                    self.assertGreater(len(ways["none"][0, 6:].unique()), 1)
                    for cache, found in ways.items():
                        self.assertEqual(found.tolist(), ways["none"].tolist(), cache)

    def test_dropout_is_of_training(self):
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32))
        use(model.train(), "conelab")
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Dropout) and not name.endswith("attn_dropout"):
                module.p = 0.0  # The weights alone have dropout.
        given = batch(False)

        def logits(seed):
            torch.manual_seed(seed)
            return model(**given).logits

        self.assertTrue(torch.equal(logits(1), logits(1)))
        self.assertFalse(torch.equal(logits(1), logits(2)))
        model.eval()
        self.assertTrue(torch.equal(logits(1), logits(2)))


def capped_and_sunk():
    """Models with soft caps and a sliding window (Gemma 2), and with sinks (gpt-oss), where this
    version of transformers has them."""
    if hasattr(transformers, "Gemma2ForCausalLM"):
        config = transformers.Gemma2Config(
            **SMALL, num_key_value_heads=2, head_dim=8, attn_logit_softcapping=2.0, sliding_window=4,
            query_pre_attn_scalar=3)
        yield "gemma2", transformers.Gemma2ForCausalLM(config)
    if hasattr(transformers, "GptOssForCausalLM"):
        config = transformers.GptOssConfig(
            **SMALL, num_key_value_heads=2, head_dim=8, num_local_experts=2, num_experts_per_tok=1,
            sliding_window=4, rope_scaling=None, rope_parameters={"rope_type": "default",
                                                                  "rope_theta": 10000.0})
        yield "gpt-oss", transformers.GptOssForCausalLM(config)


class CapsAndSinks(unittest.TestCase):
    def test_dot_has_the_logits_of_the_model(self):
        torch.manual_seed(3)
        for name, model in capped_and_sunk():
            for padded in (False, True):
                with self.subTest(name, padded=padded):
                    for parameter in model.parameters():
                        torch.nn.init.normal_(parameter, std=0.3)
                    inputs = batch(padded)
                    use(model.eval(), "eager")
                    seen = inputs["attention_mask"].bool()
                    expected = model(**inputs).logits[seen]
                    parameters = list(model.parameters())
                    slopes = torch.autograd.grad(expected.square().mean(), parameters, allow_unused=True)
                    use(model, "conelab")
                    found = model(**inputs).logits[seen]
                    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)
                    own = torch.autograd.grad(found.square().mean(), parameters, allow_unused=True)
                    for a, b in zip(own, slopes):
                        if b is not None:
                            torch.testing.assert_close(a, b, atol=2e-5, rtol=2e-3)


class Tokenizer:
    def convert_ids_to_tokens(self, ids):
        return [f"t{i}" for i in ids]


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "trace.h5")

    def needs_interface(self, model):
        """Skips the rest where the model's attention has a class of its own, as BERT's in early versions."""
        own = [name for name in {type(m).__name__ for m in model.modules()} if name.endswith("SdpaSelfAttention")]
        if own:
            self.skipTest(f"transformers {transformers.__version__}: {own[0]} does not pass AttentionInterface")

    def test_a_trace_holds_what_attention_saw(self):
        for name, model in models().items():
            with self.subTest(name):
                self.needs_interface(model)
                use(model.eval(), "sdpa")
                inputs = {"input_ids": torch.arange(9)[None]}
                expected = model(**inputs).logits
                found = conelab.trace(model, inputs, self.path, Tokenizer()).logits
                self.assertTrue(torch.allclose(found, expected, atol=1e-6))
                self.assertEqual(model.config._attn_implementation, "sdpa")
                layer = conelab.read(f"{self.path}:/layer1")
                self.assertEqual(layer["q"].shape, (4, 9, 8))
                self.assertEqual(layer["k"].shape, (2 if name == "llama" else 4, 9, 8))
                self.assertEqual(layer["tokens"][8], "t8")
                self.assertEqual("mask" in layer, name != "bert")
                if name != "bert":
                    np.testing.assert_array_equal(layer["mask"], np.tril(np.ones((9, 9))))

    def test_inputs_without_names_are_refused(self):
        for inputs in (torch.arange(9)[None], "Living things"):
            with self.assertRaisesRegex(ValueError, "by name"):
                conelab.trace(models()["bert"], inputs, self.path)

    def test_padding_is_left_out(self):
        model = models()["bert"].eval()
        self.needs_interface(model)
        conelab.trace(model, batch(True), self.path, layers=[1])
        self.assertEqual(conelab.read(f"{self.path}:/text0/layer1")["q"].shape, (4, 9, 8))
        self.assertEqual(conelab.read(f"{self.path}:/text1/layer1")["q"].shape, (4, 6, 8))
        with self.assertRaises(RuntimeError):
            conelab.read(f"{self.path}:/text1/layer0")


if __name__ == "__main__":
    unittest.main()
