"""Writes queries, keys and values of a Hugging Face model to a file that Conelab opens.

    pip install . torch transformers
    python resources/examples/export_trace.py sentence-transformers/all-MiniLM-L6-v2 "Animals: dogs." trace.h5
    conelab attend trace.h5:/layer3 -o out.h5 --similarity penumbral --keep weights
"""
import sys, conelab, transformers
model, tokens = (Auto.from_pretrained(sys.argv[1]) for Auto in (transformers.AutoModel, transformers.AutoTokenizer))
conelab.trace(model, tokens(sys.argv[2], return_tensors="pt"), sys.argv[3], tokens)
