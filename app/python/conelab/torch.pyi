from typing import Any, Literal, overload

from torch import Tensor
from torch.distributed import ProcessGroup

from .layers import Attention as Attention
from .layers import MultiheadAttention as MultiheadAttention

__all__ = ["Attention", "MultiheadAttention", "attention"]

@overload
def attention(q: Tensor, k: Tensor | None = None, v: Tensor | None = None, *, similarity: str | None = None,
              operator: str | None = None, mask: Any = None, lengths: Any = None, dropout_p: float = 0.0,
              is_causal: bool = False, enable_gqa: bool = True, threads: int = 0,
              group: ProcessGroup | None = None, return_lse: Literal[False] = False, **parameters: Any) -> Tensor: ...
@overload
def attention(q: Tensor, k: Tensor | None = None, v: Tensor | None = None, *, similarity: str | None = None,
              operator: str | None = None, mask: Any = None, lengths: Any = None, dropout_p: float = 0.0,
              is_causal: bool = False, enable_gqa: bool = True, threads: int = 0,
              group: ProcessGroup | None = None, return_lse: Literal[True], **parameters: Any) -> tuple[Tensor, Tensor]: ...
@overload
def attention(q: Tensor, k: Tensor | None = None, v: Tensor | None = None, *, similarity: str | None = None,
              operator: str | None = None, mask: Any = None, lengths: Any = None, dropout_p: float = 0.0,
              is_causal: bool = False, enable_gqa: bool = True, threads: int = 0,
              group: ProcessGroup | None = None, return_lse: bool, **parameters: Any) -> Tensor | tuple[Tensor, Tensor]: ...
