from typing import Any

__all__ = ["register"]

def register(threads: int = 0, **parameters: Any) -> None: ...
