"""A language model with two numbers in each head's queries and keys, over contexts of 256 to 16,384 bytes."""
import math

import torch
from torch import nn

from language import Language
from trainer import Attention, main


class Placed(Attention):
    """Heads that begin with the slopes of ALiBi and learn them: the logit falls with the distance of query and key.
    Dot products have them as a bias. Umbral cones stand one slope farther along the boundary at each position, so
    that the height of two tokens' ancestor grows with their distance."""

    def __init__(self, operator, width, heads, d, mask=None):
        super().__init__(operator, width, heads, d, mask)
        slopes = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
        self.moves = operator == "umbral"
        if self.moves:
            self.keywords["map"] = "none"
            self.step = nn.Parameter((2 * math.sinh(1) * slopes).log())  # At the radius 1.
        else:
            self.keywords["bias"] = "alibi"
            self.logarithms["alibi_slope"] = nn.Parameter(slopes.log())

    def attend(self, q, k, v, lengths):
        if self.moves:
            along = self.step.exp()[:, None] * torch.arange(q.shape[-2])
            q, k = (torch.stack([x[..., 0] + along, x[..., 1].exp()], -1) for x in (q, k))
        return super().attend(q, k, v, lengths)


class Contexts(Language):
    name, title = "contexts", "A language model of bytes with heads of d = 2, by its context"
    text = ("The text is that of the language model; queries and keys have 2 numbers a head, so that umbral attention can be "
            "computed in O(n log n), which the program does where that is faster. Logits fall with the distance of query "
            "and key, by slopes that begin as ALiBi's and are learnt: under the dot product as a bias, under cones by their "
            "places. A step has the same number of bytes at each context, and all contexts are measured on the same bytes: "
            "four stretches of 16,384. Rates are chosen at the shortest context.")
    operators, dims, axis = ("dot", "umbral"), (256, 1024, 4096, 16384), "context"
    same_everywhere, tuned_at_first = (), True
    rates = (3e-3, 1e-1)
    sizes = {"steps": 300, "bytes": 16384, "width": 64, "heads": 4, "blocks": 1}
    quick = {"steps": 4}
    positions = False

    def sizes_at(self, d, sizes):
        return {**sizes, "context": d, "batch": max(1, sizes["bytes"] // d)}

    def attention(self, operator, d, sizes, mask=None):
        layer = Attention if operator == "none" else Placed
        return layer(operator, sizes["width"], sizes["heads"], 2, mask)

    def bits(self, model, split, context):
        longest = max(self.dims)
        starts = torch.linspace(0, len(split) - longest - 1, 4).long().tolist()
        windows = torch.cat([split[s:s + longest + 1].unfold(0, context + 1, context) for s in starts])
        return model.loss(windows) / math.log(2)


if __name__ == "__main__":
    main(Contexts())
