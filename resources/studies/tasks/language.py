"""A language model of the bytes of a text, with heads of few dimensions and agglomerative attention.

The text is the King James Bible of Debian's package bible-kjv, in the public domain.
"""
import functools
import math
import shutil
import subprocess

import torch
from conelab.torch import attention
from torch import nn

from trainer import Block, Task, main, parts


class Agglomerative(nn.Module):
    """Spellings (2019): each of 8 classes of tokens has a mean over the tokens before; O(n)."""

    def __init__(self, width, classes=8):
        super().__init__()
        columns = {"P": width, "Q": width, "W_reference": classes, "W_query": classes}
        self.tensors = nn.ParameterDict({name: nn.Parameter(torch.randn(width, n) / width ** .5)
                                         for name, n in columns.items()})

    def forward(self, x, lengths=None):
        return attention(x[:, None], operator="agglomerative", mask="causal", threads=1, **self.tensors)[:, 0]


class LanguageModel(nn.Module):
    def __init__(self, letters, attend, sizes, positions):
        super().__init__()
        width = sizes["width"]
        self.letter = nn.Embedding(letters, width)
        self.position = nn.Parameter(torch.randn(sizes["context"], width) / width ** .5) if positions else 0
        self.blocks = nn.ModuleList(Block(attend("causal"), width) for _ in range(sizes["blocks"]))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, letters))

    def loss(self, windows):
        """Mean loss, in nats, of the letters of windows [batch x context + 1] after their first."""
        x = self.letter(windows[:, :-1]) + self.position
        for block in self.blocks:
            x = block(x)
        return nn.functional.cross_entropy(self.out(x).flatten(0, 1), windows[:, 1:].flatten())


@functools.lru_cache(maxsize=None)
def text():
    """The numbers of its letters, and how many different ones there are."""
    if not shutil.which("bible"):
        raise SystemExit("this task needs the program bible (Debian's package bible-kjv)")
    lines = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    letters = "\n".join(line.split(" ", 1)[1] for line in lines if " " in line)
    known = {c: i for i, c in enumerate(sorted(set(letters)))}
    return torch.tensor([known[c] for c in letters]), len(known)


class Language(Task):
    name, title = "language", "A language model of bytes, by dimensions of a head"
    text = ("Coneheads (fig. 4) and Spellings (table 1) train language models; here bytes of the King James Bible, a tenth "
            "of it for validation and a tenth for the test, each of them behind what is trained on. Heads have values of "
            "width / heads numbers and queries and keys of d.")
    measure, less_is_better = "bits", True
    operators, dims = ("dot", "laplacian", "penumbral", "umbral", "agglomerative"), (2, 4, 8, 16, 32)
    same_everywhere = ("none", "agglomerative")
    sizes = {"steps": 2000, "batch": 16, "width": 64, "heads": 4, "blocks": 3, "context": 128}
    quick = {"steps": 150, "blocks": 2, "context": 64}
    positions = True

    def attention(self, operator, d, sizes, mask=None):
        if operator == "agglomerative":
            return Agglomerative(sizes["width"])
        return super().attention(operator, d, sizes, mask)

    def data(self, sizes, seed):
        numbers, letters = text()
        rows = parts(len(numbers), (0, 8, 9, 10))
        return {"letters": letters, **{name: numbers[part] for name, part in rows.items()}}

    def batch(self, data, sizes):
        windows = data["train"].unfold(0, sizes["context"] + 1, 1)
        return windows[torch.randint(len(windows), (sizes["batch"],))]

    def model(self, data, attend, sizes):
        return LanguageModel(data["letters"], attend, sizes, self.positions)

    def bits(self, model, split, context):
        """Bits a byte over 16,384 bytes that are spread over the split."""
        windows = split.unfold(0, context + 1, context)
        windows = windows[::max(1, len(windows) * context // 16384)]
        return model.loss(windows) / math.log(2)

    def score(self, model, split, sizes):
        return self.bits(model, split, sizes["context"])


if __name__ == "__main__":
    main(Language())
