"""Records the queries, keys and values of Hugging Face models as traces.

    conelab.trace(model, tokenizer("Living things", return_tensors="pt"), "trace.h5", tokenizer)

The attention itself hands them over (transformers' AttentionInterface), after rotary embedding and
whatever a model calls its projections.
"""
import contextlib
import functools

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from . import write
from .transformers import is_causal_call, seen_keys

_NAME = "conelab-trace"


def trace(model, inputs, path, tokenizer=None, layers=None, text=""):
    """Runs the model once on `inputs`, a dictionary of tensors, and writes q, k, v and the mask of
    each attention to the group "layer0", "layer1", ... of `path`; of several sequences to
    "text0/layer0" and so on, each without its padding. Key heads stay grouped. With a `tokenizer`,
    tokens have texts. `layers`: numbers of the layers to keep (all). Returns the model's output."""
    if not hasattr(inputs, "keys"):
        raise ValueError("inputs are the model's arguments by name, as tokenizer(text, "
                         f"return_tensors=\"pt\") returns them (found {type(inputs).__name__})")
    inputs = dict(inputs)
    kept = None if layers is None else set(layers)
    calls = []
    with _recording(model, calls), torch.no_grad():
        output = model(**inputs)
    if not calls:
        raise RuntimeError(f"{type(model).__name__} computed no attention through transformers' "
                           "AttentionInterface: nothing to record")
    groups = {}
    ids = inputs.get("input_ids", inputs.get("decoder_input_ids"))
    for element in range(calls[0]["q"].shape[0]):
        prefix = f"text{element}/" if calls[0]["q"].shape[0] > 1 else ""
        for number, call in enumerate(calls):
            if kept is None or number in kept:
                groups[f"{prefix}layer{number}"] = {
                    "layer": number, **_layer(call, element, inputs, ids, tokenizer)}
    if not groups:
        raise ValueError(f"there is no layer {layers} (the model has {len(calls)})")
    name = getattr(model.config, "_name_or_path", "") or type(model).__name__
    write(path, groups, model=name, text=text)
    return output


@contextlib.contextmanager
def _recording(model, calls):
    """Makes all attention of the model pass through `calls`."""
    AttentionInterface.register(_NAME, functools.partial(_record, calls=calls))
    AttentionMaskInterface.register(_NAME, sdpa_mask)
    configs = {id(m.config): m.config for m in model.modules()
               if hasattr(getattr(m, "config", None), "_attn_implementation")}
    before = [(config, config._attn_implementation) for config in configs.values()]
    try:
        for config, _ in before:
            config._attn_implementation = _NAME
        yield
    finally:
        for config, name in before:
            config._attn_implementation = name


def _record(module, query, key, value, attention_mask, *args, calls, is_causal=None, **keywords):
    causal = is_causal_call(module, query, attention_mask, is_causal)
    n_q, n_k = query.shape[2], key.shape[2]
    if attention_mask is not None:
        seen = seen_keys(attention_mask, n_k)[:, :1].expand(query.shape[0], 1, n_q, -1)[:, 0]
    else:
        seen = torch.ones(query.shape[0], n_q, n_k, dtype=torch.bool)
        seen = seen.tril(n_k - n_q) if causal else seen
    calls.append({"q": query.detach().cpu(), "k": key.detach().cpu(), "v": value.detach().cpu(),
                  "mask": seen.cpu()})
    return sdpa_attention_forward(module, query, key, value, attention_mask, *args,
                                  is_causal=is_causal, **keywords)


def _layer(call, element, inputs, ids, tokenizer):
    """One sequence of one layer, without its padding."""
    arrays = {name: x[element] for name, x in call.items()}
    valid = inputs.get("attention_mask")
    n_q, n_k = arrays["mask"].shape
    if valid is not None and valid.ndim == 2 and valid.shape[1] == n_q == n_k:
        own = valid[element].bool().cpu()
        arrays = {name: x[:, own] for name, x in arrays.items()}
        arrays["mask"] = arrays["mask"][own]
        ids = None if ids is None else ids[element].cpu()[own]
    elif ids is not None:
        ids = ids[element]
    layer = {name: _array(x) for name, x in arrays.items() if name != "mask"}
    if not bool(arrays["mask"].all()):
        layer["mask"] = arrays["mask"].numpy()
    if tokenizer is not None and ids is not None and len(ids) == layer["q"].shape[-2]:
        layer["tokens"] = tokenizer.convert_ids_to_tokens(ids.tolist())
    return layer


def _array(x):
    """A tensor as an array; bfloat16 as that of ml_dtypes."""
    if x.dtype == torch.bfloat16:
        import ml_dtypes
        return x.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return x.numpy()
