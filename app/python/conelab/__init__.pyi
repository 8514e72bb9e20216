from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import torch as torch
from . import tracing as tracing
from . import transformers as transformers
from .tracing import trace as trace

__version__: str
__all__ = ["Attended", "Figure", "Hierarchy", "attend", "attention", "figure", "hierarchy", "lca", "operators",
           "read", "trace", "weights", "write"]

_Array: TypeAlias = NDArray[Any]
_Path: TypeAlias = str | PathLike[str]

class Attended:  # What was not kept is None, which a caller who names it in `keep` need not ask about.
    output: _Array
    lse: _Array | Any
    weights: _Array | Any
    logits: _Array | Any
    gradients: dict[str, _Array] | Any
    evaluation: str

class Hierarchy:
    names: list[str]
    edge: NDArray[np.int64]
    depth: NDArray[np.int64]

class Figure:
    def save(self, path: _Path) -> None: ...
    def _repr_svg_(self) -> str: ...

def attention(q: _Array, k: _Array | None = None, v: _Array | None = None, *, similarity: str | None = None,
              operator: str | None = None, mask: Any = None, lengths: ArrayLike | None = None,
              threads: int = 0, **parameters: Any) -> _Array: ...
def attend(q: _Array, k: _Array | None = None, v: _Array | None = None, *, similarity: str | None = None,
           operator: str | None = None, mask: Any = None, lengths: ArrayLike | None = None,
           keep: str | Iterable[str] = ("output", "lse"), output_grad: _Array | None = None,
           threads: int = 0, **parameters: Any) -> Attended: ...
def weights(q: _Array, k: _Array | None = None, *, similarity: str | None = None,
            operator: str | None = None, mask: Any = None, lengths: ArrayLike | None = None,
            lse: ArrayLike | None = None, rows: slice | None = None, cols: slice | None = None,
            logits: bool = False, threads: int = 0, **parameters: Any) -> _Array: ...
def lca(cone: str, u: Sequence[float] | NDArray[np.floating[Any]], v: Sequence[float] | NDArray[np.floating[Any]],
        *, model: str = "", **parameters: Any) -> dict[str, Any]: ...
def operators() -> list[dict[str, Any]]: ...
def figure(name: str, inputs: _Path | Mapping[str, Any] | Sequence[_Path | Mapping[str, Any]] = (), *,
           width: str = "", **parameters: Any) -> Figure: ...
def hierarchy(edges: Any, path: _Path | None = None) -> Hierarchy: ...
def read(spec: _Path) -> dict[str, Any]: ...
def write(path: _Path, layers: Mapping[str, Mapping[str, Any]], *, tokens: Sequence[str] = (),
          model: str = "", text: str = "") -> None: ...
