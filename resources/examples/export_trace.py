"""Writes queries, keys and values of a Hugging Face model to a file that Conelab opens.

    pip install . torch transformers
    python resources/examples/export_trace.py "Living things: animals, plants." trace.h5
    conelab attend trace.h5:/layer3 -o out.h5 --similarity penumbral --keep weights
"""
import sys

import conelab
from transformers import AutoModel, AutoTokenizer

model, tokenizer = (Auto.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")
                    for Auto in (AutoModel, AutoTokenizer))
conelab.trace(model, tokenizer(sys.argv[1], return_tensors="pt"), sys.argv[2], tokenizer)
