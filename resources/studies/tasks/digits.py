"""Images: scikit-learn's digits, 8 x 8 pixels, as 16 patches of 2 x 2."""
import torch
from sklearn.datasets import load_digits
from torch import nn

from trainer import Block, Task, main


class Classifier(nn.Module):
    def __init__(self, attend, width, blocks):
        super().__init__()
        self.patch = nn.Linear(4, width)
        self.position = nn.Parameter(torch.randn(16, width) / width ** .5)
        self.blocks = nn.ModuleList(Block(attend(), width) for _ in range(blocks))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 10))

    def forward(self, images):
        x = self.patch(images.unflatten(1, (4, 2)).unflatten(3, (4, 2)).transpose(2, 3).reshape(-1, 16, 4))
        x = x + self.position
        for block in self.blocks:
            x = block(x)
        return self.out(x.mean(1))

    def loss(self, batch):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])


class Digits(Task):
    name, title = "digits", "Images: handwritten digits, by dimensions of a head"
    text = ("The paper trains DeiT (Coneheads, table 1). Here: 1,797 digits of 8 x 8 pixels, 16 patches of 2 x 2; "
            "1,000 are trained on, 297 choose the rate, 500 are the test; a seed draws the parts and the weights.")
    dims = (2, 4, 8)
    sizes = {"steps": 600, "batch": 64, "width": 32, "heads": 4, "blocks": 2}
    quick = {"steps": 200}

    def data(self, sizes, seed):
        digits = load_digits()
        order = torch.randperm(len(digits.images))
        x = (torch.tensor(digits.images, dtype=torch.float32) / 16)[order]
        y = torch.tensor(digits.target)[order]
        parts = {"train": slice(0, 1000), "validation": slice(1000, 1297), "test": slice(1297, None)}
        return {name: (x[part], y[part]) for name, part in parts.items()}

    def model(self, data, attend, sizes):
        return Classifier(attend, sizes["width"], sizes["blocks"])

    def score(self, model, split, sizes):
        return (model(split[0]).argmax(1) == split[1]).float().mean()


if __name__ == "__main__":
    main(Digits())
