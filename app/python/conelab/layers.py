"""Attention of conelab as layers of PyTorch: conelab.torch.Attention and MultiheadAttention.

    layer = conelab.torch.MultiheadAttention(64, 4, batch_first=True, similarity="penumbral", trained=["gamma"])
    out, weights = layer(x, x, x, key_padding_mask=padding)

Both are ordinary modules: state_dict, deepcopy, pickle and `.to(dtype)` work, and what is trained is a
parameter like any other.
"""
from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from . import _conelab


@functools.lru_cache(maxsize=None)
def _defaults(name: str) -> Mapping[str, float | None]:
    """The scalar parameters of an operator with their defaults; None: it depends on the input."""
    rows = {row["name"]: row for row in json.loads(_conelab.rows("operators"))}
    if name not in rows:
        raise ValueError(f"unknown operator '{name}' (known: {', '.join(rows)})")
    return {p["key"]: p.get("default") if isinstance(p.get("default"), (int, float)) else None
            for p in rows[name]["parameters"] if "shape" not in p}


class Attention(nn.Module):
    """The attention of queries to keys, with the parameters of its operator.

    `parameters` are keywords as of conelab.torch.attention: numbers, words, or tensors (W=...). A
    torch.nn.Parameter among them is trained, another tensor is a buffer. `trained` names scalar
    parameters (["gamma"]) that become parameters of the layer, one number, or one for each of `heads`;
    they begin with what is given for them, else with the operator's default.
    """

    def __init__(self, similarity: str = "penumbral", *, heads: int | None = None,
                 trained: Iterable[str] = (), **parameters: Any) -> None:
        super().__init__()
        self.similarity = similarity
        self.constants: dict[str, Any] = {}
        for key in trained:
            defaults = _defaults(similarity)
            if key not in defaults:
                raise ValueError(f"{similarity} has no number '{key}' that could be trained "
                                 f"(known: {', '.join(defaults)})")
            initial = parameters.pop(key, defaults[key])
            if initial is None:
                raise ValueError(f"'{key}' depends on the input: give the number that it begins with")
            numbers = torch.as_tensor(initial, dtype=torch.get_default_dtype())
            if heads is not None:
                numbers = numbers.expand(heads)
            self.register_parameter(key, nn.Parameter(numbers.clone()))
        for key, value in parameters.items():
            if isinstance(value, nn.Parameter):
                self.register_parameter(key, value)
            elif isinstance(value, Tensor):
                self.register_buffer(key, value)
            else:
                self.constants[key] = value

    def own_parameters(self) -> dict[str, Any]:
        """The keywords of the layer's calls: constants, trained numbers and tensors."""
        return {**self.constants, **dict(self.named_parameters(recurse=False)),
                **dict(self.named_buffers(recurse=False))}

    def forward(self, q: Tensor, k: Tensor | None = None, v: Tensor | None = None,
                **keywords: Any) -> Any:
        """The output [.., head, n_q, d_v] for q, k, v [.., head, n, d]; with `return_lse` also the
        log-sum-exp of each row. Keywords are those of conelab.torch.attention: mask, lengths, bias,
        dropout_p, is_causal, return_lse, ..."""
        from .torch import attention
        return attention(q, k, v, similarity=self.similarity, **self.own_parameters(), **keywords)

    def extra_repr(self) -> str:
        words = [repr(self.similarity)] + [f"{key}={value!r}" for key, value in self.constants.items()]
        trained = [key for key, _ in self.named_parameters(recurse=False)]
        return ", ".join(words + ([f"trained={trained}"] if trained else []))


class MultiheadAttention(nn.MultiheadAttention):
    """torch.nn.MultiheadAttention with another similarity: the same arguments, projections, names in
    state_dict, and results, of which those for similarity="dot" are equal.

    `similarity`, `trained` and `parameters` are those of Attention; trained numbers are one for each
    head. Weights that are returned have neither a gradient nor dropout. A query that sees no key gets
    zeros, where PyTorch has NaN.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: Any = None,
                 dtype: Any = None, *, similarity: str = "penumbral", trained: Iterable[str] = (),
                 **parameters: Any) -> None:
        super().__init__(embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim,
                         batch_first, device, dtype)
        self.attention = Attention(similarity, heads=num_heads, trained=trained,
                                   **parameters).to(device=device, dtype=dtype)
        # PyTorch's encoder layers would compute the dot product themselves if they read True here.
        self._has_one_projection, self._qkv_same_embed_dim = self._qkv_same_embed_dim, False

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """Queries, keys and values [batch, n, embed_dim] behind their projections."""
        if self._has_one_projection:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (functional.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
        if self.bias_k is not None and self.bias_v is not None:
            k = torch.cat([k, self.bias_k.expand(len(k), 1, -1)], 1)
            v = torch.cat([v, self.bias_v.expand(len(v), 1, -1)], 1)
        if self.add_zero_attn:
            k, v = (torch.cat([x, x.new_zeros(len(x), 1, x.shape[2])], 1) for x in (k, v))
        return [q, k, v]

    def _masks(self, attn_mask: Tensor | None, padding: Tensor | None, added: int) -> dict[str, Tensor]:
        """PyTorch's masks as conelab's: `mask` of bool, True where a query sees a key, and `bias`, the sum
        of masks of numbers. `added` keys behind the given ones are seen by all."""
        found: dict[str, Tensor] = {}
        for mask in (attn_mask, None if padding is None else padding[:, None, None, :]):
            if mask is None:
                continue
            if mask.dim() == 3:  # [batch * head, n_q, n_k]
                mask = mask.unflatten(0, (-1, self.num_heads))
            if mask.dtype == torch.bool:
                found["mask"] = found["mask"] & ~mask if "mask" in found else ~mask
            else:
                found["bias"] = found["bias"] + mask if "bias" in found else mask
        return {name: functional.pad(x, (0, added), value=float(name == "mask")) if added else x
                for name, x in found.items()}

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None,
                average_attn_weights: bool = True, is_causal: bool = False
                ) -> tuple[Tensor, Tensor | None]:
        """The output, of query's shape, and the weights [batch, n_q, n_k], or of each head without
        `average_attn_weights`, if they are needed. As in PyTorch, True in a bool mask hides a key. With
        `is_causal`, attn_mask is taken for the causal mask that it must be."""
        if need_weights and query.is_cuda:
            raise NotImplementedError("weights are computed on the CPU only: need_weights=False")
        batched = query.dim() == 3
        inputs = [query, key, value]
        if not batched:
            inputs = [x[None] for x in inputs]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif not self.batch_first:
            inputs = [x.transpose(0, 1) for x in inputs]
        q, k, v = (x.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for x in self._projected(*inputs))
        added = k.shape[2] - inputs[1].shape[1]
        causal = is_causal and not added
        if is_causal and added and attn_mask is None:
            attn_mask = torch.ones(q.shape[2], inputs[1].shape[1], dtype=torch.bool).triu(1)
        call: dict[str, Any] = self._masks(None if causal else attn_mask, key_padding_mask, added)
        if causal:
            call["mask"] = ["causal", *([call["mask"]] if "mask" in call else [])]
        output, lse = self.attention(q, k, v, return_lse=True, dropout_p=self.dropout if self.training else 0.0,
                                     **call)
        out = self.out_proj(output.transpose(1, 2).flatten(2))
        weights = self._weights(q, k, call, lse, average_attn_weights) if need_weights else None
        if not batched:
            return out[0], None if weights is None else weights[0]
        return (out if self.batch_first else out.transpose(0, 1)), weights

    @torch.no_grad()
    def _weights(self, q: Tensor, k: Tensor, call: dict[str, Any], lse: Tensor, average: bool) -> Tensor:
        """The weights [batch, head, n_q, n_k] of a call whose log-sum-exp is known, or their mean over
        heads."""
        from . import weights as weights_of
        numbers = torch.float32 if q.dtype == torch.bfloat16 else q.dtype  # NumPy has no bfloat16.

        def array(x: Any) -> Any:
            if isinstance(x, list):
                return [array(each) for each in x]
            if not isinstance(x, Tensor):
                return x
            return x.detach().to(numbers if x.is_floating_point() else x.dtype).numpy()

        keywords = {key: array(x) for key, x in {**self.attention.own_parameters(), **call}.items()}
        found = torch.from_numpy(weights_of(array(q), array(k), similarity=self.attention.similarity,
                                            lse=array(lse), **keywords)).to(q.dtype)
        return found.mean(1) if average else found
