"""The time of a whole training step of a small transformer (4 blocks, causal) under Conelab's similarities
over that under PyTorch's own scaled dot product attention, on one thread.

    python resources/studies/step_cost.py -o step_cost.md

Steps of all kinds take turns; a ratio is the median over the rounds, in time of the processor.
"""
import time

import torch
from torch import nn

from training import Attention, arguments, write_table

KINDS = ("sdpa", "dot", "penumbral", "umbral")


class Mixed(Attention):
    """Attention of one of KINDS, with the same weights."""
    kind = "sdpa"

    def attend(self, q, k, v):
        if self.kind == "sdpa":
            return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        self.similarity = self.kind
        return super().attend(q, k, v)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Mixed(width, heads, "dot", "causal")
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.feed(self.norms[1](x))


def ratios(width, heads, tokens, batch, rounds):
    """The median milliseconds of a step with SDPA, and each kind's ratio to it."""
    model = nn.Sequential(nn.Embedding(100, width), *(Block(width, heads) for _ in range(4)),
                          nn.Linear(width, 100))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    ids = torch.randint(0, 100, (batch, tokens))

    def step(kind):
        start = time.process_time()
        Mixed.kind = kind
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return time.process_time() - start

    def median(values):
        return sorted(values)[len(values) // 2]

    taken = [[step(kind) for kind in KINDS] for _ in range(rounds + 1)][1:]
    return 1e3 * median([row[0] for row in taken]), [
        median([row[i] / row[0] for row in taken]) for i in range(1, len(KINDS))]


def main():
    options = arguments(__doc__.splitlines()[0], rounds=15)
    torch.set_num_threads(1)
    rows = [("width of a head", "tokens", "sequences", "ms with SDPA", *KINDS[1:])]
    for width, heads, tokens, batch in ((256, 4, 512, 1), (256, 4, 128, 4), (64, 4, 512, 2),
                                        (64, 4, 128, 8)):
        milliseconds, found = ratios(width, heads, tokens, batch, options.rounds)
        rows.append((width // heads, tokens, batch, f"{milliseconds:.0f}",
                     *(f"{x:.2f}" for x in found)))
    write_table(options, "A training step over that with PyTorch's scaled dot product attention",
                "Four blocks, causal, f32. `resources/studies/step_cost.py` says what a step is.", rows)


if __name__ == "__main__":
    main()
