"""Link prediction in random graphs of the hyperbolic disk, after *Hyperbolic Attention Networks*
(Gulcehre et al. 2019, section 4): recursive transformers that differ in their similarity alone.

    python resources/studies/link_prediction.py -o link_prediction.md

A graph has `nodes` nodes; a tenth of its edges is kept from training. Each node is a vector that is
learnt; three layers with the same weights (4 heads of 4 units) attend among all nodes, and the dot
product of two nodes' vectors is the logit of their edge. Training begins with the nodes of a slice of
30 degrees, which widens to the whole disk. The test compares the edges that were kept with as many
pairs without an edge: the share of (edge, other pair) in which the edge has the larger logit (AUC),
and the share of right answers at a probability of one half.
"""
import pathlib
import subprocess
import tempfile
import time

import h5py
import torch
from torch import nn

from training import SOURCE, Attention, arguments, mean_and_interval, write_table

SIMILARITIES = ("dot", "hyperbolic", "penumbral", "umbral")
SLICES = (30, 60, 120, 240, 360)


class RecursiveTransformer(nn.Module):
    def __init__(self, nodes, similarity, width=16, heads=4, layers=3):
        super().__init__()
        self.layers = layers
        self.vector = nn.Embedding(nodes, width)
        self.attention = Attention(width, heads, similarity)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, nodes):
        x = self.vector(nodes)
        for _ in range(self.layers):
            x = self.norms[0](x + self.attention(x))
            x = self.norms[1](x + self.feed(x))
        return x

    def logits(self, x, pairs):
        return (x[pairs[:, 0]] * x[pairs[:, 1]]).sum(-1) + self.bias


def make_graph(program, nodes, seed):
    """Edges [m x 2] and the angle [n] of each node, in degrees."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "graph.h5"
        subprocess.run([program, "dataset", "hyperbolic-graph", "-o", path, "-p", f"n={nodes}",
                        "-p", f"seed={seed}"], check=True, capture_output=True)
        with h5py.File(path) as file:
            return (torch.tensor(file["graph/edge"][:]).long(),
                    torch.tensor(file["graph/angle"][:]).rad2deg())


def pairs_without_edge(nodes, edges):
    """All of them, [m x 2]."""
    taken = torch.zeros(nodes, nodes, dtype=torch.bool)
    taken[edges[:, 0], edges[:, 1]] = taken[edges[:, 1], edges[:, 0]] = True
    taken.fill_diagonal_(True)
    return (~taken).nonzero()


def drawn(pairs, count):
    return pairs[torch.randint(len(pairs), (count,))]


def train(model, edges, all_edges, angle, steps):
    """Trains in slices of equal numbers of steps."""
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for width in SLICES:
        nodes = (angle <= width).nonzero()[:, 0]
        place = torch.full((len(angle),), -1).index_put_((nodes,), torch.arange(len(nodes)))
        inside = place[edges][(place[edges] >= 0).all(1)]
        known = place[all_edges][(place[all_edges] >= 0).all(1)]
        free = pairs_without_edge(len(nodes), known)
        for _ in range(steps // len(SLICES)):
            pairs = torch.cat([inside, drawn(free, len(inside))])
            wanted = (torch.arange(len(pairs)) < len(inside)).float()
            loss = nn.functional.binary_cross_entropy_with_logits(
                model.logits(model(nodes), pairs), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def measure(model, kept, all_edges, nodes):
    """AUC and the share of right answers on the edges that were kept from training."""
    with torch.no_grad():
        x = model(torch.arange(nodes))
        edge = model.logits(x, kept)
        other = model.logits(x, drawn(pairs_without_edge(nodes, all_edges), len(kept)))
    auc = (edge[:, None] > other).float().mean() + (edge[:, None] == other).float().mean() / 2
    return auc.item(), ((edge > 0).float().mean() + (other <= 0).float().mean()).item() / 2


def run(similarity, seed, options):
    edges, angle = make_graph(options.program, options.nodes, seed)
    torch.manual_seed(seed)
    edges = edges[torch.randperm(len(edges))]
    kept, trained = edges.split([len(edges) // 10, len(edges) - len(edges) // 10])
    model = RecursiveTransformer(options.nodes, similarity)
    start = time.process_time()
    loss = train(model, trained, edges, angle, options.steps)
    seconds = (time.process_time() - start) / options.steps
    auc, right = measure(model, kept, edges, options.nodes)
    print(f"{similarity} seed {seed}: AUC {auc:.4f}, right {right:.4f}, loss {loss:.4f}, "
          f"{1e3 * seconds:.1f} ms a step", flush=True)
    return auc, right, loss, 1e3 * seconds


def difference(found, base):
    """The mean difference of AUC to dot product over the same seeds, with its interval."""
    return mean_and_interval([a[0] - b[0] for a, b in zip(found, base)])


def write(found, options):
    """Writes the table of results, a list for each similarity, one for each seed."""
    rows = [("similarity", "AUC", "AUC - that of dot", "right answers", "loss of training",
             "ms of processor a step")]
    for name, results in found.items():
        auc, right, loss, milliseconds = zip(*results)
        rows.append((name, mean_and_interval(auc),
                     "" if name == "dot" else difference(results, found["dot"]),
                     mean_and_interval(right), mean_and_interval(loss),
                     f"{sorted(milliseconds)[len(results) // 2]:.1f}"))
    write_table(options, "Link prediction in random graphs of the hyperbolic disk",
                "Mean ± half the width of its 95 % interval (Student's t) over the seeds; a seed "
                "draws the graph, the edges that are kept and the weights. AUC of .5 is chance. "
                "`resources/studies/link_prediction.py` says what is trained.", rows)


def main():
    options = arguments(__doc__.splitlines()[0], nodes=1000, steps=500, seeds=5,
                        program=str(SOURCE / "build/bin/conelab"))
    torch.set_num_threads(1)
    found = {name: [] for name in SIMILARITIES}
    for seed in range(1, options.seeds + 1):
        for name in SIMILARITIES:
            found[name].append(run(name, seed, options))
    write(found, options)


if __name__ == "__main__":
    main()
