"""Conelab's operators as attention of Hugging Face models.

    conelab.transformers.register(gamma=0.5)
    model.set_attn_implementation("conelab:penumbral")   # or AutoModel.from_pretrained(..., attn_implementation=...)

"conelab" is scaled dot product with the model's own scaling, "conelab:NAME" the similarity NAME. The
model's masks apply: causal, bool, and additive ones, which are biases where their numbers are not 0
or as low as -inf. So do soft caps (softcap), sinks (s_aux) and learned position biases. Grouped key
heads are shared by their query heads. Dropout of weights applies in training.
"""
import functools
import json

import torch
from transformers import AttentionInterface

try:
    from transformers import masking_utils
except ImportError:
    masking_utils = None  # Before 4.53, models make the masks of all implementations alike.

from . import _conelab
from .torch import attention

__all__ = ["register"]


def __dir__():
    return __all__


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
            register_mask(implementation, "sdpa_mask")


def register_mask(implementation, function):
    """Makes models give an implementation the masks of transformers' `function`."""
    if masking_utils is not None:
        masking_utils.AttentionMaskInterface.register(implementation,
                                                      getattr(masking_utils, function))


def is_causal_call(module, query, attention_mask, is_causal):
    """Whether a model's attention without a mask is causal, as transformers understands it."""
    if attention_mask is not None or query.shape[2] == 1:
        return False
    return bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)


def whole_mask(module, mask, n_q, n_k):
    """Before 4.53, GPT-2 gives its own attention a mask of the padding alone. Returns the mask, of
    bool then, with the pairs that are hidden beside."""
    if masking_utils is not None or n_q == 1 or not getattr(module, "is_causal", False):
        return mask
    causal = torch.ones(1, 1, n_q, n_k, dtype=torch.bool).tril(n_k - n_q)
    if mask is None:
        return causal
    return mask if mask.shape[-2] > 1 else seen_keys(mask, n_k) & causal.to(mask.device)


def seen_keys(attention_mask, n_k):
    """A model's mask [batch, 1 or head, n_q, n_k] as bool: True where the query sees the key. It is an
    error if the mask has other numbers than 0 and those as low as -inf."""
    seen, bias = mask_and_bias(attention_mask, n_k)
    if bias is not None:
        raise ValueError("the mask has other numbers than 0 and -inf: it is a bias")
    return seen


def mask_and_bias(attention_mask, n_k):
    """A model's mask as bool, True where the query sees the key, and the numbers that it adds to the
    logits, or None if there are none but 0. Models hide pairs by the lowest number of a type, by -inf,
    or by -1e4 and less."""
    mask = attention_mask[..., :n_k]
    if mask.dtype == torch.bool:
        return mask, None
    seen = mask > max(torch.finfo(mask.dtype).min / 2, -9e3)
    added = torch.where(seen, mask, 0)
    return seen, added if bool((added != 0).any()) else None


def _attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, is_causal=None,
            similarity="dot", threads=0, parameters=None, **keywords):
    parameters = dict(parameters or {})
    if attention_mask is not None:
        attention_mask = whole_mask(module, attention_mask, query.shape[2], key.shape[2])
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
        if mask and key.shape[2] > query.shape[2]:  # The first tokens of a cache of fixed size.
            key, value = (x[:, :, :query.shape[2]] for x in (key, value))
    if bias is not None:
        if "soft_cap" in parameters:
            raise ValueError("conelab caps logits together with their bias; this model does not")
        parameters["bias"] = bias[..., :key.shape[2]].to(query.dtype)
    out = attention(query, key, value, similarity=similarity, mask=mask, threads=threads,
                    dropout_p=dropout if module.training else 0.0, **parameters)
    return out.transpose(1, 2).contiguous(), None
