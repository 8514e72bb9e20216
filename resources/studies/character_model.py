"""A small model of characters with full and with agglomerative attention, after *Agglomerative
Attention* (Spellings 2019): 128 tokens, 5 blocks, width 64.

    python resources/studies/character_model.py -o character_model.md

The text is this program's manual; its last tenth is the test. A block is causal attention and a layer
of 64 hidden units, each added to its input after normalisation. Full attention has 8 heads,
agglomerative attention 8 classes. The table shows the loss of a character of the test in nats
against the steps, and the time of a step; the sizes of the paper's models (table 1) are 64,193,
88,513, 57,041 and 81,361 numbers.
"""
import hashlib
import time

import torch
from conelab.torch import attention
from torch import nn

from training import SOURCE, Attention, arguments, mean_and_interval, write_table

WIDTH, TOKENS, BLOCKS, CLASSES, BATCH = 64, 128, 5, 8, 16


class Agglomerative(nn.Module):
    """Each class of tokens has a mean over the tokens before; O(n)."""

    def __init__(self):
        super().__init__()
        self.tensors = nn.ParameterDict({name: torch.randn(WIDTH, columns) / WIDTH ** .5
                                         for name, columns in (("P", WIDTH), ("Q", WIDTH),
                                                               ("W_reference", CLASSES),
                                                               ("W_query", CLASSES))})

    def forward(self, x):
        return attention(x[:, None], operator="agglomerative", mask="causal", threads=1,
                         **self.tensors)[:, 0]


class Block(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.feed = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.feed(self.norms[1](x))


ATTENTIONS = {"full": lambda: Attention(WIDTH, 8, "dot", "causal"), "agglomerative": Agglomerative}


class Model(nn.Module):
    def __init__(self, characters, attend):
        super().__init__()
        self.character = nn.Embedding(characters, WIDTH)
        self.position = nn.Parameter(torch.randn(TOKENS, WIDTH) / WIDTH ** .5)
        self.blocks = nn.Sequential(*(Block(attend()) for _ in range(BLOCKS)))
        self.out = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters))

    def loss(self, windows):
        """Mean loss of the characters of windows [batch x TOKENS + 1] after their first."""
        x = self.blocks(self.character(windows[:, :-1]) + self.position)
        return nn.functional.cross_entropy(self.out(x).flatten(0, 1), windows[:, 1:].flatten())


def load_text():
    text = "".join(p.read_text() for p in sorted((SOURCE / "resources/manual").glob("*.md")))
    known = {c: i for i, c in enumerate(sorted(set(text)))}
    return text, torch.tensor([known[c] for c in text]), len(known)


def run(name, seed, numbers, characters, options):
    """The losses of the test every tenth of the steps, the milliseconds of a step, the size."""
    torch.manual_seed(seed)
    cut = len(numbers) * 9 // 10
    test = numbers[cut:].unfold(0, TOKENS + 1, TOKENS)
    windows = numbers[:cut].unfold(0, TOKENS + 1, 1)
    model = Model(characters, ATTENTIONS[name])
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    losses, seconds = [], []
    for step in range(1, options.steps + 1):
        start = time.process_time()
        loss = model.loss(windows[torch.randint(len(windows), (BATCH,))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.process_time() - start)
        if step % (options.steps // 10) == 0:
            with torch.no_grad():
                losses.append(model.loss(test).item())
    size = sum(p.numel() for p in model.parameters())
    print(f"{name} seed {seed}: {size} numbers, losses {[round(x, 3) for x in losses]}", flush=True)
    return losses, 1e3 * sorted(seconds)[len(seconds) // 2], size


def main():
    options = arguments(__doc__.splitlines()[0], steps=1000, seeds=5)
    torch.set_num_threads(1)
    text, numbers, characters = load_text()
    shown = [i * options.steps // 10 for i in (1, 2, 4, 7, 10)]
    rows = [("attention", "numbers", "ms of processor a step", *(f"loss after {n}" for n in shown))]
    for name in ATTENTIONS:
        results = [run(name, seed, numbers, characters, options)
                   for seed in range(1, options.seeds + 1)]
        curves = [[r[0][i - 1] for r in results] for i in (1, 2, 4, 7, 10)]
        rows.append((name, f"{results[0][2]:,}",
                     f"{sorted(r[1] for r in results)[len(results) // 2]:.1f}",
                     *map(mean_and_interval, curves)))
    write_table(options, "A model of characters with full and agglomerative attention",
                "Loss of a character of the test in nats, mean ± half the width of its 95 % interval "
                "(Student's t) over the seeds, each of which draws weights and batches. The paper's "
                "models (table 1) have 64,193, 88,513, 57,041 and 81,361 numbers. Text: the manual, "
                f"{len(text):,} characters, SHA-256 "
                f"{hashlib.sha256(text.encode()).hexdigest()[:16]}…", rows)


if __name__ == "__main__":
    main()
