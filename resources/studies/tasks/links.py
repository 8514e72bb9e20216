"""Links of random graphs of the hyperbolic disk, after Hyperbolic Attention Networks (Gulcehre et al. 2019,
section 4) and the graphs of Coneheads: a recursive transformer whose attention goes along known edges."""
import torch
from torch import nn

from trainer import Block, Task, main, program_data


class Recursive(nn.Module):
    """Layers with the same weights over random vectors of the nodes, which are not learnt: what a model finds
    it has read from the known edges. The logit of an edge is the product of its nodes' vectors."""

    def __init__(self, edges, attend, sizes):
        super().__init__()
        self.edges = edges
        self.register_buffer("random", torch.randn(sizes["nodes"], sizes["width"]))
        self.block, self.layers = Block(attend(), sizes["width"]), sizes["blocks"]
        self.norm = nn.LayerNorm(sizes["width"])
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, known=None):
        """The logits of all pairs [nodes x nodes]; `known` [edges x 2]: the edges that attention follows, all
        those for training if none are given."""
        known = self.edges if known is None else known
        joined = torch.eye(len(self.random), dtype=torch.bool)
        joined[known[:, 0], known[:, 1]] = joined[known[:, 1], known[:, 0]] = True
        self.block.attend.masks = [joined]
        x = self.random
        for _ in range(self.layers):
            x = self.block(x)
        x = self.norm(x)
        return x @ x.T / x.shape[1] ** .5 + self.bias

    def loss(self, batch):
        known, asked, others = batch
        pairs = torch.cat([asked, others])
        found = self(known)[pairs[:, 0], pairs[:, 1]]
        return nn.functional.binary_cross_entropy_with_logits(
            found, (torch.arange(len(pairs)) < len(asked)).float())


class Links(Task):
    name, title = "links", "Links of random graphs of the hyperbolic disk"
    text = ("A seed draws the graph; a tenth of its edges is for validation and a fifth for the test, each with as many pairs "
            "without an edge. Nodes have random vectors; each sees itself and those to which a known edge leads. In "
            "a step a third of the edges for training is asked for and the others are known; later all of them are. "
            "AUC: the share of (edge, other pair) in which the edge has the larger logit; .5 is chance. "
            "F1: of calling an edge what has a logit above 0. MAP: of the ranking of the other nodes of the graph for each "
            "node with an edge of the test, without those to which its other edges lead. The papers' curriculum of "
            "growing slices, and classes of nodes, are left out.")
    measure = "AUC"
    operators, dims = ("dot", "hyperbolic", "laplacian", "penumbral", "umbral"), (4,)
    sizes = {"steps": 500, "width": 16, "heads": 4, "blocks": 3, "nodes": 400, "trials": 7}
    quick = {"steps": 100, "nodes": 200}

    def data(self, sizes, seed):
        n = sizes["nodes"]
        edges = torch.tensor(program_data("hyperbolic-graph", "-p", f"n={n}", "-p", f"seed={seed}")["graph/edge"])
        edges = edges.long()[torch.randperm(len(edges))]
        free = ~torch.eye(n, dtype=torch.bool)
        free[edges[:, 0], edges[:, 1]] = free[edges[:, 1], edges[:, 0]] = False
        others = free.triu().nonzero()
        others = others[torch.randperm(len(others))]
        cuts = [len(edges) * part // 10 for part in (0, 7, 8, 10)]
        data = {"train": (edges[:cuts[1]], others[len(edges):])}
        for name, begin, end in zip(("validation", "test"), cuts[1:], cuts[2:]):
            candidates, own = free.clone(), edges[begin:end]
            candidates[own[:, 0], own[:, 1]] = candidates[own[:, 1], own[:, 0]] = True
            data[name] = own, others[begin:end], candidates
        return data

    def batch(self, data, sizes):
        edges, others = data["train"]
        order = torch.randperm(len(edges))
        asked, known = edges[order[:len(edges) // 3]], edges[order[len(edges) // 3:]]
        return known, asked, others[torch.randint(len(others), (len(asked),))]

    def model(self, data, attend, sizes):
        return Recursive(data["train"][0], attend, sizes)

    def score(self, model, split, sizes):
        logits, (edges, others, _) = model(), split
        edge, other = (logits[pairs[:, 0], pairs[:, 1]] for pairs in (edges, others))
        found = (edge > 0).sum()
        return {"AUC": ((edge[:, None] > other).float() + (edge[:, None] == other).float() / 2).mean(),
                "F1": 2 * found / (found + (other > 0).sum() + len(edge)),
                "MAP": self.mean_average_precision(logits, split)}

    def mean_average_precision(self, logits, split):
        """Of the ranking, for each node with an edge in the split, of the nodes that no other split joins to it."""
        edges, _, candidates = split
        precisions, is_edge = [], torch.zeros_like(candidates)
        is_edge[edges[:, 0], edges[:, 1]] = is_edge[edges[:, 1], edges[:, 0]] = True
        for node in edges.unique().tolist():
            others = candidates[node].nonzero()[:, 0]
            hits = is_edge[node, others][logits[node, others].argsort(descending=True)].float()
            precisions.append((hits * hits.cumsum(0) / torch.arange(1, len(hits) + 1)).sum() / hits.sum())
        return torch.stack(precisions).mean()


if __name__ == "__main__":
    main(Links())
