"""Conelab's operators as attention of Hugging Face models.

    conelab.transformers.register(gamma=0.5)
    model.set_attn_implementation("conelab:penumbral")   # or AutoModel.from_pretrained(..., attn_implementation=...)

"conelab" is scaled dot product with the model's own scaling, "conelab:NAME" the similarity NAME. The
model's masks apply: causal, bool, and additive ones, which are biases where their numbers are not 0
or as low as -inf. So do soft caps (softcap), sinks (s_aux) and learned position biases. Grouped key
heads are shared by their query heads. Dropout in training is refused, because the operators would
silently leave it out.
"""
import functools
import json

import torch
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from . import _conelab
from .torch import attention


def register(threads=0, **parameters):
    """Registers "conelab" and a name for each similarity. `parameters` are given to those similarities
    that have them: register(gamma=0.5)."""
    rows = json.loads(_conelab.rows("similarities"))
    taken = {row["name"]: {p["key"] for p in row["parameters"]} for row in rows}
    for key in parameters:
        if not any(key in keys for keys in taken.values()):
            known = ", ".join(sorted(set().union(*taken.values())))
            raise ValueError(f"no similarity has the parameter '{key}' (known: {known})")
    for name, keys in taken.items():
        own = {key: value for key, value in parameters.items() if key in keys}
        compute = functools.partial(_attend, similarity=name, threads=threads, parameters=own)
        for implementation in (f"conelab:{name}",) + (("conelab",) if name == "dot" else ()):
            AttentionInterface.register(implementation, compute)
            AttentionMaskInterface.register(implementation, sdpa_mask)


def is_causal_call(module, query, attention_mask, is_causal):
    """Whether a model's attention without a mask is causal, as transformers understands it."""
    if attention_mask is not None or query.shape[2] == 1:
        return False
    return bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)


def seen_keys(attention_mask, n_k):
    """A model's mask [batch, 1 or head, n_q, n_k] as bool: True where the query sees the key. It is an
    error if the mask has other numbers than 0 and those as low as -inf."""
    seen, bias = mask_and_bias(attention_mask, n_k)
    if bias is not None:
        raise ValueError("the mask has other numbers than 0 and -inf: it is a bias")
    return seen


def mask_and_bias(attention_mask, n_k):
    """A model's mask as bool, True where the query sees the key, and the numbers that it adds to the
    logits, or None if there are none but 0."""
    mask = attention_mask[..., :n_k]
    if mask.dtype == torch.bool:
        return mask, None
    seen = mask > torch.finfo(mask.dtype).min / 2
    added = torch.where(seen, mask, 0)
    return seen, added if bool((added != 0).any()) else None


def _attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, is_causal=None,
            similarity="dot", threads=0, parameters=None, **keywords):
    if dropout and module.training:
        raise ValueError(f"conelab has no dropout of weights (found {dropout}): set the model's "
                         "attention dropout to 0, or use eval()")
    parameters = dict(parameters or {})
    if similarity == "dot" and scaling is not None:
        parameters["scale"] = float(scaling)
    if keywords.get("softcap") is not None:
        parameters["soft_cap"] = float(keywords["softcap"])
    if keywords.get("s_aux") is not None:
        parameters["sinks"] = keywords["s_aux"].to(query.dtype)
    bias = keywords.get("position_bias")
    if attention_mask is not None:
        mask, added = mask_and_bias(attention_mask, key.shape[2])
        if added is not None:
            bias = added if bias is None else bias + added
    else:
        mask = "causal" if is_causal_call(module, query, attention_mask, is_causal) else None
    if bias is not None:
        parameters["bias"] = bias[..., :key.shape[2]].to(query.dtype)
    out = attention(query, key, value, similarity=similarity, mask=mask, threads=threads,
                    **parameters)
    return out.transpose(1, 2).contiguous(), None
