"""Records what the attention of a Hugging Face model reads and returns, while the model runs.

Attention that passes transformers' AttentionInterface hands its tensors over, and is computed by the
model's own function (`eager_attention_forward` of its file). That of BLOOM, Falcon and MPT, which
computes itself and adds ALiBi, is read by hooks. All other attention is named as left out.
"""
import contextlib
import functools
import inspect
import sys

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from .transformers import is_causal_call, mask_and_bias, register_mask, whole_mask

_NAME = "conelab-trace"
# Arguments of the interface that a trace holds, and positions, which the masks hold.
_HELD = {"scaling", "dropout", "is_causal", "softcap", "s_aux", "position_bias", "sliding_window",
         "position_ids"}
_BLOCKS = "it computes blocks of pairs, of which a trace of all pairs says nothing"
_REASONS = {
    "Deberta": "its logits have products of content and of relative positions (disentangled attention)",
    "Disentangled": "its logits have products of content and of relative positions (disentangled "
                    "attention)",
    "Longformer": _BLOCKS, "LED": _BLOCKS, "BigBirdBlock": _BLOCKS, "LongT5": _BLOCKS,
    "Reformer": "it compares hashes", "LSH": "it compares hashes",
    "XLNet": "its logits have products with relative positions",
    "Nystromformer": "it approximates the softmax", "Falcon": "without ALiBi it is not recorded"}


def record(model, inputs):
    """Runs the model. Returns its output, and the recorded calls of attention in their order, each a
    dictionary:
    path, module                the module's name in the model, and the module
    q, k, v                     [batch, heads, n, d]; k and v may have fewer heads
    seen                        [1 or batch, 1 or heads, n_q, n_k] of bool, or None
    bias                        [1 or batch, 1 or heads, 1 or n_q, n_k], what is added to the logits
    scale, soft_cap, window     numbers, or None
    sinks                       [heads], or None
    output                      [batch, n_q, heads, d_v], as the model computed it
    others                      names of arguments that were given, and that no trace holds
    Throws if there is none."""
    name, calls, ran = type(model).__name__, [], []
    parameters = [] if hasattr(model, "hf_device_map") else list(model.parameters())
    if parameters and all(x.is_meta for x in parameters):
        raise RuntimeError(f"{name} is on the device meta, where tensors have no numbers")
    paths = {id(module): path for path, module in model.named_modules()}
    with _recording(model, calls, ran), torch.no_grad():
        output = model(**inputs)
    for call in calls:
        call["path"] = paths.get(id(call["module"]), "")
    left_out = _left_out([paths[id(module)] for module in ran], [call["path"] for call in calls])
    reasons = [f"{path or name} ({_reason(model.get_submodule(path))})"
               for path in left_out]
    if not calls:
        raise RuntimeError(f"{name}: attention cannot be recorded: {reasons[0]}" if reasons
                           else f"{name} has no attention: there is nothing to record")
    return output, calls, reasons


def _reason(module):
    name = type(module).__name__
    known = next((text for start, text in _REASONS.items() if name.startswith(start)), None)
    return f"{name}: " + (known or "it does not pass transformers' AttentionInterface")


def _left_out(ran, recorded):
    """The paths of attention that ran, within which nothing was recorded, the innermost alone."""
    def holds(outer, inner):
        return inner == outer or inner.startswith(outer + ".")
    alone = [path for path in ran if not any(holds(path, r) or holds(r, path) for r in recorded)]
    return [path for path in dict.fromkeys(alone)
            if not any(path != other and holds(path, other) for other in alone)]


@contextlib.contextmanager
def _recording(model, calls, ran):
    """Makes all attention of the model pass through `calls`, and lists in `ran` the modules that
    call themselves attention."""
    AttentionInterface.register(_NAME, functools.partial(_record, calls=calls))
    register_mask(_NAME, "eager_mask")
    # All others compute as they would without a recording.
    configs = {id(m.config): m.config for m in model.modules()
               if hasattr(getattr(m, "config", None), "_attn_implementation")
               and hasattr(sys.modules[type(m).__module__], "ALL_ATTENTION_FUNCTIONS")}
    before = [(config, config._attn_implementation) for config in configs.values()]
    handles = []
    try:
        for config, _ in before:
            config._attn_implementation = _NAME
        for module in model.modules():
            if "attention" in type(module).__name__.lower():
                handles.append(module.register_forward_hook(lambda m, *_: ran.append(m)))
            if type(module).__name__ in _ALIBI:
                handles += _Hooks(module, calls).handles
        yield
    finally:
        for handle in handles:
            handle.remove()
        for config, name in before:
            config._attn_implementation = name
        AttentionInterface.register(_NAME, _record)  # The table keeps no tensors.


def _record(module, query, key, value, attention_mask, *args, calls, **keywords):
    forward = inspect.unwrap(type(module).forward)
    own = getattr(forward, "__globals__", {}).get("eager_attention_forward", sdpa_attention_forward)
    result = own(module, query, key, value, attention_mask, *args, **keywords)
    added = keywords.get("position_bias")
    if attention_mask is None and own is sdpa_attention_forward and is_causal_call(
            module, query, None, keywords.get("is_causal")):
        attention_mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()
        attention_mask = attention_mask[None, None].to(query.device)
    if own is not sdpa_attention_forward:
        attention_mask = whole_mask(module, attention_mask, query.shape[2], key.shape[2])
    sinks = keywords.get("s_aux")
    scale = keywords.get("scaling")
    calls.append(_call(
        module, query, key, value, attention_mask, added, result[0],
        query.shape[-1] ** -0.5 if scale is None else float(scale), soft_cap=keywords.get("softcap"),
        sinks=sinks, window=keywords.get("sliding_window"),
        others=sorted(name for name, x in keywords.items() if x is not None and name not in _HELD)))
    return result


def _call(module, q, k, v, mask, added, output, scale, *, soft_cap=None, sinks=None, window=None,
          others=()):
    seen, bias = _split(mask, added, k.shape[2], q.dtype)
    return {"module": module, "q": _kept(q), "k": _kept(k.to(q.dtype)), "v": _kept(v.to(q.dtype)),
            "seen": _kept(seen), "bias": _kept(bias), "scale": scale, "soft_cap": soft_cap,
            "sinks": None if sinks is None else _kept(sinks.to(q.dtype)), "window": window,
            "output": _kept(output), "others": list(others)}


def _kept(x):
    return None if x is None else x.detach().cpu()


def _split(mask, added, n_k, dtype):
    """Of what is added to the logits, a mask of bool or numbers and a bias: which keys are seen, or
    None for all, and the bias of these, or None."""
    seen, bias = None, None
    for x in (mask, added):
        shown, own = (None, None) if x is None else mask_and_bias(x, n_k)
        if own is not None:
            bias = own if bias is None else bias + own
        if shown is not None and not bool(shown.all()):
            seen = shown if seen is None else seen & shown
    return seen, None if bias is None else bias.to(dtype)


# Attention with ALiBi that computes itself: the projection to q, k and v, that of the output, and a
# function of the module, the first one's output and the module's arguments that returns q, k and v
# [batch, heads, n, d], the mask, ALiBi and the scale.


def _bloom(module, fused, given):
    q, k, v = module._reshape(fused)
    alibi = given["alibi"].view(q.shape[0], module.num_heads, 1, -1) * module.beta
    return q, k, v, given["attention_mask"], alibi, module.inv_norm_factor


def _falcon(module, fused, given):
    alibi, mask = given["alibi"], given["attention_mask"]
    if alibi is None:
        return None
    q, k, v = (x.transpose(1, 2) for x in module._split_heads(fused))
    alibi = alibi.view(q.shape[0], module.num_heads, 1, -1) * module.inv_norm_factor
    if getattr(module, "_use_sdpa", module.config._attn_implementation == "sdpa"):
        mask = None if mask is None else mask_and_bias(mask, k.shape[2])[0]  # It holds ALiBi, too.
    return q, k, v, mask, alibi, module.inv_norm_factor


def _mpt(module, fused, given):
    fused = fused.clamp(-module.clip_qkv, module.clip_qkv) if module.clip_qkv else fused
    q, k, v = (x.unflatten(2, (module.n_heads, module.head_dim)).transpose(1, 2)
               for x in fused.chunk(3, dim=2))
    bias, hidden = given["position_bias"], given.get("attention_mask")
    if bias is not None:
        bias = bias[None, :, -q.shape[2]:, -k.shape[2]:]
    return q, k, v, None if hidden is None else ~hidden.bool(), bias, module.softmax_scale


_ALIBI = {"BloomAttention": ("query_key_value", "dense", _bloom),
          "FalconAttention": ("query_key_value", "dense", _falcon),
          "MptAttention": ("Wqkv", "out_proj", _mpt)}


class _Hooks:
    """The hooks of one module with ALiBi."""

    def __init__(self, module, calls):
        first, last, self.read = _ALIBI[type(module).__name__]
        self.module, self.calls, self.given, self.fused = module, calls, None, None
        self.handles = [
            module.register_forward_pre_hook(self.begin, with_kwargs=True),
            module.get_submodule(first).register_forward_hook(self.project),
            module.get_submodule(last).register_forward_pre_hook(self.end)]

    def begin(self, module, args, keywords):
        forward = inspect.signature(inspect.unwrap(type(module).forward))
        bound = forward.bind(module, *args, **keywords)
        bound.apply_defaults()
        self.given = bound.arguments

    def project(self, _, args, fused):
        self.fused = fused

    def end(self, _, args):
        found = self.read(self.module, self.fused, self.given)
        if found is None:
            return
        q, k, v, mask, alibi, scale = found
        output = args[0].unflatten(2, (q.shape[1], v.shape[3]))
        self.calls.append(_call(self.module, q, k, v, mask, alibi, output, scale))
