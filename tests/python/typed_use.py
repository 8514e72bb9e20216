"""Uses of the module that mypy and pyright accept in strict mode; wheel_test.py asks mypy."""
import numpy as np
from numpy.typing import NDArray

import conelab


def heads(q: NDArray[np.float32]) -> NDArray[np.float32]:
    out: NDArray[np.float32] = conelab.attention(q, similarity="penumbral", gamma=2.0, mask="causal")
    kept = conelab.attend(q, keep=("output", "weights"), similarity="umbral", evaluation="pairs", soft_cap=5.0,
                          sinks=np.zeros(2, np.float32), bias=np.zeros((3, 3)), dropout_p=0.1, dropout_seed=3)
    names: list[str] = conelab.hierarchy([("cat", "animal")]).names
    print(names, kept.evaluation)
    out += kept.weights.sum()
    tile = conelab.weights(q, rows=slice(0, 2), lse=kept.lse)
    conelab.write("trace.h5", {"layer0": {"q": q}}, tokens=["a"])
    conelab.figure("heatmap", [{"q": q}]).save("maps.svg")
    depth: float = conelab.lca("penumbral", (0.1, 0.5), np.array([0.3, 0.4]), height=1.0)["depth"]
    out *= depth * float(tile.sum()) * conelab.hierarchy([("oak", "tree")]).depth[0]
    conelab.trace(None, {}, "model.h5", layers="layer0", strict=False)
    return out
