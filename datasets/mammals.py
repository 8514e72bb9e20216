#!/usr/bin/env python3
"""Writes datasets/mammals.txt: the mammals of WordNet 3.0, from Debian's package wordnet-base.

    python3 datasets/mammals.py /usr/share/wordnet > datasets/mammals.txt

A line is a synset, named by its first word and the number of that word's sense. It is a child of the
nearest line above it that is indented less; further parents follow its name. A synset comes where it
is first reached in depth-first order, with children in the order of their offsets.
"""
import collections
import sys

ROOT = "mammal.n.01"
HEADER = """\
# The mammals of WordNet 3.0: synsets below mammal.n.01 by hypernyms, without instances.
# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. The licence is
# datasets/licenses/WordNet-3.0.txt. Made by datasets/mammals.py.
"""


def records(folder, name):
    with open(f"{folder}/{name}", encoding="latin-1") as lines:
        return [line.split("|")[0].split() for line in lines if not line.startswith(" ")]


def main(folder):
    sense = {}
    for fields in records(folder, "index.noun"):
        for number, offset in enumerate(fields[-int(fields[2]):], 1):
            sense[fields[0], offset] = number
    names, parents, children = {}, {}, collections.defaultdict(list)
    for fields in records(folder, "data.noun"):
        offset, word, end = fields[0], fields[4].lower(), 4 + 2 * int(fields[3], 16)
        names[offset] = f"{word}.n.{sense[word, offset]:02d}"
        pointers = [fields[end + 1 + 4 * i:end + 5 + 4 * i] for i in range(int(fields[end]))]
        parents[offset] = [p[1] for p in pointers if p[0] == "@"]
        for parent in parents[offset]:
            children[parent].append(offset)
    root = next(offset for offset, name in names.items() if name == ROOT)
    above, order, stack = {}, [], [(root, None, 0)]
    while stack:
        offset, parent, depth = stack.pop()
        if offset in above:
            continue
        above[offset] = parent
        order.append((offset, depth))
        stack.extend((c, offset, depth + 1) for c in sorted(children[offset], reverse=True))
    print(HEADER, end="")
    for offset, depth in order:
        more = [names[p] for p in parents[offset] if p in above and p != above[offset]]
        print(" " * depth + " ".join([names[offset], *(more if offset != root else [])]))


if __name__ == "__main__":
    main(*sys.argv[1:])
