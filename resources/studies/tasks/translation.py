"""A sentence of a grammar to its tree in prefix order: an encoder, and a decoder with cross-attention."""
import torch
from torch import nn

from trainer import Block, Task, main, parts, program_data


class Translator(nn.Module):
    def __init__(self, words, attend, sizes):
        super().__init__()
        width = sizes["width"]
        self.word = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.randn(256, width) / width ** .5)
        self.encoder = nn.ModuleList(Block(attend(), width) for _ in range(sizes["blocks"]))
        self.decoder = nn.ModuleList(Block(attend("causal"), width, attend()) for _ in range(sizes["blocks"]))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, words))

    def forward(self, source, lengths, target):
        memory, x = (self.word(y) + self.position[:y.shape[1]] for y in (source, target[:, :-1]))
        for block in self.encoder:
            memory = block(memory, lengths=lengths)
        for block in self.decoder:
            x = block(x, memory, lengths)
        return self.out(x)

    def loss(self, batch):
        return nn.functional.cross_entropy(self(*batch).flatten(0, 1), batch[2][:, 1:].flatten(), ignore_index=0)


class Translation(Task):
    name, title = "translation", "Translation: a sentence to its tree"
    text = ("Coneheads (tables 1 to 3) translates German; here sentences of `conelab dataset sentences` become their trees "
            "in prefix order, with closing brackets. An answer is right if every word of it is: what decoding word by word "
            "would give. Sentences of validation and test do not occur in training.")
    operators, dims = ("dot", "laplacian", "penumbral", "umbral"), (4,)
    sizes = {"steps": 1500, "batch": 64, "width": 64, "heads": 4, "blocks": 2, "count": 6000}
    quick = {"steps": 150, "count": 2000}

    def data(self, sizes, seed):
        texts = program_data("sentences", "-p", f"n={sizes['count']}", "-p", f"seed={seed}")["sentence/text"]
        texts = sorted({x.decode() for x in texts})
        trees = [x.replace(")", " )").split() for x in texts]
        known = {word: i for i, word in enumerate(["-", "<s>", *sorted({w for tree in trees for w in tree})])}
        sources = [[known[w] for w in tree if w[0] not in "()"] for tree in trees]
        targets = [[1, *(known[w] for w in tree), 1] for tree in trees]

        def padded(rows):
            return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
        order = torch.randperm(len(trees))
        split = [padded(sources)[order], torch.tensor([len(x) for x in sources])[order], padded(targets)[order]]
        return {"words": len(known),
                **{name: [x[rows] for x in split] for name, rows in parts(len(trees)).items()}}

    def model(self, data, attend, sizes):
        return Translator(data["words"], attend, sizes)

    def score(self, model, split, sizes):
        target = split[2][:, 1:]
        right = (model(*split).argmax(2) == target) | (target == 0)
        return {"accuracy": right.all(1).float().mean(), "words": right[target != 0].float().mean()}


if __name__ == "__main__":
    main(Translation())
