"""conelab.torch's layers beside PyTorch's own. Needs the installed package and PyTorch."""
import copy
import io
import itertools
import pickle
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("no PyTorch")

from torch import nn

import conelab.torch
from conelab.torch import Attention, MultiheadAttention, attention

torch.manual_seed(3)
NEVER = float("-inf")


def pair(**options):
    """PyTorch's layer, and conelab's with the same parameters."""
    peer = nn.MultiheadAttention(8, 2, dtype=torch.float64, **options)
    own = MultiheadAttention(8, 2, dtype=torch.float64, similarity="dot", **options)
    own.load_state_dict(peer.state_dict())
    return peer, own


class Layers(unittest.TestCase):
    def expect_equal(self, peer, own, *inputs, **options):
        for expected, found in zip(peer(*inputs, **options), own(*inputs, **options)):
            self.assertEqual(expected is None, found is None)
            if expected is not None:
                torch.testing.assert_close(found, expected)

    def test_dot_is_pytorchs_layer(self):
        choices = itertools.product((False, True), ({}, {"bias": False}, {"add_bias_kv": True},
                                                    {"add_zero_attn": True}, {"kdim": 5, "vdim": 3}))
        for batch_first, options in choices:
            peer, own = pair(batch_first=batch_first, **options)
            sizes = ((8, 6), (options.get("kdim", 8), 7), (options.get("vdim", 8), 7))
            batch = [torch.randn(*(3, n) if batch_first else (n, 3), d, dtype=torch.float64) for d, n in sizes]
            padding = torch.zeros(3, 7, dtype=torch.bool)
            padding[1, 4:] = True
            causal = torch.ones(6, 7, dtype=torch.bool).triu(2)
            as_numbers = torch.zeros(6, 7, dtype=torch.float64).masked_fill(causal, NEVER)
            by_head = causal.expand(6, 6, 7)
            with self.subTest(batch_first=batch_first, **options):
                self.expect_equal(peer, own, *batch)
                self.expect_equal(peer, own, *batch, need_weights=False)
                self.expect_equal(peer, own, *batch, average_attn_weights=False)
                self.expect_equal(peer, own, *batch, key_padding_mask=padding, attn_mask=causal)
                self.expect_equal(peer, own, *batch, attn_mask=as_numbers)
                self.expect_equal(peer, own, *batch, attn_mask=torch.randn(6, 7, dtype=torch.float64),
                                  key_padding_mask=padding * -3.0)
                self.expect_equal(peer, own, *batch, attn_mask=by_head)
                one = [x[0] if batch_first else x[:, 0] for x in batch]
                self.expect_equal(peer, own, *one, key_padding_mask=padding[1])
                if not options:
                    x = batch[0]
                    hint = torch.ones(6, 6, dtype=torch.bool).triu(1)
                    self.expect_equal(peer, own, x, x, x, attn_mask=hint, is_causal=True, need_weights=False)

    def test_gradients_are_pytorchs(self):
        peer, own = pair(batch_first=True)
        x = torch.randn(2, 5, 8, dtype=torch.float64)
        for layer in (peer, own):
            (layer(x, x, x)[0] ** 2).sum().backward()
        for name, parameter in peer.named_parameters():
            torch.testing.assert_close(own.get_parameter(name).grad, parameter.grad)

    def test_trained_numbers_are_parameters(self):
        layer = MultiheadAttention(8, 2, batch_first=True, similarity="umbral", trained=["gamma"], radius=0.5)
        x = torch.randn(2, 5, 8)
        self.assertEqual(layer.attention.gamma.shape, (2,))
        before = layer.attention.gamma.detach().clone()
        optimiser = torch.optim.SGD(layer.parameters(), 0.1)
        layer(x, x, x)[0].square().sum().backward()
        optimiser.step()
        self.assertTrue(bool((layer.attention.gamma != before).all()))
        self.assertIn("attention.gamma", layer.state_dict())
        self.assertEqual(layer.attention.extra_repr(), "'umbral', radius=0.5, trained=['gamma']")

    def test_copies_compute_the_same(self):
        layer = MultiheadAttention(8, 2, batch_first=True, trained=["gamma"], height=2.0)
        with torch.no_grad():
            layer.attention.gamma[1] = 3
        x = torch.randn(2, 5, 8)
        expected = layer(x, x, x)[0]
        stored = io.BytesIO()
        torch.save(layer.state_dict(), stored)
        stored.seek(0)
        loaded = MultiheadAttention(8, 2, batch_first=True, trained=["gamma"], height=2.0)
        loaded.load_state_dict(torch.load(stored))
        for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), loaded):
            torch.testing.assert_close(other(x, x, x)[0], expected, rtol=0, atol=0)

    def test_attention_is_the_call_with_its_parameters(self):
        q, k = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 6, 4)
        weight = nn.Parameter(torch.randn(4, 4))
        layer = Attention("multiplicative", W=weight)
        torch.testing.assert_close(layer(q, k, mask="causal"),
                                   attention(q, k, similarity="multiplicative", W=weight, mask="causal"))
        self.assertEqual([name for name, _ in layer.named_parameters()], ["W"])
        self.assertEqual(layer(q, k, return_lse=True)[1].shape, (2, 3, 5))

    def test_encoder_layers_do_not_bypass_it(self):
        encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        encoder.self_attn = MultiheadAttention(8, 2, batch_first=True)
        encoder.eval()
        x = torch.randn(2, 5, 8)
        found = encoder(x)
        with torch.no_grad():
            torch.testing.assert_close(encoder(x), found)

    def test_bfloat16_has_weights(self):
        layer = MultiheadAttention(8, 2, batch_first=True, dtype=torch.bfloat16, trained=["gamma"])
        x = torch.randn(2, 5, 8, dtype=torch.bfloat16)
        out, weights = layer(x, x, x)
        self.assertEqual(out.dtype, torch.bfloat16)
        torch.testing.assert_close(weights.sum(2).float(), torch.ones(2, 5), rtol=0.02, atol=0)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no number 'gama'.*gamma"):
            Attention("penumbral", trained=["gama"])
        with self.assertRaisesRegex(ValueError, "unknown operator 'cone'"):
            Attention("cone", trained=["gamma"])

    def test_dropout_is_of_training(self):
        layer = MultiheadAttention(8, 2, dropout=0.5, batch_first=True)
        x = torch.randn(2, 50, 8)
        torch.manual_seed(2)
        first, weights = layer(x, x, x)
        torch.manual_seed(2)
        self.assertTrue(torch.equal(layer(x, x, x)[0], first))
        self.assertFalse(torch.equal(layer(x, x, x)[0], first))
        plain, own = layer.eval()(x, x, x)
        self.assertTrue(torch.equal(layer(x, x, x)[0], plain))
        torch.testing.assert_close(weights, own)
        many = torch.stack([layer.train()(x, x, x)[0] for _ in range(400)])
        error = (many.mean(0) - plain).abs().max() / many.std(0).max() * 400 ** 0.5
        self.assertLess(error.item(), 6)

    def test_is_exported(self):
        self.assertEqual(dir(conelab.torch), ["Attention", "MultiheadAttention", "attention"])


if __name__ == "__main__":
    unittest.main()
