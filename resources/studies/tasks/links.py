"""Links of random graphs of the hyperbolic disk, after Hyperbolic Attention Networks (Gulcehre et al. 2019,
section 4): a recursive transformer over all nodes."""
import torch
from torch import nn

from trainer import Block, Task, main, program_data


class Recursive(nn.Module):
    """Node vectors that are learnt, and layers with the same weights; the logit of an edge is the product of
    its nodes' vectors."""

    def __init__(self, nodes, attend, sizes):
        super().__init__()
        self.vector = nn.Embedding(nodes, sizes["width"])
        self.block, self.layers = Block(attend(), sizes["width"]), sizes["blocks"]
        self.norm = nn.LayerNorm(sizes["width"])
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, pairs):
        x = self.vector.weight
        for _ in range(self.layers):
            x = self.block(x)
        x = self.norm(x)
        return (x[pairs[:, 0]] * x[pairs[:, 1]]).sum(1) / x.shape[1] ** .5 + self.bias

    def loss(self, batch):
        return nn.functional.binary_cross_entropy_with_logits(self(batch[0]), batch[1])


class Links(Task):
    name, title = "links", "Links of random graphs of the hyperbolic disk"
    text = ("A seed draws the graph; a tenth of its edges is for validation and a fifth for the test, each with as many pairs "
            "without an edge. AUC: the share of (edge, other pair) in which the edge has the larger logit; .5 is chance. "
            "F1: of calling an edge what has a logit above 0. MAP: of the ranking of the other nodes of the graph for each "
            "node with an edge of the test, without those to which its other edges lead. The paper's curriculum of growing "
            "slices is left out.")
    measure = "AUC"
    operators, dims = ("dot", "hyperbolic", "laplacian", "penumbral", "umbral"), (4,)
    sizes = {"steps": 500, "width": 16, "heads": 4, "blocks": 3, "nodes": 400}
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
        data = {"train": (edges[:cuts[1]], others)}
        for name, begin, end in zip(("validation", "test"), cuts[1:], cuts[2:]):
            candidates, own = free.clone(), edges[begin:end]
            candidates[own[:, 0], own[:, 1]] = candidates[own[:, 1], own[:, 0]] = True
            data[name] = own, others[begin:end], candidates
        return data

    def batch(self, data, sizes):
        edges, others = data["train"]
        pairs = torch.cat([edges, others[torch.randint(len(others), (len(edges),))]])
        return pairs, (torch.arange(len(pairs)) < len(edges)).float()

    def model(self, data, attend, sizes):
        return Recursive(sizes["nodes"], attend, sizes)

    def score(self, model, split, sizes):
        edge, other = model(split[0]), model(split[1])
        found = (edge > 0).sum()
        return {"AUC": ((edge[:, None] > other).float() + (edge[:, None] == other).float() / 2).mean(),
                "F1": 2 * found / (found + (other > 0).sum() + len(edge)),
                "MAP": self.mean_average_precision(model, split)}

    def mean_average_precision(self, model, split):
        """Of the ranking, for each node with an edge in the split, of the nodes that no other split joins to it."""
        edges, _, candidates = split
        n, precisions = len(candidates), []
        is_edge = torch.zeros(n, n, dtype=torch.bool)
        is_edge[edges[:, 0], edges[:, 1]] = is_edge[edges[:, 1], edges[:, 0]] = True
        for node in edges.unique().tolist():
            others = candidates[node].nonzero()[:, 0]
            logits = model(torch.stack([torch.full_like(others, node), others], 1))
            hits = is_edge[node, others][logits.argsort(descending=True)].float()
            precisions.append((hits * hits.cumsum(0) / torch.arange(1, len(hits) + 1)).sum() / hits.sum())
        return torch.stack(precisions).mean()


if __name__ == "__main__":
    main(Links())
