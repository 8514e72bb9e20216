"""A rotating rigid body, after GeometricMachineLearning's volume-preserving attention: a map of four states to the next
four, applied again and again."""
import torch
from conelab.torch import attention
from torch import nn

from trainer import Attention, Task, main, program_data

STATES = 4


class VolumePreserving(nn.Module):
    """The Cayley transform of x_i^T A x_j with a skew A: its Jacobian has the determinant 1."""

    def __init__(self):
        super().__init__()
        self.form = nn.Parameter(.1 * torch.randn(3, 3))

    def forward(self, x, lengths=None):
        return attention(x[:, None], operator="volume-preserving", weighting="skew", A=self.form - self.form.T,
                         threads=1)[:, 0]


class Coupling(nn.Module):
    """Adds to each coordinate of a state a function of the other two, one after the other: determinant 1."""

    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))
                                    for _ in range(3))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            others = torch.cat([x[..., :i], x[..., i + 1:]], -1)
            x = torch.cat([x[..., :i], x[..., i:i + 1] + layer(others), x[..., i + 1:]], -1)
        return x


class Residual(nn.Module):
    """An ordinary layer, or attention, that is added to its input."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Flow(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)

    def loss(self, batch):
        return (self(batch[0]) - batch[1]).square().mean()


class RigidBody(Task):
    name, title = "rigid-body", "A rotating rigid body: error and volume"
    text = ("GeometricMachineLearning states that a volume-preserving transformer follows the body for longer than an "
            "ordinary one. A step takes four states (.05 apart) to the next four. `error` is the mean distance from the "
            "true state over ten such steps, of states of length about 1; `volume` the mean of |log |det J|| of a step. Under "
            "volume-preserving attention all layers keep the volume, under the others they are ordinary ones.")
    measure, less_is_better = "error", True
    operators, dims = ("dot", "volume-preserving", "penumbral", "umbral"), (2,)
    sizes = {"steps": 3000, "batch": 64, "width": 3, "heads": 1, "blocks": 3, "hidden": 16}
    quick = {"steps": 300}

    def attention(self, operator, d, sizes, mask=None):
        if operator == "volume-preserving":
            return VolumePreserving()
        return Residual(Attention(operator, sizes["width"], sizes["heads"], d, mask))

    def data(self, sizes, seed):
        value = torch.tensor(program_data("rigid-body", "-p", "sequences=100", "-p", f"seed={seed}")["series/value"])
        value = value.float()
        return {"train": value[:70], "validation": value[70:80], "test": value[80:]}

    def batch(self, data, sizes):
        sequence = torch.randint(len(data["train"]), (sizes["batch"],))
        begin = torch.randint(data["train"].shape[1] - 2 * STATES, (sizes["batch"],))
        states = data["train"][sequence[:, None], begin[:, None] + torch.arange(2 * STATES)]
        return states[:, :STATES], states[:, STATES:]

    def model(self, data, attend, sizes):
        layers, hidden = [], sizes["hidden"]
        for _ in range(sizes["blocks"]):
            layers.append(attend())
            if isinstance(layers[-1], VolumePreserving):
                layers.append(Coupling(hidden))
            else:
                layers.append(Residual(nn.Sequential(nn.Linear(3, 3 * hidden), nn.Tanh(), nn.Linear(3 * hidden, 3))))
        return Flow(layers)

    def score(self, model, split, sizes):
        x, errors = split[:, :STATES], []
        for step in range(1, 11):
            x = model(x).nan_to_num(10).clamp(-10, 10)  # A state far away is lost, however far.
            true = split[:, step * STATES:(step + 1) * STATES]
            errors.append((x - true).norm(dim=-1).mean())
        return {"error": torch.stack(errors).mean(), "volume": self.volume(model, split[:8, :STATES])}

    def volume(self, model, windows):
        """The mean of |log |det J|| of the map of a window."""
        with torch.enable_grad():
            jacobians = [torch.autograd.functional.jacobian(model, x[None]).reshape(3 * STATES, -1) for x in windows]
        return torch.stack([torch.linalg.slogdet(j.double())[1].abs() for j in jacobians]).mean()


if __name__ == "__main__":
    main(RigidBody())
