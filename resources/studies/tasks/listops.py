"""ListOps: nested lists of digits under MAX, MIN, MED and SM (the sum modulo 10), by their depth."""
import numpy
import torch
from torch import nn

from trainer import Block, Task, main, parts, program_data

WORDS = {word: i for i, word in enumerate(["-", *map(str, range(10)), "(MAX", "(MIN", "(MED", "(SM", ")"])}


def drawn(count, sizes, seed):
    """Numbers of words [.. x length], lengths, values and depths [..] of `count` expressions of which each depth has
    as many, less those that occur twice."""
    keys = {"n": count, "depth": sizes["depth"], "arguments": sizes["most"], "length": sizes["length"], "seed": seed}
    found = program_data("listops", *(word for key in keys for word in ("-p", f"{key}={keys[key]}")))
    first = numpy.sort(numpy.unique(found["sentence/text"].astype(str), return_index=True)[1])
    texts = [x.decode().replace(")", " )").split() for x in found["sentence/text"][first]]
    tokens = torch.zeros((len(texts), sizes["length"]), dtype=torch.int64)
    for row, text in zip(tokens, texts):
        row[:len(text)] = torch.tensor([WORDS[word] for word in text])
    return (tokens, torch.tensor([len(text) for text in texts]),
            *(torch.from_numpy(found[f"sentence/{key}"][first]) for key in ("value", "depth")))


class Reader(nn.Module):
    """The value of an expression, read from the place of its first word."""

    def __init__(self, attend, sizes):
        super().__init__()
        width = sizes["width"]
        self.word = nn.Embedding(len(WORDS), width)
        self.position = nn.Parameter(torch.randn(sizes["length"], width) / width ** .5)
        self.blocks = nn.ModuleList(Block(attend(), width) for _ in range(sizes["blocks"]))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 10))

    def forward(self, tokens, lengths):
        x = self.word(tokens) + self.position
        for block in self.blocks:
            x = block(x, lengths=lengths)
        return self.out(x[:, 0])

    def loss(self, batch):
        return nn.functional.cross_entropy(self(*batch[:2]), batch[2])


class ListOps(Task):
    name, title = "listops", "ListOps: nested lists, accuracy by depth"
    text = ("The rules are those of Nangia and Bowman (2018) and the Long Range Arena, at most 64 words here; nobody has "
            "claimed anything of cones yet. The Arena states 36.4 % for a transformer on up to 2,000 words, and reads "
            "the last checkpoint, not the one that did best in validation. A seed draws the expressions and the weights; none of the test occurs in training.")
    dims = (4,)
    sizes = {"steps": 2000, "batch": 64, "width": 64, "heads": 4, "blocks": 3, "length": 64, "depth": 4, "most": 4,
             "count": 12000}
    quick = {"steps": 300, "count": 3000, "depth": 3}

    def data(self, sizes, seed):
        every = drawn(sizes["count"], sizes, seed)
        return {name: [x[rows] for x in every] for name, rows in parts(len(every[0])).items()}

    def model(self, data, attend, sizes):
        return Reader(attend, sizes)

    def score(self, model, split, sizes):
        tokens, lengths, values, depths = split
        right = (model(tokens, lengths).argmax(1) == values).float()
        return {"accuracy": right.mean(), **{f"depth {d}": right[depths == d].mean()
                                             for d in range(1, sizes["depth"] + 1)}}


if __name__ == "__main__":
    main(ListOps())
