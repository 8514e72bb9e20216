"""conelab.trace on models of many kinds with random weights; nothing is downloaded. Weights computed
from a trace are compared with those that the model itself returns. Needs the installed package,
PyTorch and transformers."""
import gc
import pathlib
import tempfile
import unittest
import unittest.mock
import warnings
import weakref

try:
    import torch
    import transformers
except ImportError:
    raise unittest.SkipTest("no PyTorch or transformers")

import numpy as np

import conelab
import conelab._recording

VERSION = tuple(int(x) for x in transformers.__version__.split(".")[:2])
SMALL = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "max_position_embeddings": 64, "pad_token_id": 0,
         "bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**SMALL, "num_key_value_heads": 2}
VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 64, "image_size": 32, "patch_size": 8}
GPT = {"vocab_size": 50, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64,
       "bos_token_id": 1, "eos_token_id": 2}
T5 = {"vocab_size": 50, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
      "decoder_start_token_id": 0}
BART = {"vocab_size": 50, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": None}

IDS = torch.arange(3, 12)
LEFT = {"input_ids": torch.stack([IDS, IDS + 9]),
        "attention_mask": torch.tensor([[1] * 9, [0] * 3 + [1] * 6])}
RIGHT = {"input_ids": LEFT["input_ids"], "attention_mask": LEFT["attention_mask"].flip(1)}
TEXT = {"input_ids": IDS[None]}


def both(**inputs):
    """With inputs of a decoder."""
    inputs = inputs or dict(RIGHT)
    count = next(iter(inputs.values())).shape[0]
    return {**inputs, "decoder_input_ids": torch.stack([IDS[:5]] * count)}


def image(size=32, **inputs):
    torch.manual_seed(1)
    return {"pixel_values": torch.randn(1, 3, size, size), **inputs}


def sound():
    torch.manual_seed(1)
    return both(input_features=torch.randn(1, 8, 24))


def beside(number, count, **more):
    """An image within a text: tokens that stand for it, and two of the text on either side."""
    ids = torch.tensor([[3, 4] + [number] * count + [5, 6]])
    return image(input_ids=ids, attention_mask=torch.ones_like(ids), **more)


def llava():
    return transformers.LlavaConfig(
        text_config={"model_type": "llama", **GROUPED},
        vision_config={"model_type": "clip_vision_model", **VISION}, image_token_index=49)


def gemma3():
    return transformers.Gemma3Config(
        text_config={"model_type": "gemma3_text", **GROUPED, "head_dim": 8, "sliding_window": 8},
        vision_config={"model_type": "siglip_vision_model", **VISION}, image_token_index=49,
        mm_tokens_per_image=4)


def vision_and_text():
    return transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.ViTConfig(**VISION),
        transformers.BertConfig(**SMALL, is_decoder=True, add_cross_attention=True))


# (kind, class of the model, its configuration, inputs). A configuration is a class with keywords, or a
# function.
MODELS = [
    ("encoder", "BertModel", ("BertConfig", SMALL), RIGHT),
    ("encoder", "RobertaModel", ("RobertaConfig", SMALL), RIGHT),
    ("encoder", "DistilBertModel", ("DistilBertConfig", {
        "vocab_size": 50, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}), RIGHT),
    ("encoder", "AlbertModel", ("AlbertConfig", {**SMALL, "embedding_size": 16}), RIGHT),
    ("window", "ModernBertModel", ("ModernBertConfig", {
        **SMALL, "local_attention": 4, "num_hidden_layers": 4, "cls_token_id": 1,
        "sep_token_id": 2}), RIGHT),
    ("decoder", "GPT2LMHeadModel", ("GPT2Config", GPT), LEFT),
    ("decoder", "GPTNeoXForCausalLM", ("GPTNeoXConfig", SMALL), LEFT),
    ("decoder", "LlamaForCausalLM", ("LlamaConfig", GROUPED), LEFT),
    ("decoder", "Qwen3ForCausalLM", ("Qwen3Config", {**GROUPED, "head_dim": 8}), LEFT),
    ("decoder", "DeepseekV3ForCausalLM", ("DeepseekV3Config", {
        **SMALL, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
        "v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2,
        "topk_group": 1, "moe_intermediate_size": 16, "first_k_dense_replace": 1,
        "num_key_value_heads": 4}), LEFT),
    ("window", "MistralForCausalLM", ("MistralConfig", {**GROUPED, "sliding_window": 4}), LEFT),
    ("window", "Cohere2ForCausalLM", ("Cohere2Config", {**GROUPED, "sliding_window": 4}), LEFT),
    ("chunked window", "Llama4ForCausalLM", ("Llama4TextConfig", {
        **GROUPED, "head_dim": 8, "attention_chunk_size": 4, "num_local_experts": 2,
        "num_hidden_layers": 4, "intermediate_size_mlp": 64, "no_rope_layers": [1, 1, 1, 0]}), LEFT),
    ("soft cap", "Gemma2ForCausalLM", ("Gemma2Config", {
        **GROUPED, "head_dim": 8, "sliding_window": 4, "attn_logit_softcapping": 2.0,
        "query_pre_attn_scalar": 4}), LEFT),
    ("scaling", "GraniteForCausalLM", ("GraniteConfig", {
        **GROUPED, "attention_multiplier": 0.2}), LEFT),
    ("scaling", "OPTForCausalLM", ("OPTConfig", {
        "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "ffn_dim": 64, "max_position_embeddings": 64, "word_embed_proj_dim": 32}), LEFT),
    ("sinks", "GptOssForCausalLM", ("GptOssConfig", {
        **GROUPED, "head_dim": 8, "sliding_window": 4, "num_local_experts": 2,
        "num_experts_per_tok": 1}), LEFT),
    ("ALiBi", "BloomForCausalLM", ("BloomConfig", {
        "vocab_size": 50, "hidden_size": 32, "n_layer": 2, "n_head": 4}), LEFT),
    ("ALiBi", "FalconForCausalLM", ("FalconConfig", {**SMALL, "alibi": True}), LEFT),
    ("ALiBi", "MptForCausalLM", ("MptConfig", {
        "vocab_size": 50, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}), LEFT),
    ("learned bias", "T5ForConditionalGeneration", ("T5Config", T5), both()),
    ("encoder and decoder", "BartForConditionalGeneration", ("BartConfig", BART), both()),
    ("image", "ViTModel", ("ViTConfig", VISION), image()),
    ("image", "Dinov2Model", ("Dinov2Config", VISION), image()),
    ("image", "BeitModel", ("BeitConfig", {**VISION, "use_relative_position_bias": True}), image()),
    ("windows of an image", "SwinModel", ("SwinConfig", {
        "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 2],
        "window_size": 4}), image()),
    ("sound", "WhisperForConditionalGeneration", ("WhisperConfig", {
        **BART, "num_mel_bins": 8, "max_source_positions": 12, "max_target_positions": 32}), sound()),
    ("image and text", "CLIPModel", ("CLIPConfig", {
        "text_config": SMALL, "vision_config": VISION, "projection_dim": 16}), image(**TEXT)),
    ("image and text", "LlavaForConditionalGeneration", llava, beside(49, 16)),
    ("image and text", "Gemma3ForConditionalGeneration", gemma3, beside(
        49, 4, token_type_ids=torch.tensor([[0] * 2 + [1] * 4 + [0] * 2]))),
    ("image and text", "VisionEncoderDecoderModel", vision_and_text, {
        **image(), "decoder_input_ids": IDS[None, :4]}),
]
OLDEST = {"Llama4ForCausalLM": (4, 53)}  # Before, parts of it are of bfloat16 whatever is asked.


class Tokenizer:
    def convert_ids_to_tokens(self, ids):
        return [f"t{i}" for i in ids]


def made(name, config):
    """A model with random weights large enough that its attention is not flat."""
    if not hasattr(transformers, name) or VERSION < OLDEST.get(name, VERSION):
        raise unittest.SkipTest(f"transformers {transformers.__version__} has no {name} of float32")
    torch.manual_seed(3)
    config = config() if callable(config) else getattr(transformers, config[0])(**config[1])
    config._attn_implementation = "eager"
    model = getattr(transformers, name)(config).float().eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return model


def model_of(name):
    row = next(row for row in MODELS if row[1] == name)
    return made(name, row[2]), row[3]


def weights_of(layer):
    """The weights of dot product, computed from what the layer says of it."""
    keywords = {key: layer[key] for key in ("scale", "mask", "sinks", "soft_cap", "bias")
                if key in layer}
    return conelab.weights(layer["q"], layer["k"], similarity=layer["similarity"], **keywords)


def returned(output):
    """The weights that a model returned, in the order of its layers; of a decoder with cross
    attention, in turns."""
    found = {key: list(value) for key, value in output.items() if "attentions" in key and value}
    found.update({f"{part}_attentions": list(output[part].attentions or ())
                  for part in ("vision_model_output", "text_model_output") if output.get(part)})
    return found


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "trace.h5")

    def trace(self, model, inputs, **keywords):
        """Skips what does not pass the interface in a version of transformers before 5."""
        try:
            with warnings.catch_warnings(record=True) as said:
                conelab.trace(model, inputs, self.path, Tokenizer(), **keywords)
            left_out = [str(each.message) for each in said if "not in the trace" in str(each.message)]
        except RuntimeError as error:
            if VERSION >= (5, 0) or "does not pass" not in str(error):
                raise
            left_out = [str(error)]
        if VERSION < (5, 0) and left_out and "head.attention" not in left_out[0]:
            self.skipTest(f"transformers {transformers.__version__}: {left_out[0]}")

    def layer(self, group):
        return conelab.read(f"{self.path}:/{group}")

    def compare(self, group, expected, element, inputs):
        """The weights of a layer with those that the model returned, [batch, head, n_q, n_k]."""
        layer = self.layer(group)
        self.assertEqual(layer["exact"], 1)
        own = weights_of(layer)
        if own.ndim == 4:  # Windows.
            return np.testing.assert_allclose(own, expected.numpy(), atol=2e-6)
        expected = expected[element].numpy()
        mask = inputs.get("attention_mask")
        kept = None if mask is None else mask[element].bool().numpy()
        for axis in (1, 2):
            if kept is not None and own.shape[axis] < expected.shape[axis]:
                expected = expected.compress(kept, axis)
        np.testing.assert_allclose(own, expected, atol=2e-6)

    def test_has_the_weights_that_the_model_returns(self):
        compared, kinds = set(), set()
        for kind, name, config, inputs in MODELS:
            with self.subTest(name):
                model = made(name, config)
                with torch.no_grad():
                    output = model(**inputs, output_attentions=True)
                self.trace(model, inputs)
                prefix = "text1/" if inputs.get("input_ids", IDS).shape[0] == 2 else ""
                for key, weights in returned(output).items():
                    part = {"encoder_attentions": "encoder.layer{}",
                            "decoder_attentions": "decoder.layer{}.self",
                            "cross_attentions": "decoder.layer{}.cross",
                            "vision_model_output_attentions": "vision.layer{}",
                            "text_model_output_attentions": "text.layer{}"}.get(key)
                    for number, each in enumerate(weights):
                        if name == "SwinModel":  # It returns those of the last layer of each stage.
                            number = 2 * number + 1
                        group = (part or ("text." if "text_config" in model.config else "") + "layer{}")
                        self.compare(prefix + group.format(number), each, 1 if prefix else 0, inputs)
                        compared.add(name)
                        kinds.add(kind)
        print(f"transformers {transformers.__version__}: compared {len(compared)} architectures of "
              f"{len(kinds)} kinds")
        self.assertGreaterEqual(len(compared), 28 if VERSION >= (5, 0) else 12)

    def test_layers_have_names_kinds_and_tokens_of_their_own(self):
        model, inputs = model_of("BartForConditionalGeneration")
        self.trace(model, inputs)
        cross = self.layer("text1/decoder.layer1.cross")
        self.assertEqual([cross[key] for key in ("kind", "name", "module")],
                         ["cross", "decoder.layer1.cross", "model.decoder.layers.1.encoder_attn"])
        self.assertEqual(cross["tokens"], ["t3", "t4", "t5", "t6", "t7"])
        self.assertEqual(cross["key_tokens"], [f"t{i}" for i in range(12, 18)])
        own = self.layer("text1/decoder.layer1.self")
        self.assertEqual((own["kind"], own.get("key_tokens", own["tokens"])), ("self", cross["tokens"]))
        self.assertEqual(self.layer("text1/encoder.layer0")["tokens"], cross["key_tokens"])
        # The names of older versions: the number in the order of the model.
        np.testing.assert_array_equal(self.layer("text1/layer5")["q"], cross["q"])
        self.trace(model, inputs, layers=["decoder.layer0.self", 5])
        with self.assertRaises(RuntimeError):
            self.layer("text1/decoder.layer0.cross")
        np.testing.assert_array_equal(self.layer("text1/decoder.layer1.cross")["q"], cross["q"])

    def test_places_in_images_and_sounds_are_texts(self):
        self.trace(*model_of("ViTModel"))
        words = self.layer("layer0")["tokens"]
        self.assertEqual((words[0], words[1 + 4 * 2 + 3], len(words)), ("[CLS]", "patch 2,3", 17))
        self.trace(*model_of("WhisperForConditionalGeneration"))
        self.assertEqual(self.layer("encoder.layer0")["tokens"][6], "0.12 s")
        self.assertEqual(self.layer("decoder.layer0.cross")["key_tokens"][6], "0.12 s")
        self.assertEqual(self.layer("decoder.layer0.cross")["tokens"], ["t3", "t4", "t5", "t6", "t7"])
        self.trace(*model_of("LlavaForConditionalGeneration"))
        self.assertEqual(self.layer("text.layer0")["tokens"][1:4], ["t4", "patch 0,0", "patch 0,1"])
        self.trace(*model_of("Gemma3ForConditionalGeneration"))  # It joins 16 patches to 4 tokens.
        self.assertEqual(self.layer("text.layer0")["tokens"][2:],
                         ["patch 0,0", "patch 0,1", "patch 1,0", "patch 1,1", "t5", "t6"])

    def mask(self, name, inputs, layer=0):
        self.trace(model_of(name)[0], inputs, layers=[layer])
        return self.layer(f"layer{layer}").get("mask")

    def test_masks_are_those_of_the_model(self):
        i, j = np.indices((9, 9))
        causal = j <= i
        with self.subTest("windows"):
            np.testing.assert_array_equal(self.mask("MistralForCausalLM", TEXT),
                                          causal & (i - j < 4))
            self.assertEqual(self.layer("layer0")["window"], 4)
        with self.subTest("packed sequences"):
            packed = {**TEXT, "use_cache": False,
                      "position_ids": torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]])}
            if VERSION < (4, 53):
                self.skipTest("this version sees no packed sequences in position_ids")
            np.testing.assert_array_equal(self.mask("LlamaForCausalLM", packed),
                                          causal & ((i < 4) == (j < 4)))
        with self.subTest("left padding"):
            model, inputs = model_of("LlamaForCausalLM")
            self.trace(model, inputs)
            np.testing.assert_array_equal(self.layer("text1/layer0")["mask"], causal[:6, :6])
            self.assertEqual(self.layer("text1/layer0")["tokens"], [f"t{i}" for i in range(15, 21)])
        with self.subTest("chunks"):
            np.testing.assert_array_equal(self.mask("Llama4ForCausalLM", TEXT),
                                          causal & (i // 4 == j // 4))
        with self.subTest("an image that sees all of itself"):
            model, inputs = model_of("Gemma3ForConditionalGeneration")
            self.trace(model, inputs)
            mask = self.layer("text.layer0")["mask"]
            self.assertTrue(mask[2:6, 2:6].all())
            np.testing.assert_array_equal(np.tril(mask[:2]), mask[:2])
        with self.subTest("prefix"):
            given = torch.from_numpy(causal | (j < 3))[None, None]
            given = torch.zeros(given.shape).masked_fill(~given, torch.finfo(torch.float32).min)
            inputs = {**TEXT, "attention_mask": given}
            np.testing.assert_array_equal(self.mask("LlamaForCausalLM", inputs), given[0, 0] == 0)

    def test_what_is_added_is_kept_as_it_was_used(self):
        self.trace(*model_of("BloomForCausalLM"))
        layer = self.layer("text1/layer0")
        self.assertEqual(layer["bias"].shape, (4, 1, 6))  # By head and key.
        slopes = np.diff(layer["bias"][:, 0])[:, 0]
        np.testing.assert_allclose(slopes, [2.0 ** -(2 * head + 2) for head in range(4)])
        if VERSION < (5, 0):
            return
        model, inputs = model_of("T5ForConditionalGeneration")
        self.trace(model, inputs)
        layer = self.layer("text1/encoder.layer1")
        self.assertEqual((layer["scale"], layer["dropout"]), (1, 0.1))
        attention = model.encoder.block[0].layer[0].SelfAttention
        np.testing.assert_array_equal(layer["bias"], attention.compute_bias(6, 6)[0].detach())
        self.assertNotIn("bias", self.layer("text1/decoder.layer1.cross"))

    def test_types_of_16_bits_are_kept(self):
        for dtype in (torch.float16, torch.bfloat16):
            model, inputs = model_of("LlamaForCausalLM")
            self.trace(model.to(dtype), inputs)
            layer = self.layer("text0/layer0")
            self.assertEqual((layer["exact"], f"torch.{layer['q'].dtype.name}"), (1, str(dtype)))

    def test_a_layer_that_differs_is_refused_or_marked(self):
        def eager_attention_forward(module, query, key, value, mask, scaling, dropout=0.0, **_):
            weights = (query @ key.mT * scaling + mask).softmax(-1) * 0.9
            return (weights @ value).transpose(1, 2).contiguous(), weights
        model, inputs = model_of("GPTNeoXForCausalLM")
        names = type(model.gpt_neox.layers[0].attention).forward.__globals__
        with unittest.mock.patch.dict(names, eager_attention_forward=eager_attention_forward):
            with self.assertRaisesRegex(RuntimeError, r"text0/layer0 \(gpt_neox.layers.0.attention\).*"
                                        "differs from the model's by .*strict=False"):
                conelab.trace(model, inputs, self.path)
            self.assertFalse(pathlib.Path(self.path).exists())
            with self.assertWarnsRegex(UserWarning, "differs"):
                conelab.trace(model, inputs, self.path, strict=False)
        self.assertEqual(self.layer("text1/layer1")["exact"], 0)

    def test_numbers_that_are_not_finite_are_named(self):
        model = model_of("LlamaForCausalLM")[0]
        torch.nn.init.constant_(model.model.layers[1].self_attn.v_proj.weight, float("nan"))
        with self.assertRaisesRegex(RuntimeError, "layer1 .*the model's own output has numbers that are "
                                    "not finite"):
            conelab.trace(model, TEXT, self.path)

    def test_wrong_arguments_are_named(self):
        model = model_of("LlamaForCausalLM")[0]
        for error, said, keywords in (
                (ValueError, r"no layer 7 \(known: 0 to 1, or layer0, layer1\)", {"layers": [0, 7]}),
                (ValueError, "no layer layer9", {"layers": "layer9"}),
                (ValueError, "tokenizer is neither .*found str", {"tokenizer": "bert"}),
                (RuntimeError, "cannot be written", {"path": "/nowhere/trace.h5"})):
            with self.subTest(keywords), self.assertRaisesRegex(error, said):
                conelab.trace(model, TEXT, **{"path": self.path, **keywords})
            self.assertFalse(pathlib.Path(self.path).exists())
        with self.assertRaisesRegex(RuntimeError, "device meta"):
            conelab.trace(model_of("LlamaForCausalLM")[0].to("meta"), TEXT, self.path)
        conelab.trace(model, TEXT, self.path, layers="layer1")
        self.assertEqual(self.layer("layer1")["layer"], 1)

    def test_what_was_recorded_is_not_kept_in_memory(self):
        recorded, split = [], conelab._recording._call
        def remember(*args, **keywords):
            call = split(*args, **keywords)
            recorded.append(weakref.ref(call["q"]))
            return call
        with unittest.mock.patch("conelab._recording._call", remember):
            conelab.trace(*model_of("LlamaForCausalLM"), self.path)
        gc.collect()
        self.assertEqual([each() for each in recorded], [None, None])

    def test_a_model_in_training_is_refused_for_its_dropout(self):
        model = made("GPT2LMHeadModel", ("GPT2Config", GPT)).train()
        with self.assertRaisesRegex(RuntimeError, "training, with dropout"):
            conelab.trace(model, TEXT, self.path)

    def test_models_that_cannot_be_recorded_are_refused_in_one_line(self):
        for name, config, said in (
                ("DebertaV2Model", ("DebertaV2Config", SMALL), "disentangled"),
                ("LongformerModel", ("LongformerConfig", {**SMALL, "attention_window": 4}), "blocks"),
                ("BigBirdModel", ("BigBirdConfig", SMALL), "AttentionInterface"),
                ("FalconForCausalLM", ("FalconConfig", {**SMALL, "alibi": False}), "without ALiBi"),
                ("MambaModel", ("MambaConfig", {"vocab_size": 50, "hidden_size": 32, "state_size": 4,
                                                "num_hidden_layers": 2}), "has no attention")):
            with self.subTest(name):
                with self.assertRaisesRegex(RuntimeError, f"^{name}.*{said}") as caught:
                    conelab.trace(made(name, config), TEXT, self.path)
                self.assertNotIn("\n", str(caught.exception))
                self.assertFalse(pathlib.Path(self.path).exists())


if __name__ == "__main__":
    unittest.main()
