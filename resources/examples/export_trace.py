"""Writes queries, keys and values of a Hugging Face model to a file that Conelab reads.

    pip install torch transformers h5py
    python export_trace.py "Living things: animals, plants." trace.h5
    conelab attend trace.h5:/layer3 -o out.h5 --similarity penumbral --keep weights

Works for encoders whose attention has the linear layers `query`, `key` and `value` (BERT, RoBERTa,
MiniLM, ...). Each layer becomes a group with q, k, v [head, token, d] and the tokens' texts.
"""
import argparse

import h5py
import torch
from transformers import AutoModel, AutoTokenizer


def record(model, inputs):
    """Runs the model once; returns {layer: {"q" | "k" | "v": [token, head * d]}}."""
    recorded, hooks = {}, []
    layers = [m for m in model.modules() if all(hasattr(m, n) for n in ("query", "key", "value"))]
    for index, layer in enumerate(layers):
        for short, name in (("q", "query"), ("k", "key"), ("v", "value")):
            def keep(_module, _inputs, output, index=index, short=short):
                recorded.setdefault(index, {})[short] = output[0].detach()
            hooks.append(getattr(layer, name).register_forward_hook(keep))
    with torch.no_grad():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    return recorded


def split_heads(flat, heads):
    """[token, head * d] -> [head, token, d]"""
    tokens, width = flat.shape
    return flat.reshape(tokens, heads, width // heads).transpose(0, 1).contiguous()


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("text")
    options.add_argument("output")
    options.add_argument("--model", default="sentence-transformers/all-MiniLM-L6-v2")
    args = options.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModel.from_pretrained(args.model).eval()
    inputs = tokenizer(args.text, return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    trace = record(model, inputs)
    if not trace:
        raise SystemExit(f"{args.model}: no attention with layers query, key and value found")

    with h5py.File(args.output, "w") as file:
        file.attrs["model"] = args.model
        file.attrs["text"] = args.text
        for index, tensors in trace.items():
            group = file.create_group(f"layer{index}")
            group.attrs["layer"] = index
            for name, flat in tensors.items():
                group[name] = split_heads(flat, model.config.num_attention_heads).float().numpy()
            group.create_dataset("token", data=tokens, dtype=h5py.string_dtype("utf-8"))


if __name__ == "__main__":
    main()
