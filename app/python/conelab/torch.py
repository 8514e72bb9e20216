"""Conelab's operators for PyTorch, with gradients, on the CPU.

    out = conelab.torch.attention(q, k, v, similarity="penumbral", gamma=gamma)

Tensors are [.., head, n, d] with contiguous features. Every parameter may be a number or a tensor; a
tensor that requires a gradient gets one. The operators compose with autograd and torch.compile
(fullgraph=True). They have no second derivatives, and no rule for vmap: give leading axes instead.
"""
import functools
from typing import List, Sequence, Tuple

import torch
from torch import Tensor

from ._call import TENSOR_NAMES, call_text, dense_strides, plan_of, result_shape, split_mask

_ELEMENTS = {torch.float64: 0, torch.float32: 1, torch.float16: 2, torch.bfloat16: 3,
             torch.int64: 4, torch.uint8: 5, torch.bool: 5}
_DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _tensor(name, x):
    return (name, x.data_ptr(), _ELEMENTS[x.dtype], tuple(x.shape), x.stride())


def _check(name, x):
    if x.device.type not in ("cpu", "meta"):
        raise NotImplementedError(f"conelab.torch: {name} lies on {x.device}; the operators run on "
                                  "the CPU")
    if x.dtype not in _ELEMENTS:
        raise ValueError(f"{name} has numbers of type {x.dtype} (expected float64, float32, float16 "
                         "or bfloat16)")


@functools.lru_cache(maxsize=256)
def _prepared(text, signature):
    """The plan of a call, and (name, element, shape, strides) of the results of each pass; those of
    q, k and v have their shapes."""
    plan = plan_of(text, signature)
    shapes = {name: shape for name, _, shape in signature}

    def declared(backward):
        for name, element, sizes in plan.results(backward):
            if not backward:
                shape = result_shape(shapes["q"], sizes)
            else:
                shape = shapes[name] if name in ("q", "k", "v") else tuple(sizes)
            yield name, element, shape, dense_strides(shape)

    return plan, tuple(declared(False)), tuple(declared(True))


class _Call:
    """A call with its tensors. `text` is "NAMES|CALL", the names of `extra` before the call.
    Parameters that are no tensors for the engine (gamma) become numbers of the call; where only
    sizes are known (`fake`), they are 1."""

    def __init__(self, q, k, v, extra, text, fake=False):
        names, call = text.split("|", 1)
        self.names = names.split(",") if names else ()
        given = [("q", q), ("k", k), ("v", v)]
        for name, x in zip(self.names, extra):
            if name in TENSOR_NAMES or name in ("mask", "lengths"):
                given.append((name, x))
            else:
                numbers = [1.0] * max(x.numel(), 1) if fake else x.detach().reshape(-1).tolist()
                call += f":{name}=" + ",".join(map(repr, numbers))
        sized = tuple((name, _ELEMENTS[x.dtype], tuple(map(int, x.shape))) for name, x in given)
        self.plan, self.of_forward, self.of_backward = _prepared(call, sized)
        self.inputs = [] if fake else [(name, x.data_ptr(), element, shape, x.stride())
                                       for (name, element, shape), (_, x) in zip(sized, given)]


def _results(declared):
    """New memory for results, and the engine's tensors over it."""
    memory = [torch.empty(shape, dtype=_DTYPES[element]) for _, element, shape, _ in declared]
    return memory, [(name, x.data_ptr(), element, shape, strides)
                    for x, (name, element, shape, strides) in zip(memory, declared)]


def _as_outputs(memory):
    if len(memory) == 1:
        return memory[0], torch.empty(0), []
    return memory[0], memory[1], memory[2:]


@torch.library.custom_op("conelab::attention", mutates_args=())
def _forward(q: Tensor, k: Tensor, v: Tensor, extra: Sequence[Tensor], text: str, threads: int,
             saves: bool) -> Tuple[Tensor, Tensor, List[Tensor]]:
    """Output, lse, and if `saves` what the backward pass reads in addition."""
    call = _Call(q, k, v, extra, text)
    memory, results = _results(call.of_forward if saves else call.of_forward[:2])
    call.plan.forward(call.inputs, results, threads)
    return _as_outputs(memory)


@_forward.register_fake
def _(q, k, v, extra, text, threads, saves):
    call = _Call(q, k, v, extra, text, fake=True)
    declared = call.of_forward if saves else call.of_forward[:2]
    return _as_outputs([torch.empty(shape, dtype=_DTYPES[element])
                        for _, element, shape, _ in declared])


@torch.library.custom_op("conelab::attention_backward", mutates_args=())
def _backward(grad: Tensor, q: Tensor, k: Tensor, v: Tensor, extra: Sequence[Tensor],
              output: Tensor, lse: Tensor, saved: Sequence[Tensor], text: str,
              threads: int) -> List[Tensor]:
    call = _Call(q, k, v, extra, text)
    grad = grad if grad.stride(-1) == 1 or grad.shape[-1] == 1 else grad.contiguous()
    inputs = call.inputs + [_tensor("output_grad", grad)]
    inputs += [_tensor(declared[0], x)
               for declared, x in zip(call.of_forward, (output, lse, *saved))]
    memory, results = _results(call.of_backward)
    call.plan.backward(inputs, results, threads)
    found = {declared[0]: x for declared, x in zip(call.of_backward, memory)}
    return [_gradient(found.get(name), x)
            for name, x in zip(("q", "k", "v", *call.names), (q, k, v, *extra))]


def _gradient(found, of):
    """A gradient in the type and shape of its tensor; zeros if the operator does not read it."""
    if found is None:
        return torch.zeros(of.shape, dtype=of.dtype if of.is_floating_point() else torch.float32)
    if found.numel() != of.numel():  # One number for all heads was given as several equal ones.
        raise ValueError(f"a gradient has {found.numel()} numbers for {of.numel()}")
    return found.to(of.dtype).reshape(of.shape)


@_backward.register_fake
def _(grad, q, k, v, extra, output, lse, saved, text, threads):
    return [torch.empty(x.shape, dtype=x.dtype if x.is_floating_point() else torch.float32)
            for x in (q, k, v, *extra)]


def _keep(ctx, inputs, output):
    q, k, v, extra, ctx.text, ctx.threads, _ = inputs
    out, lse, saved = output
    ctx.mark_non_differentiable(lse, *saved)
    ctx.counts = len(extra)
    ctx.save_for_backward(q, k, v, *extra, out, lse, *saved)


def _differentiate(ctx, grad, grad_lse, grad_saved):
    q, k, v, *rest = ctx.saved_tensors
    extra, (out, lse, *saved) = rest[:ctx.counts], rest[ctx.counts:]
    slopes = _backward(grad, q, k, v, extra, out, lse, saved, ctx.text, ctx.threads)
    of_extra = [g if x.is_floating_point() else None for g, x in zip(slopes[3:], extra)]
    return slopes[0], slopes[1], slopes[2], of_extra, None, None, None


def _refuse_second(ctx, *grads):
    raise NotImplementedError("conelab has no second derivatives")


def _refuse_vmap(*_):
    raise NotImplementedError("conelab has no rule for vmap; give leading axes instead: "
                              "[.., head, n, d]")


_forward.register_autograd(_differentiate, setup_context=_keep)
_backward.register_autograd(_refuse_second, setup_context=lambda ctx, inputs, output: None)
_forward.register_vmap(_refuse_vmap)
_backward.register_vmap(_refuse_vmap)


def attention(q, k=None, v=None, *, similarity=None, operator=None, mask=None, lengths=None,
              threads=0, return_lse=False, **parameters):
    """The output of an operator, as conelab.attention; with `return_lse` also the log-sum-exp of each
    row, through which no gradient flows. Under autocast the tensors are cast as for PyTorch's own
    attention."""
    k = q if k is None else k
    v = k if v is None else v
    names, seen = split_mask(mask)
    extra = {name: x for name, x in (("mask", seen), ("lengths", lengths)) if x is not None}
    words = {}
    for key, value in parameters.items():
        (extra if isinstance(value, Tensor) else words)[key] = value
    if torch.is_autocast_enabled("cpu"):
        dtype = torch.get_autocast_dtype("cpu")
        q, k, v = (x.to(dtype) if x.dtype != torch.float64 else x for x in (q, k, v))
        extra = {name: x.to(dtype) if name in TENSOR_NAMES and x.dtype == torch.float32 else x
                 for name, x in extra.items()}
    for name, x in (("q", q), ("k", k), ("v", v), *extra.items()):
        _check(name, x)
    text = ",".join(extra) + "|" + call_text(similarity, operator, names, words)
    tensors = list(extra.values())
    saves = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v, *tensors))
    output, lse, _ = _forward(q, k, v, tensors, text, threads, saves)
    return (output, lse) if return_lse else output
