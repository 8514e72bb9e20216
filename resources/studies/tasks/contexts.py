"""A language model with two numbers in each head's queries and keys, over contexts of 256 to 16,384 bytes."""
import math

import torch

from language import Language
from trainer import main


class Contexts(Language):
    name, title = "contexts", "A language model of bytes with heads of d = 2, by its context"
    text = ("The model and text are those of the language model, with one block; queries and keys have 2 numbers a head, so that umbral "
            "attention can be computed in O(n log n), which the program does where that is faster. A step has the same "
            "number of bytes at each context, and all contexts are measured on the same bytes: four stretches of 16,384. "
            "Rates are chosen at the shortest context.")
    operators, dims, axis = ("dot", "umbral"), (256, 1024, 4096, 16384), "context"
    same_everywhere, tuned_at_first = (), True
    rates = (3e-3, 1e-1)
    sizes = {"steps": 400, "bytes": 16384, "width": 64, "heads": 4, "blocks": 1}
    quick = {"steps": 4}

    def sizes_at(self, d, sizes):
        return {**sizes, "context": d, "batch": max(1, sizes["bytes"] // d)}

    def attention(self, operator, d, sizes, mask=None):
        return super().attention(operator, 2, sizes, mask)

    def bits(self, model, split, context):
        longest = max(self.dims)
        starts = torch.linspace(0, len(split) - longest - 1, 4).long().tolist()
        windows = torch.cat([split[s:s + longest + 1].unfold(0, context + 1, context) for s in starts])
        return model.loss(windows) / math.log(2)


if __name__ == "__main__":
    main(Contexts())
