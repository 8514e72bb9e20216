"""Cone attention and the operators beside it, exact and in O(n) memory, with gradients.

    out = conelab.attention(q, k, v, similarity="penumbral", gamma=2.0, mask="causal")

Arrays are [.., head, n, d] of float64, float32, float16 or bfloat16 (ml_dtypes), in memory of any
strides; they are copied if the features of a token are not contiguous. Keywords are those of `conelab
attend`, with `p`'s keys as they are. Misuse raises ValueError, failed work RuntimeError, each with the
command's own text.

`conelab.torch`, `conelab.transformers` and `conelab.trace` need PyTorch, and are imported only if
they are asked for.
"""
import dataclasses as _dataclasses
import importlib as _importlib
import json as _json
import numbers as _numbers
import os as _os
import tempfile as _tempfile
import warnings as _warnings

import numpy as _np

from . import _conelab
from ._call import Prepared as _Prepared
from ._call import tensor as _tensor
from ._call import value_text as _value_text

__version__: str = _conelab.version
__all__ = ["Attended", "Figure", "Hierarchy", "attend", "attention", "figure", "hierarchy", "lca", "operators",
           "read", "trace", "weights", "write"]
_PARTS = ("output", "lse", "weights", "logits", "gradients")


def attention(q, k=None, v=None, *, similarity=None, operator=None, mask=None, lengths=None,
              threads=0, **parameters):
    """The output of an operator, [.., head, n_q, d_v].

    `similarity` is a name of `conelab list similarities` (penumbral if none is given), `operator` one
    of the structured operators. `mask` is a name or several ("causal,padding"), an array [.., head, n_q,
    n_k] of bool, any of whose axes may have the size 1, or a list of both; `lengths` [batch] are the
    numbers of keys that are not padding, for the mask "padding". `k` and `v` may have fewer heads than
    `q`, which then are a multiple. Without `k`, q takes its place, and without `v`, k does. `bias` is a
    name ("alibi") or an array [.., head, n_q, n_k], any of whose axes may have the size 1. Other keywords
    are parts and parameters: a number (soft_cap=50), one for each head, or an array where the parameter is
    a tensor (W=..., sinks=...). `dropout_p` is the share of weights that are dropped, at random by
    `dropout_seed`; the others are divided by 1 - dropout_p.
    """
    call = _Prepared(q, k, v, similarity, operator, mask, lengths, parameters, threads)
    return call.forward(("output",))["output"]


@_dataclasses.dataclass
class Attended:
    """What `attend` kept; the other members are None."""
    output: _np.ndarray
    lse: _np.ndarray = None
    weights: _np.ndarray = None
    logits: _np.ndarray = None
    gradients: dict = None
    evaluation: str = ""  # How sums over pairs were computed, "pairs" or "intervals"; "": the call has no choice.


def attend(q, k=None, v=None, *, similarity=None, operator=None, mask=None, lengths=None,
           keep=("output", "lse"), output_grad=None, threads=0, **parameters):
    """Computes an operator and what `keep` names: output, lse [.., head, n_q], weights and logits
    [.., head, n_q, n_k] without dropout, gradients {"q": .., "k": .., "v": .., "gamma": ..} of sum(output
    * output_grad), or of the sum of all outputs."""
    keep = (keep,) if isinstance(keep, str) else tuple(keep)
    for part in keep:
        if part not in _PARTS:
            raise ValueError(f"unknown part to keep '{part}' (known: {', '.join(_PARTS)})")
    call = _Prepared(q, k, v, similarity, operator, mask, lengths, parameters, threads)
    saved = call.forward()
    result = Attended(saved["output"], saved.get("lse") if "lse" in keep else None,
                      evaluation=call.evaluation)
    if "weights" in keep:
        result.weights = call.tiles(True, saved)
    if "logits" in keep:
        result.logits = call.tiles(False, saved)
    if "gradients" in keep:
        result.gradients = call.backward(saved, output_grad)
    return result


def weights(q, k=None, *, similarity=None, operator=None, mask=None, lengths=None, lse=None,
            rows=None, cols=None, logits=False, threads=0, **parameters):
    """The weights of queries `rows` and keys `cols` (slices; None: all), [.., head, rows, cols], or
    with `logits` the logits. The whole map is never stored. With the `lse` that `attend` returned,
    the weights of a softmax over keys cost no more than the tile; otherwise a forward pass is
    computed first."""
    call = _Prepared(q, k, None, similarity, operator, mask, lengths, parameters, threads)
    saved = {} if lse is None else {"lse": _np.asarray(lse)}
    return call.tiles(not logits, saved, rows, cols)


def _words(parameters):
    return {key: _value_text(value) for key, value in parameters.items()}


def lca(cone, u, v, *, model="", **parameters):
    """The lowest common ancestor of two points under a family of cones, as `conelab lca --json`."""
    points = [[float(x) for x in point] for point in (u, v)]
    return _json.loads(_conelab.lca(cone, *points, _words(parameters), model))


def operators():
    """All operators as a list of dictionaries: name, about, paper, cost, parameters, ..."""
    return _json.loads(_conelab.rows("operators"))


class Figure:
    """A figure, which notebooks show as it is."""

    def __init__(self, drawn):
        self._drawn = drawn
        for remark in drawn.remarks:
            _warnings.warn(remark, stacklevel=3)

    def _repr_svg_(self):
        return self._drawn.svg()

    def save(self, path):
        """Writes FILE.svg or FILE.pdf, whole or not at all."""
        self._drawn.save(_os.fspath(path))

    def __repr__(self):
        return f"<conelab.Figure: {self._drawn.description}>"


def figure(name, inputs=(), *, width="", **parameters):
    """Draws a figure of `conelab list figures`. Each input is "FILE.h5:/group", or a dictionary of
    arrays as `write` takes it for a layer."""
    inputs = [inputs] if isinstance(inputs, (str, _os.PathLike, dict)) else list(inputs)
    with _tempfile.TemporaryDirectory() as folder:
        for i, each in enumerate(inputs):
            if isinstance(each, dict):
                path = _os.path.join(folder, f"input{i}.h5")
                write(path, {"": each})
                inputs[i] = path
        drawn = _conelab.Figure(name, [_os.fspath(i) for i in inputs], _words(parameters), width)
    return Figure(drawn)


def _dtype(element):
    if element == 3:
        import ml_dtypes
        return _np.dtype(ml_dtypes.bfloat16)
    return _np.dtype(["f8", "f4", "f2", None, "i8", "u1"][element])


def read(spec):
    """Reads a layer, "FILE.h5:/group", .npz or .safetensors: q, k, v and the other arrays that lie
    beside them in their own types, and tokens, model, text, layer and what else a trace says of it
    (similarity, scale, kind, exact, ...), as far as they are there."""
    return {name: _np.frombuffer(value[2], _dtype(value[0])).reshape(value[1])
            if isinstance(value, tuple) else value
            for name, value in _conelab.read(_os.fspath(spec)).items()}


def write(path, layers, *, tokens=(), model="", text=""):
    """Writes a trace, which the command and the desktop open: {"layer0": {"q": .., "k": .., "v": ..},
    ...} with arrays [.., head, n, d]. A layer may have its own "tokens", "key_tokens" where its keys
    are other tokens, and further arrays such as "mask" [n_q, n_k] and "bias". Its numbers and texts
    become attributes: of an operator that it was made for, similarity="dot", scale=1.0."""
    rows, kept = [], []
    for number, (group, arrays) in enumerate(layers.items()):
        if not isinstance(arrays, dict):
            raise ValueError(f"'{group}' is no layer: expected {{\"layer0\": {{\"q\": .., \"k\": .., "
                             f"\"v\": ..}}}}, found {type(arrays).__name__}")
        arrays = dict(arrays)
        words = [[str(t) for t in arrays.pop(key, default)]
                 for key, default in (("tokens", tokens), ("key_tokens", ()))]
        texts = {key: arrays.pop(key, "") for key in ("model", "text", "alias")}
        model, text = model or texts["model"], text or texts["text"]
        named = {} if not group else {"layer": number}
        named.update({key: value for key, value in arrays.items()
                      if isinstance(value, (str, _numbers.Number))})
        kept.append({name: _np.asarray(a) for name, a in arrays.items() if name not in named})
        if "similarity" in named and "bias" in kept[-1]:
            named["bias"] = "explicit"
        rows.append((group.strip("/"), [_tensor(name, a) for name, a in kept[-1].items()], *words,
                     [(key, x if isinstance(x, str) else int(x) if isinstance(x, _numbers.Integral)
                       else float(x))
                      for key, x in named.items()], texts["alias"]))
    attributes = [(name, value) for name, value in (("model", model), ("text", text)) if value]
    _conelab.write(_os.fspath(path), rows, attributes)


@_dataclasses.dataclass
class Hierarchy:
    """Nodes by their names, edges [m, 2] (child, parent) and depths [n], 0 at roots."""
    names: list
    edge: _np.ndarray
    depth: _np.ndarray


def hierarchy(edges, path=None):
    """Makes a hierarchy from pairs (child, parent), where None is the parent of a root, or from a
    networkx.DiGraph, whose edges lead from parent to child. With `path` it is written as
    `conelab dataset` writes one, for `conelab train`, `embed`, `rank` and figures."""
    if hasattr(edges, "is_directed"):
        if not edges.is_directed():
            raise ValueError("the graph is not directed: expected edges from parent to child")
        edges = [(node, None) for node in edges.nodes] + [edge[1::-1] for edge in edges.edges()]
    pairs = []
    for edge in edges:
        child, parent = edge
        pairs.append((str(child), "" if parent is None else str(parent)))
        if not pairs[-1][0]:
            raise ValueError(f"pair {len(pairs)} has no child (parent '{parent}')")
    names, edge, depth = _conelab.hierarchy(pairs, _os.fspath(path or ""))
    return Hierarchy(names, _np.frombuffer(edge, "i8").reshape(-1, 2), _np.frombuffer(depth, "i8"))


def trace(*args, **keywords):
    """Records the queries, keys and values of a Hugging Face model; see conelab.tracing.trace."""
    from . import tracing
    return tracing.trace(*args, **keywords)


def __getattr__(name):
    if name in ("torch", "transformers", "tracing"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'conelab' has no attribute '{name}'")


def __dir__():
    return [*__all__, "__version__", "torch", "transformers", "tracing"]
