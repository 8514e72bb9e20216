"""From keywords and arrays to the calls of the engine."""
import functools
import numbers

import numpy as np

from . import _conelab

ELEMENTS = {"float64": 0, "float32": 1, "float16": 2, "bfloat16": 3, "int64": 4, "uint8": 5,
            "bool": 5}
TENSOR_NAMES = frozenset(_conelab.tensor_names())


def value_text(value):
    """A parameter as the command line takes it: 2.5, "paper", [1, 2] for the heads."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real) or getattr(value, "ndim", None) == 0:
        return repr(float(value))
    rows = list(value)
    nested = any(np.ndim(row) > 0 for row in rows)
    return (";" if nested else ",").join(value_text(row) for row in rows)


def call_text(similarity, operator, mask, keywords):
    """One word for a call, as --operator takes it. `mask` is a name, "causal,padding" too, or a list
    of names."""
    parts = [operator or similarity or "penumbral"]
    if operator and similarity:
        parts.append(f"similarity={similarity}")
    if mask:
        parts.append("mask=" + "+".join([mask] if isinstance(mask, str) else mask).replace(",", "+"))
    parts += [f"{key}={value_text(value)}" for key, value in keywords.items()
              if value is not None]
    if any(":" in part for part in parts[1:]):
        raise ValueError(f"a value holds no ':' (found {', '.join(parts)})")
    return ":".join(parts)


def with_array_of_bias(keywords, tensors):
    """The keywords of a call. An array of biases, which is among its tensors, is the bias explicit."""
    return {**keywords, "bias": "explicit"} if "bias" in tensors else keywords


def split_mask(mask):
    """The names among masks, and the array among them, which is None if there is none."""
    if mask is None or isinstance(mask, str):
        return mask, None
    if hasattr(mask, "shape"):
        return None, mask
    names = [m for m in mask if isinstance(m, str)]
    arrays = [m for m in mask if not isinstance(m, str)]
    if len(arrays) > 1 and not all(hasattr(m, "shape") for m in arrays):
        raise ValueError("mask: expected an array, a name, or a list of names with one array; a "
                         "list of lists is no array")
    if len(arrays) > 1:
        raise ValueError("mask: there is one array at most")
    return names, arrays[0] if arrays else None


def check_lengths(lengths, masks):
    names = masks.split(",") if isinstance(masks, str) else masks or []
    if lengths is not None and "padding" not in names:
        raise ValueError("lengths is read by mask padding only")


@functools.lru_cache(maxsize=256)
def plan_of(text, signature):
    """The plan of a call for tensors of these names, elements and sizes."""
    return _conelab.Plan(text, [(name, 0, element, sizes, dense_strides(sizes))
                                for name, element, sizes in signature])


@functools.lru_cache(maxsize=1024)
def dense_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@functools.lru_cache(maxsize=1024)
def is_readable(sizes, strides):
    """Whether the engine reads tokens [.., head, n, d] where they lie: their features are contiguous, and
    the axes of batch elements lie in one sequence."""
    batch, step = 1, 0
    for size, stride in zip(sizes[-4::-1], strides[-4::-1]):
        if size == 1:
            continue
        if batch > 1 and stride != batch * step:
            return False
        batch, step = batch * size, stride if batch == 1 else step
    return sizes[-1:] < (2,) or strides[-1] == 1


def readable(array):
    """The array, or a dense copy if the engine does not read its tokens where they lie."""
    size = array.itemsize
    taken = array.flags.c_contiguous or (not any(s % size for s in array.strides) and is_readable(
        array.shape, tuple(s // size for s in array.strides)))
    return array if taken else np.ascontiguousarray(array)


def element_of(name, array):
    element = ELEMENTS.get(array.dtype.name)
    if element is None or not array.dtype.isnative:
        raise ValueError(f"{name} has numbers of type {array.dtype} (expected float64, float32, "
                         "float16 or bfloat16 of this machine)")
    return element


def tensor(name, array):
    """An array as the engine's tensor, in the same memory. The array must outlive it."""
    size = array.itemsize
    strides = tuple(s // size for s in array.strides)
    if any(s % size for s in array.strides):
        raise ValueError(f"{name}: its strides are no multiples of the size of its numbers")
    return (name, array.ctypes.data, element_of(name, array), array.shape, strides)


def result_shape(like, sizes):
    """The shape of a result of sizes [batch, head, ...] for queries of the shape `like`."""
    sizes = tuple(sizes)
    if len(like) > 3:
        return tuple(like[:-3]) + sizes[1:]
    if sizes[0] != 1:
        return sizes
    return sizes[2:] if len(like) == 2 and sizes[1] == 1 else sizes[1:]


class Prepared:
    """A call with its arrays, ready to run."""

    def __init__(self, q, k, v, similarity, operator, mask, lengths, keywords, threads):
        names, seen = split_mask(mask)
        check_lengths(lengths, names)
        share, seed = keywords.pop("dropout_p", 0), keywords.pop("dropout_seed", 0)
        dropout = np.array([share, seed], np.float64) if share else None
        tokens = {name: None if a is None else readable(np.asarray(a))
                  for name, a in (("q", q), ("k", k), ("v", v))}
        arrays = {**tokens, "mask": seen, "lengths": lengths, "dropout": dropout}
        self.arrays = {name: np.asarray(a) for name, a in arrays.items() if a is not None}
        for name in [key for key, value in keywords.items()
                     if key in TENSOR_NAMES and not isinstance(value, (str, type(None)))]:
            self.arrays[name] = np.asarray(keywords.pop(name))
        for name in ("lengths", "edge"):
            if name in self.arrays and self.arrays[name].dtype.kind in "iu":
                self.arrays[name] = self.arrays[name].astype(np.int64, copy=False)
        self.inputs = [tensor(name, a) for name, a in self.arrays.items()]
        self.threads = threads
        text = call_text(similarity, operator, names, with_array_of_bias(keywords, self.arrays))
        self.plan = plan_of(text, tuple((t[0], t[2], t[3]) for t in self.inputs))
        self.dtypes = {0: np.float64, 1: np.float32, self.inputs[0][2]: self.arrays["q"].dtype}

    @property
    def shape(self):
        return self.arrays["q"].shape

    def forward(self, names=None):
        """The results of the forward pass with these names, by name; None: all. `evaluation` becomes how
        sums over pairs were computed."""
        results = {name: np.empty(result_shape(self.shape, sizes), self.dtypes[element])
                   for name, element, sizes in self.plan.results(False)
                   if names is None or name in names}
        self.evaluation = self.plan.forward(
            self.inputs, [tensor(n, a) for n, a in results.items()], self.threads)
        return results

    def backward(self, saved, output_grad=None):
        """All gradients, by name."""
        given = dict(saved)
        if output_grad is not None:
            given["output_grad"] = readable(np.asarray(output_grad))
        results = {}
        for name, element, sizes in self.plan.results(True):
            if name in ("k", "v"):
                own = self.arrays.get(name, self.arrays.get("k", self.arrays["q"])).shape
            else:
                own = self.shape if name == "q" else tuple(sizes)
            results[name] = np.empty(own, self.dtypes[element])
        inputs = self.inputs + [tensor(name, a) for name, a in given.items()]
        self.plan.backward(inputs, [tensor(n, a) for n, a in results.items()], self.threads)
        return {name: a[0] if a.shape == (1,) and name not in TENSOR_NAMES else a
                for name, a in results.items()}

    def tiles(self, weights, saved, rows=None, cols=None):
        """The weights or logits of all heads within slices of queries and keys."""
        results = self.plan.results(False)
        batch, heads, n_q = results[1][2][:3] if len(results) > 1 else results[0][2][:3]
        n_k = self.arrays.get("k", self.arrays["q"]).shape[-2]
        for name, s in (("rows", rows), ("cols", cols)):
            if not isinstance(s, (slice, type(None))):
                raise ValueError(f"{name} is a slice (found {s!r}; one token is slice(i, i + 1))")
        (q0, q1, q_step), (k0, k1, k_step) = [(s or slice(None)).indices(n)
                                              for s, n in ((rows, n_q), (cols, n_k))]
        if q_step != 1 or k_step != 1:
            raise ValueError("rows and cols are slices without a step")
        wide = np.float64 if self.inputs[0][2] == 0 else np.float32
        out = np.empty((batch, heads, max(q1 - q0, 0), max(k1 - k0, 0)), wide)
        inputs = self.inputs + [tensor(name, a) for name, a in saved.items()]
        for b in range(batch):
            for h in range(heads):
                if out.size:
                    self.plan.tile(inputs, weights, [b, h, q0, q1, k0, k1],
                                   tensor("tile", out[b, h]), self.threads)
        return out.reshape(result_shape(self.shape, out.shape))
