"""What the training studies share: attention by name, intervals over seeds, tables that say where they
come from."""
import argparse
import datetime
import pathlib
import platform
import statistics
import subprocess

import conelab
import torch
from conelab.torch import attention
from torch import nn

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Quantiles .975 of Student's t for 1, 2, ... degrees of freedom.
_T = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
# The parameter of each similarity that is learnt, one number a head. The scale of dot products is
# learnt by the projections.
_LEARNT = {"dot": None, "hyperbolic": "beta", "penumbral": "gamma", "umbral": "gamma"}


class Attention(nn.Module):
    """Projected self-attention with a similarity of Conelab: [.., n, width] to the same."""

    def __init__(self, width, heads, similarity, mask=None):
        super().__init__()
        self.heads, self.similarity, self.mask = heads, similarity, mask
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.join = nn.Linear(width, width, bias=False)
        self.learnt = _LEARNT[similarity]
        if self.learnt:
            self.logarithm = nn.Parameter(torch.zeros(heads))

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(-3, -2)
                   for y in self.project(x).chunk(3, -1))
        return self.join(self.attend(q, k, v).transpose(-3, -2).flatten(-2))

    def attend(self, q, k, v):
        own = {self.learnt: self.logarithm.exp()} if self.learnt else {}
        return attention(q, k, v, similarity=self.similarity, mask=self.mask, threads=1, **own)


def mean_and_interval(values):
    """The mean, and half the width of its 95 % interval, "0.912 ± 0.004"; a single value as it is."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    half = _T[len(values) - 2] * statistics.stdev(values) / len(values) ** .5
    return f"{statistics.mean(values):.3f} ± {half:.3f}"


def arguments(description, **defaults):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-o", "--output", default=None, help="file of the table, .md")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"[{value}]")
    return parser.parse_args()


def _processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")),
                platform.processor())


def write_table(options, title, text, rows):
    """Prints a table, rows of words of which the first is the head, below what it was made from."""
    commit = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short", "HEAD"], text=True,
                            capture_output=True).stdout.strip()
    settings = ", ".join(f"{key} {value}" for key, value in vars(options).items()
                         if key not in ("output", "program"))
    lines = [f"# {title}", "", text, "",
             f"Conelab {conelab.__version__} ({commit}), PyTorch {torch.__version__}, one thread of "
             f"{_processor()}, {datetime.date.today()}. Settings: {settings}.", ""]
    rows = [[str(cell) for cell in row] for row in rows]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(-len(rows) + 1, "|" + "---|" * len(rows[0]))
    made = "\n".join(lines) + "\n"
    print(made)
    if options.output:
        pathlib.Path(options.output).write_text(made)
