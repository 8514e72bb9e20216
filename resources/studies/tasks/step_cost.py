"""The time of a whole training step of a small transformer (4 blocks, causal) under Conelab's similarities over
that under PyTorch's own scaled dot product attention, on one thread.

    python resources/studies/tasks/step_cost.py

Steps of all kinds take turns; a ratio is the median over the rounds, in time of the processor.
"""
import argparse
import statistics
import time

import torch
from torch import nn

from trainer import Attention, Block, provenance

KINDS = ("sdpa", "dot", "penumbral", "umbral")
ROUNDS = 15


class Mixed(Attention):
    """Attention of one of KINDS, with the same weights."""
    kind = "sdpa"

    def attend(self, q, k, v, lengths):
        if self.kind == "sdpa":
            return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        self.keywords["similarity"] = self.kind
        return super().attend(q, k, v, lengths)


def ratios(width, heads, tokens, batch):
    """The median milliseconds of a step with SDPA, and each kind's ratio to it."""
    model = nn.Sequential(
        nn.Embedding(100, width),
        *(Block(Mixed("dot", width, heads, width // heads, "causal"), width) for _ in range(4)),
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

    taken = [[step(kind) for kind in KINDS] for _ in range(ROUNDS + 1)][1:]
    return 1e3 * statistics.median(row[0] for row in taken), [
        statistics.median(row[i] / row[0] for row in taken) for i in range(1, len(KINDS))]


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    torch.set_num_threads(1)
    print(f"{provenance()}. Rounds {ROUNDS}.\n")
    rows = [("width of a head", "tokens", "sequences", "ms with SDPA", *KINDS[1:]), ("---",) * 7]
    for width, heads, tokens, batch in ((256, 4, 512, 1), (256, 4, 128, 4), (64, 4, 512, 2), (64, 4, 128, 8)):
        milliseconds, found = ratios(width, heads, tokens, batch)
        rows.append((width // heads, tokens, batch, f"{milliseconds:.0f}", *(f"{x:.2f}" for x in found)))
    print("\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows))


if __name__ == "__main__":
    main()
