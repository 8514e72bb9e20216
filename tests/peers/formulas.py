"""The attention of Coneheads and its baselines as one would write it in PyTorch.

Formulas and names as in `conelab list similarities`, default parameters, with the default map:
penumbral h = 1, umbral r = 0.1, Laplacian gamma = 1, dot scale = 1 / sqrt(d). q, k [.., n, d],
v [.., n, d_v]. Written for this comparison, n x n arrays and all; under `torch.compile` the
point-wise parts are fused.
"""
import math

import torch

SINH_RADIUS = math.sinh(0.1)
SMALLEST_DISTANCE = 1e-6  # Keeps the gradient of the branch that is not taken finite.


def dot_logits(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def laplacian_logits(q, k):
    return -torch.cdist(q, k)


def penumbral_map(x):
    """xi: below the light's height h = 1."""
    height = torch.sigmoid(x[..., -1:])
    return x[..., :-1] * height, height


def umbral_map(x):
    """psi: the half-space."""
    height = torch.exp(x[..., -1:])
    return x[..., :-1] * height, height


def penumbral_height(distance, a, b):
    """Height of the lowest common ancestor at h = 1; a [.., n_q, 1] and b [.., 1, n_k] heights."""
    p, r = (x * x / (1 + torch.sqrt((1 - x * x).clamp_min(0))) for x in (a, b))
    delta = torch.maximum(torch.maximum(p, r), (p + r + distance) / 2)
    inside = delta * (2 - delta)
    squared_heights = a * a, b * b
    slant = (squared_heights[0] - squared_heights[1]) / (2 * distance.clamp_min(SMALLEST_DISTANCE))
    outside = distance * distance / 4 + (squared_heights[0] + squared_heights[1]) / 2 + slant * slant
    return torch.sqrt(torch.where(delta <= 1, inside, outside))


def penumbral_logits(q, k):
    (q_flat, a), (k_flat, b) = penumbral_map(q), penumbral_map(k)
    return -penumbral_height(torch.cdist(q_flat, k_flat), a, b.transpose(-2, -1))


def umbral_height(distance, a, b):
    return torch.maximum(torch.maximum(a, b), distance / (2 * SINH_RADIUS) + (a + b) / 2)


def umbral_logits(q, k):
    (q_flat, a), (k_flat, b) = umbral_map(q), umbral_map(k)
    return -umbral_height(torch.cdist(q_flat, k_flat), a, b.transpose(-2, -1))


LOGITS = {"dot": dot_logits, "laplacian": laplacian_logits, "penumbral": penumbral_logits,
          "umbral": umbral_logits}


def attention(name):
    logits = LOGITS[name]

    def attend(q, k, v):
        return torch.softmax(logits(q, k), dim=-1) @ v
    return attend


# ---- block-wise peers: KeOps and FlexAttention ---------------------------------------------------

def squared_norms(x):
    return (x * x).sum(-1)


def keops_penumbral(q, k, v):
    """Lazy tensors: no n x n array, compiled on first use."""
    from pykeops.torch import LazyTensor
    (q_flat, a), (k_flat, b) = penumbral_map(q), penumbral_map(k)
    distance = ((LazyTensor(q_flat[..., :, None, :]) - LazyTensor(k_flat[..., None, :, :])) ** 2).sum(-1).sqrt()
    a, b = LazyTensor(a[..., :, None, :]), LazyTensor(b[..., None, :, :])
    p, r = (x * x / (1 + (1 - x * x).relu().sqrt()) for x in (a, b))
    low = (p - r).ifelse(p, r)  # The larger of the two.
    mean = (p + r + distance) / 2
    delta = (low - mean).ifelse(low, mean)
    slant = (a * a - b * b) / (2 * (distance + SMALLEST_DISTANCE))
    inside, outside = delta * (2 - delta), distance ** 2 / 4 + (a * a + b * b) / 2 + slant ** 2
    logit = -((1 - delta).ifelse(inside, outside)).sqrt()
    return logit.sumsoftmaxweight(LazyTensor(v[..., None, :, :]), dim=q.dim() - 1)


def flex_attention_of(name):
    """FlexAttention with the cone as score_mod: it gets q.k and captures norms and heights."""
    from torch.nn.attention.flex_attention import flex_attention
    mapped = {"penumbral": penumbral_map, "umbral": umbral_map}[name]
    height_of = {"penumbral": penumbral_height, "umbral": umbral_height}[name]

    def attend(q, k, v):
        (q_flat, a), (k_flat, b) = mapped(q), mapped(k)
        q_norms, k_norms = squared_norms(q_flat), squared_norms(k_flat)
        a, b = a[..., 0], b[..., 0]
        zero = torch.zeros_like(q[..., :1])  # The extent must stay a power of two.

        def score(product, batch, head, i, j):
            square = q_norms[batch, head, i] + k_norms[batch, head, j] - 2 * product
            distance = torch.sqrt(square.clamp_min(0))
            return -height_of(distance, a[batch, head, i], b[batch, head, j])
        return flex_attention(torch.cat((q_flat, zero), -1), torch.cat((k_flat, torch.zeros_like(zero)), -1),
                              v, score_mod=score, scale=1.0)
    return attend
