"""Conelab's operators for PyTorch, with gradients, on the CPU and on CUDA devices.

    out = conelab.torch.attention(q, k, v, similarity="penumbral", gamma=gamma)

Tensors are [.., head, n, d]; they are copied if the features of a token are not contiguous. Every
parameter may be a number or a tensor; a tensor that requires a gradient gets one. A mask of floating-point
numbers is added to the logits, as PyTorch's attn_mask, and `bias` may be such a tensor too. The operators
compose with autograd, torch.compile (fullgraph=True), torch.export and torch.vmap, which makes one call for
each element; leading axes take one call in all. They have no second derivatives.

Where the module was built with CUDA, tensors of float32, float16 and bfloat16 on a device are computed there,
on PyTorch's current stream and in its memory; parameters that are numbers are read from tensors on the host.
Biases, dropout, masks that are tensors, and projections are computed on the CPU alone.
"""
import functools
import math

import torch
from torch import Tensor, library
from torch.utils._pytree import tree_map

from . import _conelab
from ._call import (TENSOR_NAMES, call_text, check_lengths, dense_strides, is_readable, plan_of,
                    result_shape, split_mask, with_array_of_bias)

_ELEMENTS = {torch.float64: 0, torch.float32: 1, torch.float16: 2, torch.bfloat16: 3,
             torch.int64: 4, torch.uint8: 5, torch.bool: 5}
_ARRAYS = TENSOR_NAMES | {"q", "k", "v", "mask", "lengths", "dropout"}
_PLAIN = (Tensor, torch.nn.Parameter)
_DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _readable(x):
    """The tensor, or a dense copy if the engine does not read its tokens where they lie."""
    if x.dim() and x.stride(-1) == 1 and x.is_contiguous() or is_readable(x.shape, x.stride()):
        return x
    return x.clone(memory_format=torch.contiguous_format)


def _check(name, x, q):
    if isinstance(x, Tensor) and x.is_cpu and q.is_cpu and x.dtype in _ELEMENTS:
        return
    if not isinstance(x, Tensor):
        raise ValueError(f"{name} is no tensor of PyTorch (found {type(x).__name__})")
    if not (x.is_cpu or x.is_meta or x.is_cuda):
        raise NotImplementedError(f"conelab.torch: {name} lies on {x.device}; the operators run on "
                                  "the CPU and on CUDA devices")
    if x.is_cuda and not _conelab.has_cuda:
        raise NotImplementedError(f"conelab.torch: {name} lies on {x.device}, and this build has no CUDA "
                                  "(pip install . compiles it in where nvcc is found)")
    if x.device != q.device and name in _ARRAYS:
        raise ValueError(f"{name} lies on {x.device}, and q on {q.device}")
    if x.dtype not in _ELEMENTS:
        raise ValueError(f"{name} has numbers of type {x.dtype} (expected float64, float32, float16 "
                         "or bfloat16)")


class _OnDevice:
    """A plan for tensors on a CUDA device. It runs on PyTorch's current stream, in PyTorch's memory."""

    def __init__(self, text, signature, device):
        self.plan = _conelab.DevicePlan(text, [(name, 0, element, sizes, dense_strides(sizes))
                                               for name, element, sizes in signature])
        self.device = device
        self.structure = torch.frombuffer(bytearray(self.plan.structure()), dtype=torch.uint8).to(device)

    def bind(self, backward, inputs, results):
        """As _conelab.Plan.bind."""
        def run(addresses, threads):
            stream = torch.cuda.current_stream(self.device)
            self.structure.record_stream(stream)  # It was copied on another one, perhaps.
            workspace = torch.empty(self.plan.workspace(backward), dtype=torch.uint8, device=self.device)
            placed, base = [], iter(addresses)
            for name, offset, *kind in inputs + results:
                first = next(base) if offset == 0 else first
                placed.append((name, first + offset, *kind))
            self.plan.run(backward, placed[:len(inputs)], placed[len(inputs):], self.structure.data_ptr(),
                          workspace.data_ptr(), self.device.index, stream.cuda_stream)
        return run


@functools.lru_cache(maxsize=256)
def _prepared(text, names, types, shapes, device):
    """The plan of a call, and the memory that each pass fills, as (type, shape, the engine's tensors in
    it). The forward pass fills one with the output, one with the log-sum-exp, and one with all that
    the backward pass reads in addition. Gradients of q, k and v have their shapes."""
    signature = tuple((name, _ELEMENTS[dtype], tuple(shape))
                      for name, dtype, shape in zip(names, types, shapes))
    plan = plan_of(text, signature)
    given = dict(zip(names, map(tuple, shapes)))

    def memory(results):
        tensors, size = [], 0
        for name, element, shape in results:
            tensors.append((name, size * _DTYPES[element].itemsize, element, shape, dense_strides(shape)))
            size += max(1, -(-math.prod(shape) // 64)) * 64  # Each begins at a line of the caches.
        return _DTYPES[element], shape if len(results) == 1 else (size,), tensors

    of_forward = [(name, element, result_shape(given["q"], sizes))
                  for name, element, sizes in plan.results(False)]
    parts = [of_forward[:1], of_forward[1:2], of_forward[2:]]
    of_backward = [memory([(name, element, given[name] if name in ("q", "k", "v") else tuple(sizes))])
                   for name, element, sizes in plan.results(True)]
    own = _OnDevice(text, signature, device) if device.type == "cuda" else plan
    return own, [memory(part) for part in parts if part], of_backward


@functools.lru_cache(maxsize=256)
def _names_and_call(text):
    names, call = text.split("|", 1)
    return ("q", "k", "v", *(names.split(",") if names else ())), call


def _call_of(tensors, text, fake=False):
    """The engine's call, and the names and tensors that it reads. `text` is "NAMES|CALL", the names of the
    tensors after q, k and v before the call. Parameters that are no tensors for the engine (gamma) become
    numbers of the call; where only sizes are known (`fake`), they are 1."""
    names, call = _names_and_call(text)
    if len(names) > 3:
        for name, x in zip(names, tensors):
            if name not in _ARRAYS:
                numbers = [1.0] * max(x.numel(), 1) if fake else x.detach().reshape(-1).tolist()
                call += f":{name}=" + ",".join(map(repr, numbers))
        names, tensors = zip(*((name, x) for name, x in zip(names, tensors) if name in _ARRAYS))
    return call, names, tensors


@functools.lru_cache(maxsize=512)
def _pass(call, names, kinds, device, chosen):
    """A pass over tensors of these names and kinds (type, shape, strides), behind which a backward pass has
    those of dL/d(output) and of what the forward pass returned; and what it fills, as (type, shape) and
    by name. `chosen`: how much of the forward pass is wanted, or the names of gradients."""
    count, backward = len(names), len(kinds) > len(names)
    types, shapes, _ = zip(*kinds[:count])
    plan, of_forward, of_backward = _prepared(call, names, types, shapes, device)
    inputs = [(name, 0, _ELEMENTS[dtype], shape, strides) for name, (dtype, shape, strides)
              in zip((*names, "output_grad", "output", "lse"), kinds)]
    for (dtype, shape, tensors), kind in zip(of_forward[2:], kinds[count + 3:]):
        if kind != (dtype, shape, dense_strides(shape)):
            raise ValueError("the backward pass needs what the forward pass of the same call saved: "
                             f"{shape} (found {kind[1]})")
        inputs += tensors
    filled = [m for m in of_backward if m[2][0][0] in chosen] if backward else of_forward[:chosen]
    run = plan.bind(backward, inputs, [tensor for *_, tensors in filled for tensor in tensors])
    return run, [m[:2] for m in filled], tuple(tensors[0][0] for *_, tensors in filled)


def _run(call, names, tensors, chosen, threads):
    """Runs a pass; returns the memory that it fills, and its names. Threads are counted here because
    torch.compile would take their number of the first call for that of all."""
    device = tensors[0].device
    kinds = tuple([(x.dtype, x.shape, x.stride()) for x in tensors])
    run, filled, own = _pass(call, names, kinds, device, chosen)
    memory = [torch.empty(shape, dtype=dtype, device=device) for dtype, shape in filled]
    run([x.data_ptr() for x in (*tensors, *memory)], threads or torch.get_num_threads())
    return memory, own


def _as_outputs(memory):
    return memory[0], memory[1] if len(memory) > 1 else memory[0].new_empty(0), memory[2:]


def _forward(q, k, v, extra, text, threads, saves):
    call, names, tensors = _call_of((_readable(q), _readable(k), _readable(v), *extra), text)
    return _as_outputs(_run(call, names, tensors, 3 if saves else 2, threads)[0])


def _refuse_onnx():
    if torch.onnx.is_in_onnx_export():
        raise NotImplementedError("ONNX has no operator for conelab's attention: export the model without it")


def _fake_forward(q, k, v, extra, text, threads, saves):
    _refuse_onnx()
    call, names, tensors = _call_of((q, k, v, *extra), text, fake=True)
    shapes = tuple(tuple(map(int, x.shape)) for x in tensors)
    _, of_forward, _ = _prepared(call, names, tuple(x.dtype for x in tensors), shapes, torch.device("meta"))
    return _as_outputs([torch.empty(shape, dtype=dtype, device=q.device)
                        for dtype, shape, _ in of_forward[:3 if saves else 2]])


# Before the text of a backward pass without the gradient of the bias, which is as large as all pairs.
_NO_BIAS = "no bias|"


def _backward(grad, q, k, v, extra, output, lse, saved, text, threads):
    without_bias = text.startswith(_NO_BIAS)
    text = text.removeprefix(_NO_BIAS)
    names, _ = _names_and_call(text)
    tensors = (_readable(q), _readable(k), _readable(v), *extra)
    call, own, read = _call_of(tensors, text)
    forward = (output, lse, *saved) if lse.numel() or lse.dim() > 1 else (output,)  # Some have no lse.
    chosen = tuple(n for n in names if n != "bias") if without_bias else names
    memory, filled = _run(call, own, (*read, _readable(grad), *forward), chosen, threads)
    if filled == names:
        return memory if len(names) == 3 else [*map(_gradient, memory, tensors)]
    found = dict(zip(filled, memory))
    return [x.new_empty(0) if without_bias and name == "bias" else _gradient(found.get(name), x)
            for name, x in zip(names, tensors)]


def _gradient(found, of):
    """A gradient in the type and shape of its tensor; zeros if the operator does not read it."""
    if found is not None and found.shape == of.shape and found.dtype == of.dtype:
        return found
    if found is None:
        return torch.zeros_like(of, dtype=of.dtype if of.is_floating_point() else torch.float32)
    if found.numel() != of.numel():  # One number for all heads was given as several equal ones.
        raise ValueError(f"a gradient has {found.numel()} numbers for {of.numel()}")
    return found.to(of).reshape(of.shape)


def _fake_backward(grad, q, k, v, extra, output, lse, saved, text, threads):
    if text.startswith(_NO_BIAS):
        names = _names_and_call(text.removeprefix(_NO_BIAS))[0]
        extra = [x.new_empty(0) if name == "bias" else x for name, x in zip(names[3:], extra)]
    return [torch.empty(x.shape, dtype=x.dtype if x.is_floating_point() else torch.float32,
                        device=x.device)
            for x in (q, k, v, *extra)]


class _NoFurther(torch.autograd.Function):
    """Returns the gradients after the first `count` tensors as functions of those, with an error for
    whoever differentiates them."""
    generate_vmap_rule = True

    @staticmethod
    def forward(count, *inputs_and_gradients):
        return inputs_and_gradients[count:]

    @staticmethod
    def setup_context(ctx, inputs, gradients):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError("conelab has no second derivatives: this would differentiate twice")


class _Differentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, compute, q, k, v, text, threads, *extra):
        output, lse, saved = compute(q, k, v, extra, text, threads, True)
        ctx.mark_non_differentiable(lse)
        _Differentiable.keep(ctx, compute, q, k, v, text, threads, extra, (output, lse, *saved))
        return output, lse

    @staticmethod
    def keep(ctx, compute, q, k, v, text, threads, extra, results):
        ctx.watched, ctx.text, ctx.threads, ctx.count = compute is _forward_pass, text, threads, len(extra)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, k, v, *extra, *results)

    @staticmethod
    def backward(ctx, grad, *_):
        if not torch.is_grad_enabled():
            return _Differentiable.slopes(ctx, grad)
        with torch.no_grad():
            slopes = _Differentiable.slopes(ctx, grad)
        if grad is None or torch.compiler.is_compiling():
            return slopes
        inputs = (grad, *ctx.saved_tensors[:3 + ctx.count])
        given = iter(_NoFurther.apply(len(inputs), *inputs, *(x for x in slopes if x is not None)))
        return tuple(x if x is None else next(given) for x in slopes)

    @staticmethod
    def jvp(ctx, *_):
        raise NotImplementedError("conelab has no derivatives in forward mode (jvp, jacfwd, hessian): take vjp or grad")

    @staticmethod
    def slopes(ctx, grad):
        if grad is None:  # Nothing depends on the output.
            return (None,) * (6 + ctx.count)
        q, k, v, *rest = ctx.saved_tensors
        extra, (output, lse, *saved) = rest[:ctx.count], rest[ctx.count:]
        compute = _backward_pass if ctx.watched or _is_watched((grad,)) else _backward
        names, needed = _names_and_call(ctx.text)[0][3:], ctx.needs_input_grad[6:]
        without_bias = any(n == "bias" and not wanted for n, wanted in zip(names, needed))
        text = _NO_BIAS + ctx.text if without_bias else ctx.text
        slopes = compute(grad, q, k, v, extra, output, lse, saved, text, ctx.threads)
        of_extra = (g if wanted else None for g, wanted in zip(slopes[3:], needed))
        return None, slopes[0], slopes[1], slopes[2], None, None, *of_extra


class _Transformed(_Differentiable):
    """The same for PyTorch's transforms of functions, which may keep nothing but inputs and results. Its
    form costs each call 40 microseconds more."""
    generate_vmap_rule = True

    @staticmethod
    def forward(compute, q, k, v, text, threads, *extra):
        output, lse, saved = compute(q, k, v, extra, text, threads, True)
        return output, lse, *saved

    @staticmethod
    def setup_context(ctx, inputs, results):
        compute, q, k, v, text, threads, *extra = inputs
        ctx.mark_non_differentiable(*results[1:])
        _Differentiable.keep(ctx, compute, q, k, v, text, threads, extra, results)


def _differentiable(compute, q, k, v, extra, text, threads, saves, function=_Differentiable):
    if not saves:
        return compute(q, k, v, extra, text, threads, False)
    output, lse, *saved = function.apply(compute, q, k, v, text, threads, *extra)
    return output, lse, saved


def _is_watched(tensors):
    """Whether PyTorch must see a call as an operator: it is compiled, transformed, traced or recorded,
    a mode is on, or its tensors are no plain ones."""
    return (torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0
            or torch._C._len_torch_function_stack() > 0
            or torch._C._are_functorch_transforms_active()
            or torch._C._get_tracing_state() is not None
            or torch.autograd.profiler._is_profiler_enabled
            or not all([type(x) in _PLAIN and (x.is_cpu or x.is_cuda) and not x.is_neg() for x in tensors]))


def _one_by_one(operator, info, in_dims, *arguments):
    """The rule for vmap: gradients of parameters are sums over all batch elements of a call."""
    def element(x, dim, i):
        if isinstance(x, (list, tuple)) and dim is not None:
            return [element(each, own, i) for each, own in zip(x, dim)]
        return x if dim is None else x.select(dim, i)

    results = [operator(*(element(x, dim, i) for x, dim in zip(arguments, in_dims)))
               for i in range(info.batch_size)]
    return (tree_map(lambda *each: torch.stack(each), *results), tree_map(lambda _: 0, results[0]))


# Operators of PyTorch, defined without custom_op and register_autograd: with those a small call
# that requires gradients takes 84 microseconds of a processor in PyTorch alone, without them 19.
_LIBRARY = library.Library("conelab", "DEF")


def _define(name, schema, compute, fake):
    _LIBRARY.define(name + schema, tags=torch.Tag.pt2_compliant_tag)
    for key in ("CPU", "CUDA"):
        _LIBRARY.impl(name, compute, key)
    library.register_fake(f"conelab::{name}", fake, lib=_LIBRARY)
    operator = getattr(torch.ops.conelab, name).default
    library.register_vmap(f"conelab::{name}", functools.partial(_one_by_one, operator), lib=_LIBRARY)
    return operator


# Output, lse, and if `saves` what the backward pass reads in addition.
_SCHEMA = ("(Tensor q, Tensor k, Tensor v, Tensor[] extra, str text, int threads, bool saves)"
           " -> (Tensor, Tensor, Tensor[])")
_forward_pass = _define("forward", _SCHEMA, _forward, _fake_forward)
_backward_pass = _define(
    "backward", "(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor[] extra, Tensor output, "
    "Tensor lse, Tensor[] saved, str text, int threads) -> Tensor[]", _backward, _fake_backward)
# The same as `forward`, with gradients if `saves`.
_attention = _define("attention", _SCHEMA, _forward, _fake_forward)
_LIBRARY.impl("attention", functools.partial(_differentiable, _forward_pass), "Autograd")
_transformed_attention = functools.partial(_differentiable, _forward_pass, function=_Transformed)
_plain_attention = functools.partial(_differentiable, _forward)


def _causal(q, k, names, seen):
    """The names of masks and the array among them, with the causal mask that is_causal stands for."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    if n_q == n_k:
        return [*([names] if isinstance(names, str) else names or []), "causal"], seen
    causal = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    if seen is None:
        return names, causal
    _check("mask", seen, q)
    return names, torch.where(causal, seen, -torch.inf) if seen.is_floating_point() else seen & causal


def attention(q, k=None, v=None, *, similarity=None, operator=None, mask=None, lengths=None,
              dropout_p=0.0, is_causal=False, enable_gqa=True, threads=0, return_lse=False, group=None,
              **parameters):
    """The output of an operator, as conelab.attention; with `return_lse` also the log-sum-exp of each
    row, through which no gradient flows. Under autocast the tensors are cast as for PyTorch's own
    attention.

    `dropout_p`, `is_causal` and `enable_gqa` are those of PyTorch's scaled_dot_product_attention. Dropout
    draws its seed from PyTorch's generator (torch.manual_seed). `is_causal` counts queries and keys from
    their first ones, the mask "causal" from their last ones. Grouped heads need not be enabled. `threads`
    is torch.get_num_threads() unless it is given.

    Umbral attention at d = 2 is computed by intervals where that is faster; `evaluation="pairs"` or
    "intervals" chooses, and conelab.attend says for the same shapes which way "auto" takes.

    With `group`, a group of torch.distributed whose backend sends tensors of the CPU (gloo), the sequence
    is shared: each process gives its own consecutive tokens, process 0 the first ones, and gets their
    outputs; keys and values travel between the processes ("ring attention"), and so does the backward pass.
    Shares may differ, `lengths` counts the keys of the whole sequence, and everything but q, k and v is the
    same in all processes. Results are the same bits for any number of processes, 1 included. The gradient
    of a parameter is that of the whole sequence in process 0 and zero in the others: their sum, which
    DistributedDataParallel and FSDP form, is the gradient."""
    k = q if k is None else k
    v = k if v is None else v
    names, seen = split_mask(mask)
    check_lengths(lengths, names)
    if is_causal and group is None:
        names, seen = _causal(q, k, names, seen)
    if isinstance(seen, Tensor) and seen.is_floating_point():
        if parameters.get("bias") is not None:
            raise ValueError("a mask of floating-point numbers is a bias, and there is one already "
                             "(use a mask of bool)")
        parameters, seen = {**parameters, "bias": seen}, None
    if lengths is not None and not isinstance(lengths, Tensor):
        lengths = torch.tensor(lengths)
    extra = {name: x for name, x in (("mask", seen), ("lengths", lengths)) if x is not None}
    if dropout_p:
        share = torch.full((1,), dropout_p, dtype=torch.float64, device=q.device)
        seed = torch.randint(2 ** 52, (1,), dtype=torch.float64, device=q.device)
        extra["dropout"] = torch.cat([share, seed])
    words = {}
    for key, value in parameters.items():
        (extra if isinstance(value, Tensor) else words)[key] = value
    _check("q", q, q)
    for name, x in (("k", k), ("v", v), *extra.items()):
        _check(name, x, q)
    kind = "cuda" if q.is_cuda else "cpu"
    if torch.is_autocast_enabled(kind):
        dtype = torch.get_autocast_dtype(kind)
        q, k, v = (x.to(dtype) if x.dtype != torch.float64 else x for x in (q, k, v))
        extra = {name: x.to(dtype) if name in TENSOR_NAMES and x.dtype == torch.float32 else x
                 for name, x in extra.items()}
    if is_causal and group is not None:
        names = [*([names] if isinstance(names, str) else names or []), "causal"]
    text = ",".join(extra) + "|" + call_text(similarity, operator, names,
                                             with_array_of_bias(words, extra))
    tensors = list(extra.values())
    if group is not None:
        from ._group import shared_attention
        output, lse = shared_attention(q, k, v, tensors, text, threads, group, is_causal)
        return (output, lse) if return_lse else output
    saves = (torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v, *tensors))
             or torch.autograd.forward_ad._current_level >= 0)  # Then PyTorch refuses the call.
    if torch._C._are_functorch_transforms_active() and not torch.compiler.is_compiling():
        compute = _transformed_attention  # PyTorch takes functions, not operators, through transforms.
    elif _is_watched((q, k, v, *tensors)):
        _refuse_onnx()
        compute = _attention if saves else _forward_pass
    else:  # An operator costs 6 microseconds of a small call, with a gradient 17.
        compute = _plain_attention
    output, lse, _ = compute(q, k, v, tensors, text, threads, saves)
    return (output, lse) if return_lse else output


from .layers import Attention, MultiheadAttention  # noqa: E402  They call `attention`.

__all__ = ["Attention", "MultiheadAttention", "attention"]


def __dir__():
    return __all__
