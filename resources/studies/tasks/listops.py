"""ListOps: nested lists of digits under MAX, MIN, MED and SM (the sum modulo 10), by their depth."""
import torch
from torch import nn

from trainer import Block, Task, main

WORDS = [*map(str, range(10)), "[MAX", "[MIN", "[MED", "[SM", "]", "-"]
VALUE = {"[MAX": max, "[MIN": min, "[MED": lambda x: int(sorted(x)[len(x) // 2]) if len(x) % 2 else
         (sorted(x)[len(x) // 2 - 1] + sorted(x)[len(x) // 2]) // 2, "[SM": lambda x: sum(x) % 10}


def draw(depth, most, generator):
    """An expression as words, its value, and how deep it is: at each level a digit with the probability
    1/4, else an operator of two to `most` arguments."""
    def number(high):
        return int(torch.randint(high, (), generator=generator))
    if depth == 0 or number(4) == 0:
        digit = number(10)
        return [str(digit)], digit, 0
    operator = WORDS[10 + number(4)]
    parts = [draw(depth - 1, most, generator) for _ in range(2 + number(most - 1))]
    words = [operator, *(word for part in parts for word in part[0]), "]"]
    return words, VALUE[operator]([part[1] for part in parts]), 1 + max(part[2] for part in parts)


def drawn(count, sizes, generator):
    """Numbers of words [count x length], lengths, values and depths [count]; each depth is as frequent."""
    place = {word: i for i, word in enumerate(WORDS)}
    tokens = torch.full((count, sizes["length"]), place["-"])
    lengths, values, depths = (torch.zeros(count, dtype=torch.int64) for _ in range(3))
    for i in range(count):
        wanted = 1 + i % sizes["depth"]
        while True:
            words, value, depth = draw(wanted, sizes["most"], generator)
            if depth == wanted and len(words) <= sizes["length"]:
                break
        tokens[i, :len(words)] = torch.tensor([place[word] for word in words])
        lengths[i], values[i], depths[i] = len(words), value, depth
    return tokens, lengths, values, depths


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
            "the last checkpoint, not the one that did best in validation. A seed draws the expressions and the weights.")
    dims = (4,)
    sizes = {"steps": 2000, "batch": 64, "width": 64, "heads": 4, "blocks": 3, "length": 64, "depth": 4, "most": 4,
             "count": 8000}
    quick = {"steps": 300, "count": 3000, "depth": 3}

    def data(self, sizes, seed):
        generator = torch.Generator().manual_seed(seed)
        counts = {"train": sizes["count"], "validation": 1000, "test": 2000}
        return {name: drawn(count, sizes, generator) for name, count in counts.items()}

    def batch(self, data, sizes):
        rows = torch.randint(len(data["train"][0]), (sizes["batch"],))
        return [x[rows] for x in data["train"]]

    def model(self, data, attend, sizes):
        return Reader(attend, sizes)

    def score(self, model, split, sizes):
        tokens, lengths, values, depths = split
        right = (model(tokens, lengths).argmax(1) == values).float()
        return {"accuracy": right.mean(), **{f"depth {d}": right[depths == d].mean()
                                             for d in range(1, sizes["depth"] + 1)}}


if __name__ == "__main__":
    main(ListOps())
