"""The logits in plain PyTorch, as their papers print them: reference in float64, peer in any dtype.

Arguments are placed tokens: base coordinates [..., n, m] and heights [..., n].
"""
import math

import torch


def distance(q, k):
    """Matrix-product form; exact differences in float64, where n is small."""
    if q.dtype == torch.float64:
        return torch.cdist(q, k, compute_mode="donot_use_mm_for_euclid_dist")
    q2 = (q * q).sum(-1)[..., :, None]
    k2 = (k * k).sum(-1)[..., None, :]
    return (q2 + k2 - 2 * q @ k.transpose(-1, -2)).clamp_min(0).sqrt()


def umbral_height(d, u, v, radius):
    return torch.maximum(torch.maximum(u, v), d / (2 * math.sinh(radius)) + (u + v) / 2)


def penumbral_height(d, u, v, h):
    s_u = (h * h - u * u).clamp_min(0).sqrt()
    s_v = (h * h - v * v).clamp_min(0).sqrt()
    inside = torch.minimum(torch.minimum(s_u, s_v), (s_u + s_v - d) / 2)
    within = (h * h - inside * inside).clamp_min(0).sqrt()
    safe = torch.where(d > 0, d, torch.ones_like(d))
    outside = (d * d / 4 + (u * u + v * v) / 2 + ((u * u - v * v) / (2 * safe)) ** 2).sqrt()
    return torch.where(d <= s_u + s_v, within, outside)


def logits(name, q, k, u, v, parameters, size):
    """`size` is the feature size d before the map: the product's default scale."""
    if name == "dot":
        return q @ k.transpose(-1, -2) * parameters.get("scale", 1 / math.sqrt(size))
    if name == "additive":
        terms = size // 2  # Of an odd size, the last column is not read.
        t = torch.tanh(q[..., :, None, :terms] + k[..., None, :, :terms])
        return (t * k[..., None, :, terms:2 * terms]).sum(-1)
    d = distance(q, k)
    if name == "laplacian":
        return -parameters["gamma"] * d
    u, v = u[..., :, None], v[..., None, :]
    if name == "umbral":
        return -parameters["gamma"] * umbral_height(d, u, v, parameters["radius"])
    return -parameters["gamma"] * penumbral_height(d, u, v, parameters["height"])


def attention(name, q, k, u, v, value, parameters, size, causal=False, part=None, leaves=()):
    """`part` and its leaves: tests/gpu/parts.py."""
    if part is not None and part.share > 1:
        k, v, value = (None if t is None else t.repeat_interleave(part.share, 0) for t in (k, v, value))
    x = logits(name, q, k, u, v, parameters, size)
    if part is not None:
        x = part.logits(x, leaves)
    n_q, n_k = x.shape[-2:]
    if causal:
        seen = torch.ones(n_q, n_k, dtype=torch.bool, device=x.device).tril(n_k - n_q)
        x = x.masked_fill(~seen, -math.inf)
    if part is None:
        return torch.softmax(x, -1) @ value
    if part.seen() is not None:
        x = x.masked_fill(~part.seen(), -math.inf)
    return part.output(part.weights(x), value, leaves)


def score_mod(name, u, v, q2, k2, parameters, size):
    """FlexAttention: the product q.k with scale 1 becomes the cone's logit."""
    if name == "dot":
        scale = parameters.get("scale", 1 / math.sqrt(size))
        return lambda score, b, h, i, j: score * scale
    gamma = parameters["gamma"]

    def distance_of(score, b, h, i, j):
        return torch.sqrt(torch.clamp(q2[b, h, i] + k2[b, h, j] - 2 * score, min=0.0))

    if name == "laplacian":
        return lambda score, b, h, i, j: -gamma * distance_of(score, b, h, i, j)
    if name == "umbral":
        slope = 1 / (2 * math.sinh(parameters["radius"]))

        def umbral(score, b, h, i, j):
            a, c = u[b, h, i], v[b, h, j]
            return -gamma * torch.maximum(torch.maximum(a, c),
                                          distance_of(score, b, h, i, j) * slope + (a + c) / 2)
        return umbral
    light = parameters["height"]

    def penumbral(score, b, h, i, j):
        a, c = u[b, h, i] ** 2, v[b, h, j] ** 2
        d = distance_of(score, b, h, i, j)
        s_a, s_c = torch.sqrt(light ** 2 - a), torch.sqrt(light ** 2 - c)
        m = torch.minimum(torch.minimum(s_a, s_c), (s_a + s_c - d) / 2)
        safe = torch.clamp(d, min=1e-12)
        outside = d * d / 4 + (a + c) / 2 + ((a - c) / (2 * safe)) ** 2
        return -gamma * torch.sqrt(torch.where(d <= s_a + s_c, light ** 2 - m * m, outside))
    return penumbral
