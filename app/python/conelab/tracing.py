"""Records the attention of Hugging Face models as traces.

    conelab.trace(model, tokenizer("Living things", return_tensors="pt"), "trace.h5", tokenizer)

The attention itself hands its tensors over, after rotary embedding and whatever a model calls its
projections. A trace holds what the attention computed with: queries, keys and values, mask, scaling,
what is added to the logits, soft cap and sinks. Each layer is computed from what was recorded, and
compared with what the model computed.
"""
import re
import warnings

import numpy as np
import torch

from . import attention, write
from ._recording import record
from ._tokens import Texts

__all__ = ["trace"]
_STACKS = {"vision": "vision", "visual": "vision", "image": "vision", "audio": "audio",
           "speech": "audio", "text": "text", "language": "text", "qformer": "qformer"}
_DROPOUTS = ("attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "attn_dropout",
             "attention_dropout_prob", "dropout_rate", "dropout")


def __dir__():
    return __all__


def trace(model, inputs, path, tokenizer=None, layers=None, text="", strict=True):
    """Runs the model once on `inputs`, a dictionary of tensors, and writes what each attention saw to
    the group "layer0", "layer1", ... of `path`, or "encoder.layer0", "decoder.layer0.self",
    "decoder.layer0.cross", "vision.layer0", ... where a model has several stacks; of several sequences
    to "text0/layer0" and so on, each without its padding. Key heads stay grouped. With a `tokenizer`
    or processor, tokens have texts. `layers`: names of the layers to keep, or their numbers in the
    order of the model, or one of them (all).

    A layer whose attention, computed from what was recorded, differs from the model's by more than
    1e-4 (2e-2 for types of 16 bits) is an error; with `strict=False` it is kept with the attribute
    exact = 0. Returns the model's output."""
    if not hasattr(inputs, "keys"):
        raise ValueError("inputs are the model's arguments by name, as tokenizer(text, "
                         f"return_tensors=\"pt\") returns them (found {type(inputs).__name__})")
    inputs = dict(inputs)
    output, calls, left_out = record(model, inputs)
    _name(calls, bool(getattr(model.config, "is_encoder_decoder", False)))
    texts = Texts(model, inputs, tokenizer)
    groups = {}
    for number, call in _chosen(calls, layers):
        count = _elements(call, inputs)
        for element in range(count):
            prefix = f"text{element}/" if count > 1 else ""
            layer, computed = _layer(call, element, count, inputs, texts)
            _check(prefix + call["name"], call, layer, computed, strict)
            groups[prefix + call["name"]] = {"layer": number, **layer}
            if call["name"] != f"layer{number}":
                groups[prefix + call["name"]]["alias"] = f"{prefix}layer{number}"
    for layer in groups.values():  # Names of older versions, unless they are those of other layers.
        if layer.get("alias") in groups:
            del layer["alias"]
    if left_out:
        warnings.warn("attention that is not in the trace: " + "; ".join(left_out), stacklevel=3)
    name = getattr(model.config, "_name_or_path", "") or type(model).__name__
    write(path, groups, model=name, text=text)
    return output


def _chosen(calls, layers):
    """The calls that `layers` names, each with its number."""
    numbered = list(enumerate(calls))
    if layers is None:
        return numbered
    layers = {layers} if isinstance(layers, (str, int)) else set(layers)
    unknown = layers.difference(*((number, call["name"]) for number, call in numbered))
    if unknown:
        names = [call["name"] for call in calls[:8]] + ["..."] * (len(calls) > 8)
        raise ValueError(f"there is no layer {', '.join(map(str, unknown))} (known: 0 to "
                         f"{len(calls) - 1}, or {', '.join(names)})")
    return [(number, call) for number, call in numbered if layers & {number, call["name"]}]


def _stack_of(path, encodes_and_decodes):
    parts = path.lower().split(".")
    words = [stack for part in parts for word, stack in _STACKS.items() if word in part]
    if encodes_and_decodes and "vision" not in words:
        return next((word for part in parts for word in ("decoder", "encoder") if word in part), "")
    return words[0] if words else ""


def _name(calls, encodes_and_decodes):
    """Gives each call its stack, kind (self or cross), and name."""
    for call in calls:
        call["stack"] = _stack_of(call["path"], encodes_and_decodes)
        is_cross = re.search(r"cross|encoder_attn|encdec", call["path"].lower())
        call["kind"] = "cross" if is_cross else "self"
    stacks = {call["stack"] for call in calls}
    crossed = {call["stack"] for call in calls if call["kind"] == "cross"}
    counts = {}
    for call in calls:
        stack, kind = call["stack"], call["kind"]
        number = counts[stack, kind] = counts.get((stack, kind), -1) + 1
        prefix = f"{stack}." if stack and (len(stacks) > 1 or encodes_and_decodes) else ""
        call["name"] = f"{prefix}layer{number}" + (f".{kind}" if stack in crossed else "")


def _elements(call, inputs):
    """The number of batch elements of a call's stack. Windows of an image are further ones of the
    attention's own batch."""
    batch = call["q"].shape[0]
    given = [x.shape[0] for x in inputs.values() if isinstance(x, torch.Tensor) and x.ndim > 1]
    return batch if batch in given or not given or batch % given[0] else given[0]


def _kept(inputs, stack, element, n, of):
    """Which of the last n of a stack's `of` tokens are not padding."""
    mask = inputs.get("decoder_attention_mask" if stack == "decoder" else "attention_mask")
    known = stack not in ("vision", "audio") and mask is not None and tuple(mask.shape[1:]) == (of,)
    own = mask[element, -n:].bool().cpu() if known else torch.ones(n, dtype=torch.bool)
    return own if bool(own.any()) else torch.ones(n, dtype=torch.bool)


def _layer(call, element, count, inputs, texts):
    """One sequence of one call, without its padding, and what the model computed for it."""
    size = call["q"].shape[0] // count
    n_q, n_k = call["q"].shape[2], call["k"].shape[2]
    crosses, of_queries = call["kind"] == "cross", call["stack"]
    of_keys = of_queries if not crosses else "encoder" if of_queries == "decoder" else ""
    rows = _kept(inputs, of_queries, element, n_q, n_q if crosses else n_k)
    columns = _kept(inputs, of_keys, element, n_k, n_k)

    def own(x):
        """The tensor of this sequence, with an axis of windows if there are several."""
        x = x[element * size:(element + 1) * size] if x.shape[0] > 1 else x
        return x[0] if x.shape[0] == 1 and size == 1 else x
    layer = {"q": own(call["q"])[..., rows, :], "k": own(call["k"])[..., columns, :],
             "v": own(call["v"])[..., columns, :], "sinks": call["sinks"]}
    pairs = {}
    for name in ("seen", "bias"):
        x = None if call[name] is None else own(call[name])
        if x is not None:
            x = x.expand(*x.shape[:-1], n_k)[..., columns]
            x = _least(x[..., rows, :] if x.shape[-2] > 1 else x)
        pairs[name] = x
    layer["mask"], layer["bias"] = _of_pairs(pairs["seen"], pairs["bias"], int(rows.sum()))
    computed = own(call["output"]).transpose(-3, -2)[..., rows, :]
    layer = {name: _array(x) for name, x in layer.items() if x is not None}
    if size == 1:
        config = getattr(call["module"], "config", None)
        for name, stack, kept in (("tokens", of_queries, rows), ("key_tokens", of_keys, columns)):
            words = texts.of(stack, element, len(kept), config)
            if words:
                layer[name] = [word for word, is_kept in zip(words, kept.tolist()) if is_kept]
        if "tokens" in layer and "key_tokens" not in layer:  # They are not those of the queries.
            layer["key_tokens"] = range(layer["k"].shape[-2])
    said = {"similarity": "dot", "scale": float(call["scale"]), "soft_cap": call["soft_cap"],
            "window": call["window"], "dropout": _dropout(call["module"]), "kind": call["kind"],
            "name": call["name"], "module": call["path"]}
    return {**layer, **{name: x for name, x in said.items() if x is not None}}, _array(computed.float())


def _of_pairs(seen, bias, n_q):
    """The mask [.., n_q, n_k] and the bias of a layer; None where there is none."""
    if bias is not None and bias.ndim == 4:
        bias, shown = _bias_of_windows(bias)
        seen = _least(shown if seen is None else seen & shown)
    if seen is None or bool(seen.all()):
        return None, bias
    seen = seen.expand(*seen.shape[:-2], n_q, -1)
    return (seen[0] if seen.ndim == 3 and seen.shape[0] == 1 else seen), bias


def _least(x):
    """A tensor [.., head, n_q, n_k] with the size 1 where all heads or all queries are equal."""
    for axis in (-3, -2):
        first = x.narrow(axis, 0, 1)
        x = first if bool((x == first).all()) else x
    return x


def _bias_of_windows(bias):
    """Where a model hides pairs of a window by a bias of -100 (Swin's kind): the bias of all windows,
    and which pairs are seen; otherwise the bias as it is."""
    most = bias.amax(0, keepdim=True)
    seen = bias > most - 50
    return (most[0], seen) if bool((seen == (bias == most)).all()) else (bias, seen | True)


def _dropout(module):
    """The share of weights that the configuration drops in training; None if it says none."""
    for holder in (module, getattr(module, "config", None)):
        for name in _DROPOUTS:
            value = getattr(holder, name, None)
            value = getattr(value, "p", value)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return float(value)
    return None


def _check(name, call, layer, computed, strict):
    """Compares attention of what was recorded with what the model computed; of a layer that differs,
    raises, or sets exact = 0."""
    keywords = {key: layer[key] for key in ("mask", "bias", "sinks", "soft_cap", "scale")
                if key in layer}
    found = attention(layer["q"], layer["k"], layer["v"], similarity="dot", **keywords)
    difference = np.abs(found.astype("f4") - computed)
    largest = float(np.abs(computed).max(initial=1))
    if "mask" in layer:  # Of a query that sees no key, models return the mean of all values.
        seen = np.asarray(layer["mask"]).any(-1)
        difference = difference[np.broadcast_to(seen, difference.shape[:-1])]
    most = float(difference.max(initial=0))
    layer["exact"] = int(most <= (1e-4 if layer["q"].dtype.itemsize > 2 else 2e-2) * largest)
    if layer["exact"]:
        return
    if call["module"].training and layer.get("dropout"):
        reason = "the model is training, with dropout: call model.eval()"
    elif not np.isfinite(computed).all():
        reason = "the model's own output has numbers that are not finite"
    elif call["others"]:
        reason = f"its attention takes {', '.join(call['others'])}, which a trace does not hold"
    else:
        reason = f"{type(call['module']).__name__} computes more than a trace holds"
    said = (f"{name} ({call['path']}): attention of what was recorded differs from the model's by "
            f"{most:.2g}: {reason}")
    if strict:
        raise RuntimeError(said + " (strict=False keeps the layer, with the attribute exact = 0)")
    warnings.warn(said, stacklevel=4)


def _array(x):
    """A tensor as an array; bfloat16 as that of ml_dtypes."""
    if x.dtype == torch.bfloat16:
        import ml_dtypes
        return x.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return x.numpy()
