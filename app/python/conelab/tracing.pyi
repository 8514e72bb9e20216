from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

__all__ = ["trace"]

def trace(model: Any, inputs: Mapping[str, Any], path: str | PathLike[str], tokenizer: Any = None,
          layers: Iterable[int | str] | int | str | None = None, text: str = "",
          strict: bool = True) -> Any: ...
