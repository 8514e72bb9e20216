"""The kernels on PyTorch's tensors: structs of gpu/tile/problem.h by ctypes, operands from tokens."""
import ctypes
import math

import torch

import parts

POINTER = ctypes.c_void_p
STORAGE = {torch.float32: 1, torch.float16: 2, torch.bfloat16: 3}
TILE = 64


class Side(ctypes.Structure):
    _fields_ = [("base", POINTER), ("values", POINTER), ("offset", POINTER), ("count", ctypes.c_int),
                ("share", ctypes.c_int)]


class PairLists(ctypes.Structure):
    _fields_ = [(n, POINTER) for n in ("first", "token", "rows")]


class Problem(ctypes.Structure):
    _fields_ = [("groups", ctypes.c_int), ("heads", ctypes.c_int), ("base_size", ctypes.c_int),
                ("base_stride", ctypes.c_int), ("width", ctypes.c_int), ("storage", ctypes.c_int),
                ("sigmoid", ctypes.c_bool),
                ("normalised", ctypes.c_bool), ("over_queries", ctypes.c_bool), ("query", Side), ("key", Side),
                ("value", POINTER), ("value_mark", POINTER), ("constants", POINTER), ("bias", POINTER),
                ("bias_slope", POINTER), ("bias_size", ctypes.c_int), ("bias_slopes", ctypes.c_int),
                ("axes", ctypes.c_int), ("query_place", POINTER), ("key_place", POINTER),
                ("classes", ctypes.c_int), ("class_of", POINTER), ("class_bias", POINTER),
                ("sums_slopes", ctypes.c_bool), ("sums_weights", ctypes.c_bool), ("span", POINTER),
                ("block_span", POINTER), ("lists", ctypes.c_int), ("query_lists", PairLists),
                ("key_lists", PairLists)]


class ForwardResult(ctypes.Structure):
    _fields_ = [(n, POINTER) for n in ("output", "maximum", "sum", "column_lse", "class_weight")]


class Upstream(ctypes.Structure):
    _fields_ = [(n, POINTER) for n in ("output_grad", "reference", "inverse_sum", "delta", "column_lse", "unit",
                                       "class_slope")]


class GradientResult(ctypes.Structure):
    _fields_ = [(n, POINTER) for n in ("query_base", "query_potential", "key_base", "key_potential", "value",
                                       "sums", "column_delta", "class_slope", "class_weight")]


class FastProblem(ctypes.Structure):
    _fields_ = [("call", Problem), ("query", POINTER), ("key", POINTER), ("value", POINTER),
                ("facts", POINTER), ("bias", POINTER)]


class FastGradient(ctypes.Structure):
    _fields_ = [("call", Problem), *((n, POINTER) for n in ("query", "key", "value", "output_grad",
                                                            "query_facts", "key_facts", "bias",
                                                            "offset_sums", "offset_scale"))]


class Kernels:
    """The shared library that run.sh builds from the repository."""

    def __init__(self, path):
        self.path, self.code = path, ctypes.CDLL(path)
        self.code.conelab_error.restype = ctypes.c_char_p
        self.code.conelab_similarity_name.restype = ctypes.c_char_p
        self.code.conelab_similarity_choice.restype = ctypes.c_char_p
        for which, struct in enumerate((Problem, ForwardResult, Upstream, GradientResult, FastProblem,
                                         FastGradient)):
            built = self.code.conelab_struct_bytes(which)
            if built != ctypes.sizeof(struct):
                raise SystemExit(f"run.py: {struct.__name__} has {ctypes.sizeof(struct)} bytes here, "
                                 f"{built} in the library: gpu/tile/problem.h has changed")

    def index(self, name):
        for i in range(self.code.conelab_similarities()):
            if self.code.conelab_similarity_name(i).decode() == name:
                return i
        raise SystemExit(f"run.py: no similarity {name}")

    def call(self, function, *arguments):
        stream = POINTER(torch.cuda.current_stream().cuda_stream)
        status = getattr(self.code, function)(*arguments, stream)
        if status == -1:
            raise LookupError(f"{function}: no such kernel")
        if status:
            raise RuntimeError(f"{function}: {self.code.conelab_error(status).decode()}")


def swizzled(rows, row, column):
    """Byte of an element in a tile of 16-bit numbers; gpu/hopper/layout.h."""
    return column // 64 * rows * 128 + row * 128 + (column % 64 * 2 ^ row % 8 * 16)


def pack_tiles(data, rows, width):
    """[group, n, columns] of 16 bits -> [group, tiles, rows * width], each tile in shared memory's order."""
    groups, n, columns = data.shape
    tiles = -(-n // rows)
    padded = torch.zeros(groups, tiles * rows, width, dtype=data.dtype, device=data.device)
    padded[:, :n, :columns] = data
    row = torch.arange(rows, device=data.device)[:, None]
    column = torch.arange(width, device=data.device)[None]
    place = (swizzled(rows, row, column) // 2).reshape(-1)
    packed = torch.empty(groups, tiles, rows * width, dtype=data.dtype, device=data.device)
    packed[:, :, place] = padded.reshape(groups, tiles, rows * width)
    return packed


def pack_facts(offset, values, tile, *more):
    """Offsets [group, n], values [group, v, n] and further [group, n] -> [group, tiles, number, tile]."""
    facts = [offset[:, None]] + ([] if values is None else [values]) + [m[:, None] for m in more]
    facts = torch.cat(facts, 1)
    groups, numbers, n = facts.shape
    tiles = -(-n // tile)
    padded = torch.zeros(groups, numbers, tiles * tile, device=facts.device)
    padded[:, :, :n] = facts
    return padded.reshape(groups, numbers, tiles, tile).transpose(1, 2).contiguous()


# The factor of a similarity's levels is its rate times its first constant (gpu/hopper/fast_formula.h).
RATES = {"dot": 1.0, "laplacian": -1.0, "umbral": -0.5, "penumbral": -0.5}


def offset_places(n_q, n_k):
    """The entries of a head's table of biases (gpu/hopper/layout.h), and those of the offsets that there
    are."""
    origin = -(-n_q // 128) * 128
    return origin + -(-n_k // 128) * 128, slice(origin + 1 - n_q, origin + n_k)


def offset_scale(grad, value):
    """[group] the power of two by which sums by offset are multiplied, as in gpu/hopper/pack.cpp."""
    largest = lambda t: t.abs().amax((1, 2)).double().repeat_interleave(len(grad) // len(t))
    most = 4 * largest(grad) * largest(value) * grad[0].numel()
    return torch.exp2(torch.floor(61 - torch.log2(most)))


def pointer(tensor):
    return None if tensor is None else tensor.data_ptr()


class Placed:
    """Tokens in their model: base [group, n, m] of the call's dtype, height and light_distance
    [group, n]."""

    def __init__(self, base, height=None, light_distance=None):
        self.base, self.height, self.light_distance = base.contiguous(), height, light_distance


def place(name, tokens, dtype, parameters):
    """The similarity's own map, in float64, rounded once."""
    x = tokens.double()
    if name == "additive":  # The kernels take W q, then v_a: an even number of columns.
        x = x[..., :x.shape[-1] // 2 * 2]
    if name in ("dot", "laplacian", "additive"):
        return Placed(x.to(dtype))
    scale = parameters.get("height", 1.0)
    last = x[..., -1]
    if name == "umbral":
        height = torch.exp(last)
    else:
        height = scale * torch.sigmoid(last)
    light_distance = scale * torch.sigmoid(-last)
    return Placed((x[..., :-1] * height[..., None]).to(dtype), height, light_distance)


def token_values(name, placed, parameters):
    """[group, values, n] as the similarity's header computes them."""
    if name in ("dot", "laplacian", "additive"):
        return None
    if name == "umbral":
        return placed.height.float()[:, None].contiguous()
    h = parameters["height"]
    s = torch.sqrt(placed.light_distance * (h + placed.height))
    p = placed.height ** 2 / (h + s)
    return torch.stack([p, placed.height ** 2, s], 1).float().contiguous()


def constants(name, parameters, size):
    if name == "dot":
        return [parameters.get("scale", 1 / math.sqrt(size))]
    if name == "additive":
        return [1.0]
    if name == "laplacian":
        return [parameters["gamma"]]
    if name == "umbral":
        return [parameters["gamma"], 1 / math.sinh(parameters["radius"])]
    return [parameters["gamma"], parameters["height"]]


def spans(n_q, n_k, causal, device):
    """[n_q] ranges of keys, and of blocks: any, all."""
    i = torch.arange(n_q, device=device)
    end = (i + 1 + n_k - n_q).clamp(0, n_k) if causal else torch.full_like(i, n_k)
    rows = torch.stack([torch.zeros_like(end), end], 1)
    blocks = [[0, int(rows[b:b + TILE, 1].max()), 0, int(rows[b:b + TILE, 1].min())]
              for b in range(0, n_q, TILE)]
    return rows.int().contiguous(), torch.tensor(blocks, dtype=torch.int32, device=device)


class Attention:
    """One call with its operands on the device; `forward` and `backward` launch and return."""

    def __init__(self, kernels, name, query, key, value, parameters, causal=False):
        name, make_part = parts.split(name)
        self.kernels, self.name, self.similarity = kernels, name, kernels.index(name)
        self.parameters, self.causal = parameters, causal
        groups, n_q, size = query.shape
        self.size = size
        n_k, width = key.shape[1], value.shape[2]
        dtype, device = value.dtype, value.device
        self.query = place(name, query, dtype, parameters)
        self.key = place(name, key, dtype, parameters)
        self.value = value.contiguous()
        self.part = make_part(groups, n_q, n_k, width, device)
        distance = name not in ("dot", "additive")
        self.hold = []
        heads, share = self.part.heads, self.part.share
        p = self.problem = Problem(groups=groups, heads=heads, base_size=self.query.base.shape[2],
                                   width=width, storage=STORAGE[dtype], sigmoid=False,
                                   normalised=True)
        for side, placed, side.share in ((p.query, self.query, 1), (p.key, self.key, share)):
            offset = (placed.base.double() ** 2).sum(-1) if distance else torch.zeros(placed.base.shape[:2])
            padding = 0 if name == "additive" else -placed.base.shape[2] % 8  # Its halves follow each other.
            padded = torch.nn.functional.pad(placed.base, (0, padding))
            side.base, p.base_stride = self.keep(padded), padded.shape[2]
            side.values = self.keep(token_values(name, placed, parameters))
            placed.offset = offset.float().to(device).contiguous()
            side.offset = self.keep(placed.offset)
            side.count = placed.base.shape[1]
        row_span, block_span = spans(n_q, n_k, causal, device)
        p.value = self.keep(self.value)
        p.value_mark = self.keep(torch.zeros(groups // share, n_k, device=device))
        p.constants = self.keep(torch.tensor(heads * constants(name, parameters, size), device=device))
        p.span, p.block_span = (self.keep(t.repeat(self.part.batch, 1)) for t in (row_span, block_span))
        self.part.fill(p, self.keep, causal)
        nan = lambda *shape: torch.full(shape, math.nan, device=device)
        self.output, self.maximum, self.sum = nan(groups, n_q, width), nan(groups, n_q), nan(groups, n_q)
        self.more = self.part.forward_arrays()
        self.result = ForwardResult(*map(self.keep, (self.output, self.maximum, self.sum)),
                                    **{name: self.keep(t) for name, t in self.more.items()})
        self.fast = self.pack()

    def keep(self, tensor):
        self.hold.append(tensor)
        return pointer(tensor)

    def has_fast_path(self):
        return torch.cuda.get_device_capability()[0] == 9

    def has_bias(self):
        """Whether there is one by offset; that of a grid has two axes."""
        return self.problem.axes == 1

    def variants(self):
        """Of the fast forward kernel; as variants_of in gpu/hopper/fast.h."""
        other_law = self.has_bias() or self.part.sigmoid
        return 1 if other_law else self.kernels.code.conelab_fast_variants()

    def pack_bias(self):
        """[head, entries] for the fast path; None for a softmax without a bias."""
        if not self.has_bias() and not self.part.sigmoid:
            return None
        entries, places = offset_places(self.problem.query.count, self.problem.key.count)
        packed = torch.zeros(self.problem.heads, entries, device=self.value.device)
        if self.has_bias():
            factor = RATES[self.name] * constants(self.name, self.parameters, self.size)[0]
            packed[:, places] = (self.part.table(self.part.leaves[0].double()) / factor).float()
        return packed

    def fast_call(self):
        """The problem without the parameters of its bias: sums by offset serve them all."""
        call = Problem.from_buffer_copy(self.problem)
        call.bias_slopes, call.sums_slopes = 0, False
        return call

    def pack(self):
        """The call for the fast path; None where that does not take it."""
        width = self.kernels.code.conelab_fast_width(self.similarity, ctypes.byref(self.problem))
        if width == 0 or not self.has_fast_path():
            return None
        values = token_values(self.name, self.key, self.parameters)
        tensors = (pack_tiles(self.query.base, 64, width), pack_tiles(self.key.base, 128, width),
                   pack_tiles(self.value, 128, width), pack_facts(self.key.offset, values, 128), self.pack_bias())
        return FastProblem(self.fast_call(), *map(self.keep, tensors))

    def fast_forward(self, variant=0):
        self.kernels.call("conelab_fast_forward", self.similarity, variant, ctypes.byref(self.fast),
                          ctypes.byref(self.result))
        return self.output

    def forward(self):
        self.kernels.call("conelab_portable_forward", self.similarity, ctypes.byref(self.problem),
                          ctypes.byref(self.result))
        return self.output

    def finished(self):
        """The output with what the host adds."""
        return self.part.finish(self.output, self.more)

    def token_gradients(self, arrays):
        """Of q, k and v: those of groups that share a head of k and v are added."""
        shared = lambda t: t.unflatten(0, (-1, self.part.share)).sum(1)
        return arrays["query"], shared(arrays["key"]), shared(arrays["value"])

    def leaf_gradients(self, arrays):
        """Of the part's leaves, from what `backward` or `fast_backward` gave."""
        return self.part.gradients(arrays, self.output_grad)

    def prepare_backward(self, output_grad, forward=None):
        """What backward needs of `forward`, the portable one unless given."""
        p, device = self.problem, self.value.device
        (forward or self.forward)()
        grad = output_grad.float().contiguous()
        self.output_grad = grad
        scale, more = self.part.upstream(self.more, self.maximum, grad)
        delta = (grad.double() * self.finished().double()).sum(-1).float().contiguous()
        if self.part.delta is not None:
            delta.fill_(self.part.delta)
        self.upstream = Upstream(self.keep(grad), self.keep(self.maximum),
                                 self.keep((1 / self.sum if scale is None else scale).contiguous()),
                                 self.keep(delta), **{name: self.keep(t) for name, t in more.items()})
        nan = lambda *shape: torch.full(shape, math.nan, device=device)
        blocks = -(-p.query.count // TILE)
        count = self.kernels.code.conelab_similarity_constants(self.similarity)
        self.gradients = {"query": nan(*self.query.base.shape), "query_potential": nan(p.groups, p.query.count),
                          "key": nan(p.groups, *self.key.base.shape[1:]),
                          "key_potential": nan(p.groups, p.key.count),
                          "value": nan(p.groups, *self.value.shape[1:]),
                          "sums": torch.full((p.groups, blocks, count + p.bias_slopes), math.nan,
                                             device=device, dtype=torch.float64),
                          **self.part.gradient_arrays()}
        ours = {"query": "query_base", "key": "key_base"}
        self.gradient = GradientResult(**{ours.get(name, name): self.keep(t)
                                          for name, t in self.gradients.items()})
        if self.fast is not None:
            self.prepare_fast_backward(count, grad, delta)

    def prepare_fast_backward(self, count, grad, delta):
        nan = lambda t: torch.full_like(t, math.nan)
        self.fast_gradients = {name: nan(self.gradients[name]) for name in (
            "query", "query_potential", "key", "key_potential", "value")}
        self.fast_gradients["sums"] = nan(self.gradients["sums"][:, :, :count])
        self.fast_result = GradientResult(*map(self.keep, self.fast_gradients.values()))
        self.offset_sums = self.offset_scale = None
        if self.has_bias():
            entries, _ = offset_places(self.problem.query.count, self.problem.key.count)
            self.offset_sums = torch.full((self.problem.groups, entries), 1 << 60, device=grad.device)
            self.offset_scale = offset_scale(grad, self.value)
        self.fast_gradient = self.pack_gradient(grad, delta)

    def pack_gradient(self, grad, delta):
        width = self.kernels.code.conelab_fast_width(self.similarity, ctypes.byref(self.problem))
        lse2 = self.maximum * math.log2(math.e) + torch.log2(self.sum)
        if self.part.sigmoid:
            lse2 = torch.zeros_like(lse2)
        pad = -self.query.base.shape[1] % TILE
        padded = lambda t, by: torch.nn.functional.pad(t, (0, pad), value=by)
        values = [token_values(self.name, side, self.parameters) for side in (self.query, self.key)]
        padded_values = None if values[0] is None else torch.nn.functional.pad(values[0], (0, pad))
        zeros = torch.zeros_like(self.key.offset)
        tensors = (pack_tiles(self.query.base, TILE, width), pack_tiles(self.key.base, TILE, width),
                   pack_tiles(self.value, TILE, width), pack_tiles(grad.to(self.value.dtype), TILE, width),
                   pack_facts(padded(self.query.offset, 0.0), padded_values, TILE,
                              padded(lse2, math.inf), padded(delta, 0.0)),
                   pack_facts(self.key.offset, values[1], TILE, zeros, zeros), self.pack_bias(),
                   self.offset_sums, self.offset_scale)
        return FastGradient(self.fast_call(), *map(self.keep, tensors))

    def fast_backward(self):
        self.kernels.call("conelab_fast_gradient", self.similarity, ctypes.byref(self.fast_gradient),
                          ctypes.byref(self.fast_result))
        if not self.has_bias():
            return self.fast_gradients
        _, places = offset_places(self.problem.query.count, self.problem.key.count)
        by_offset = self.offset_sums[:, places].double() / self.offset_scale[:, None]
        return {**self.fast_gradients, "by_offset": by_offset}

    def backward(self):
        self.kernels.call("conelab_portable_gradient", self.similarity, ctypes.byref(self.problem),
                          ctypes.byref(self.upstream), ctypes.byref(self.gradient))
        return self.gradients
