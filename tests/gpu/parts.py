"""What a call has besides its similarity and a causal mask: random numbers, what plain PyTorch makes of
them, and their arrays for the kernels (gpu/tile/problem.h).

A part is named after a colon in an operator's name: dot:axis=query, dot:graph, dot:grid, dot:shaw,
umbral:alibi, umbral:hype, umbral:t5, umbral:sigmoid, umbral:t5+sigmoid, umbral:grouped,
umbral:alibi+grouped.
"""
import math

import torch

TILE = 64
CLIP = 5


def random(shape, seed, device):
    return torch.randn(*shape, generator=torch.Generator("cpu").manual_seed(seed)).to(device)


def lists(seen):
    """PairLists of a matrix [rows, others] of booleans: first, token, rows."""
    first, token, bits = [0], [], []
    for block in seen.cpu().split(TILE):
        others = block.any(0).nonzero().flatten()
        powers = 2 ** torch.arange(len(block) - 1, dtype=torch.int64)  # Bit 63 is the sign.
        words = (block[:len(powers), others].long() * powers[:, None]).sum(0)
        last = block[-1, others].long() << (len(block) - 1)
        token.append(others.int())
        bits.append(words | last)
        first.append(first[-1] + len(others))
    return torch.tensor(first, dtype=torch.int32), torch.cat(token), torch.cat(bits)


class Part:
    """No part. `leaves` are tensors that gradients are taken of, besides q, k and v. Groups are the heads
    of a batch element, then those of the next; `share` of them have one head of k and v."""
    names = ()
    batch = share = 1
    sigmoid = False
    delta = None  # Of every row, in place of the sum of output times its gradient.

    def __init__(self, groups, n_q, n_k, d_v, device):
        self.groups, self.n_q, self.n_k, self.d_v, self.device = groups, n_q, n_k, d_v, device
        self.heads = groups // self.batch
        i, j = torch.arange(n_q, device=device)[:, None], torch.arange(n_k, device=device)[None]
        self.offset = j - i - n_k + n_q  # [n_q, n_k]
        self.leaves = []

    def logits(self, x, leaves):
        return x

    def seen(self):
        """[n_q, n_k], or None: all."""
        return None

    def weights(self, x):
        return torch.softmax(x, -1)

    def output(self, weights, value, leaves):
        return weights @ value

    def fill(self, problem, keep, causal):
        """Sets what the part changes of a Problem; `keep` returns the address of a tensor."""

    def forward_arrays(self):
        """Further arrays of ForwardResult."""
        return {}

    def finish(self, output, arrays):
        return output

    def upstream(self, arrays, maximum, grad):
        """Factors of exp(logit - maximum), if they are not 1 / sum, and further arrays of Upstream."""
        return None, {}

    def gradient_arrays(self):
        return {}

    def gradients(self, arrays, grad):
        """Of the leaves."""
        return []


class OverQueries(Part):
    delta = 0.0

    def weights(self, x):
        return torch.softmax(x, -2)

    def fill(self, problem, keep, causal):
        problem.over_queries, problem.normalised = True, False

    def forward_arrays(self):
        return {"column_lse": torch.full((self.groups, self.n_k), math.nan, device=self.device)}

    def upstream(self, arrays, maximum, grad):
        unit = torch.ones(self.groups, self.n_q, device=self.device)
        return torch.exp(maximum), {"column_lse": arrays["column_lse"], "unit": unit}

    def gradient_arrays(self):
        return {"column_delta": torch.full((self.groups, self.n_k), math.nan, device=self.device)}


class Graph(Part):
    """Eight random neighbours, and the token itself."""

    def seen(self):
        seen = torch.zeros(self.n_q, self.n_k, dtype=torch.bool)
        generator = torch.Generator("cpu").manual_seed(1)
        for _ in range(8):
            seen[torch.arange(self.n_q), torch.randint(self.n_k, (self.n_q,), generator=generator)] = True
        return seen.to(self.device) | (self.offset == 0)

    def fill(self, problem, keep, causal):
        seen = self.seen() & (self.offset <= 0) if causal else self.seen()
        problem.lists = 1
        for which, matrix in ((problem.query_lists, seen), (problem.key_lists, seen.T)):
            which.first, which.token, which.rows = (keep(t.to(self.device)) for t in lists(matrix))


class Grid(Part):
    """The tokens on a grid of rows of 16: two numbers for each head times a table along each axis."""
    names = ("d bias",)
    side = 16

    def __init__(self, *sizes):
        super().__init__(*sizes)
        n = max(self.n_q, self.n_k)
        self.sides = (-(-n // self.side), self.side)
        self.tables = [torch.sin(torch.arange(2 * s - 1, device=self.device) * 0.7) for s in self.sides]
        self.leaves = [random((self.groups, 2), 2, self.device)]

    def places(self, tokens):
        return tokens // self.side, tokens % self.side

    def positions(self):
        tokens = torch.arange(self.n_k, device=self.device)
        return self.places(tokens[self.n_k - self.n_q:]), self.places(tokens)

    def logits(self, x, leaves):
        query, key = self.positions()
        for a, side in enumerate(self.sides):
            table = self.tables[a].to(x.dtype)[key[a][None] - query[a][:, None] + side - 1]
            x = x + leaves[0][:, a, None, None] * table
        return x

    def fill(self, problem, keep, causal):
        sizes = [len(t) for t in self.tables]
        zeros = [torch.zeros(s, device=self.device) for s in sizes]
        slopes = torch.stack([torch.cat([self.tables[0], zeros[1]]), torch.cat([zeros[0], self.tables[1]])])
        problem.axes, problem.bias_size, problem.bias_slopes = 2, sum(sizes), 2
        problem.bias = keep((self.leaves[0].float() @ slopes).contiguous())
        problem.bias_slope = keep(slopes.repeat(self.groups, 1, 1).contiguous())
        query, key = self.positions()
        first = torch.tensor([self.sides[0] - 1, sizes[0] + self.sides[1] - 1], device=self.device)
        problem.query_place = keep(torch.stack(query, 1).int().contiguous())
        problem.key_place = keep((torch.stack(key, 1) + first).int().contiguous())

    def gradients(self, arrays, grad):
        return [arrays["sums"][:, :, -2:].sum(1)]


class Shaw(Part):
    """A number for each query and clipped relative position, and values of the positions."""
    names = ("d bias", "d positions")

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.classes = 2 * CLIP + 1
        self.leaves = [random((self.groups, self.n_q, self.classes), 3, self.device),
                       random((self.groups, self.classes, self.d_v), 4, self.device)]
        self.index = (self.offset.clamp(-CLIP, CLIP) + CLIP).expand(self.groups, -1, -1)

    def logits(self, x, leaves):
        return x + leaves[0].gather(2, self.index)

    def by_class(self, weights):
        zeros = torch.zeros(self.groups, self.n_q, self.classes, dtype=weights.dtype, device=self.device)
        return zeros.scatter_add(2, self.index, weights)

    def output(self, weights, value, leaves):
        return weights @ value + self.by_class(weights) @ leaves[1]

    def fill(self, problem, keep, causal):
        offsets = torch.arange(1 - self.n_k, self.n_q, device=self.device)  # By j - i + n_q - 1.
        classes = (offsets.clamp(-CLIP, CLIP) + CLIP).int()
        problem.classes, problem.sums_slopes, problem.sums_weights = self.classes, True, True
        problem.class_of = keep(classes.repeat(self.groups, 1).contiguous())
        problem.class_bias = keep(self.leaves[0])

    def sums(self):
        return torch.full((self.groups, self.n_q, self.classes), math.nan, device=self.device)

    def forward_arrays(self):
        return {"class_weight": self.sums()}

    def finish(self, output, arrays):
        return output + arrays["class_weight"] @ self.leaves[1]

    def upstream(self, arrays, maximum, grad):
        return None, {"class_slope": (grad @ self.leaves[1].transpose(1, 2)).contiguous()}

    def gradient_arrays(self):
        return {"class_slope": self.sums(), "class_weight": self.sums()}

    def gradients(self, arrays, grad):
        return [arrays["class_slope"], arrays["class_weight"].transpose(1, 2) @ grad]


class Offsets(Part):
    """A bias by head and offset: `table` makes it of the head's numbers [groups, numbers]."""
    names = ("d bias",)

    def __init__(self, *sizes):
        super().__init__(*sizes)
        # By j - i + n_q - 1.
        self.distance = torch.arange(1 - self.n_k, self.n_q, device=self.device)
        self.leaves = [self.numbers(torch.arange(1.0, self.heads + 1, device=self.device)[:, None])]

    def numbers(self, head):
        """[heads, numbers] of heads 1, 2, ..."""

    def table(self, numbers):
        """[heads, n_q + n_k - 1]"""

    def logits(self, x, leaves):
        return x + self.table(leaves[0])[:, self.offset + self.n_k - 1].repeat(self.batch, 1, 1)

    def slopes(self):
        """[heads, numbers, n_q + n_k - 1] The table by each number."""
        numbers = self.leaves[0].double()
        return torch.stack([torch.autograd.functional.jvp(self.table, numbers, row.expand_as(numbers))[1]
                            for row in torch.eye(numbers.shape[1], device=self.device).double()], 1)

    def fill(self, problem, keep, causal):
        table, slopes = self.table(self.leaves[0].double()), self.slopes()
        problem.axes, problem.bias_size, problem.bias_slopes = 1, table.shape[1], slopes.shape[1]
        problem.bias = keep(table.float().contiguous())
        problem.bias_slope = keep(slopes.float().contiguous())
        problem.query_place = keep(torch.arange(self.n_q, device=self.device).int())
        problem.key_place = keep(torch.arange(self.n_k, device=self.device).int() + self.n_q - 1)

    def gradients(self, arrays, grad):
        if "by_offset" in arrays:
            return [(self.slopes() * self.of_heads(arrays["by_offset"])[:, None]).sum(-1)]
        return [self.of_heads(arrays["sums"][:, :, -self.leaves[0].shape[1]:].sum(1))]

    def of_heads(self, of_groups):
        return of_groups.unflatten(0, (self.batch, self.heads)).sum(0)


class Alibi(Offsets):
    def numbers(self, head):
        return torch.exp2(-8 * head / self.heads)

    def table(self, numbers):
        return -numbers * self.distance.abs()


class Hype(Offsets):
    def numbers(self, head):
        return torch.cat([head / self.n_k, -1 / head], 1)

    def table(self, numbers):
        return -numbers[:, 1:] * torch.sinh(numbers[:, :1] * self.distance)


class T5(Offsets):
    """A number for each bucket of distances: half of them for keys ahead, whose number grows as the
    logarithm of the distance."""
    buckets = 32

    def numbers(self, head):
        return random((self.groups, self.buckets), 5, self.device)

    def index(self):
        bucket = (self.distance.abs() + 1.0).log2().mul(2).int().clamp(max=self.buckets // 2 - 1)
        return bucket + (self.distance > 0) * (self.buckets // 2)

    def table(self, numbers):
        return numbers[:, self.index()]

    def fill(self, problem, keep, causal):
        super().fill(problem, keep, causal)
        problem.bias_slopes = 0  # So many are summed by class.
        problem.classes, problem.sums_slopes = self.buckets, True
        problem.class_of = keep(self.index().int().repeat(self.groups, 1).contiguous())

    def gradient_arrays(self):
        return {"class_slope": torch.full((self.groups, self.n_q, self.buckets), math.nan, device=self.device)}

    def gradients(self, arrays, grad):
        return super().gradients(arrays, grad) if "by_offset" in arrays else [arrays["class_slope"].sum(1)]


class Sigmoid(Part):
    sigmoid = True
    delta = 1.0

    def weights(self, x):
        return torch.sigmoid(x)

    def fill(self, problem, keep, causal):
        super().fill(problem, keep, causal)
        problem.sigmoid, problem.normalised = True, False

    def upstream(self, arrays, maximum, grad):
        return torch.exp(maximum), {}


class SigmoidT5(Sigmoid, T5):
    pass


class Grouped(Part):
    batch = share = 2


class GroupedAlibi(Grouped, Alibi):
    pass


PARTS = {"": Part, "axis=query": OverQueries, "graph": Graph, "grid": Grid, "shaw": Shaw, "alibi": Alibi,
         "hype": Hype, "t5": T5, "sigmoid": Sigmoid, "t5+sigmoid": SigmoidT5, "grouped": Grouped,
         "alibi+grouped": GroupedAlibi}


def split(name):
    """An operator's name -> similarity and part."""
    similarity, _, part = name.partition(":")
    return similarity, PARTS[part]
