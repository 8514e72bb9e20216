"""Writes an ontology in OBO like the Gene Ontology: three roots, terms with one to four parents by is_a,
some with part_of, and obsolete ones.

    gene_ontology.py FILE.obo [TERMS]     # 40000 terms
"""
import random
import sys


def write(path, terms=40000, seed=1):
    """Returns the number of edges by is_a and by part_of, and that of terms that are not obsolete."""
    rng = random.Random(seed)
    roots = ["biological_process", "molecular_function", "cellular_component"]
    share = [0.65, 0.25, 0.10]
    below = {root: [i] for i, root in enumerate(roots)}  # The terms of each root, in order.
    depth = [0] * len(roots)
    is_a = part_of = live = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("format-version: 1.2\nontology: go-like\n")
        for i in range(terms):
            obsolete = i >= len(roots) and rng.random() < 0.08
            root = roots[i] if i < len(roots) else rng.choices(roots, share)[0]
            file.write(f"\n[Term]\nid: GO:{i:07d}\nname: {root if i < 3 else f'term {i} of {root}'}\n"
                       f"namespace: {root}\ndef: \"Term, {i}: made.\" [GOC:test]\n")
            if obsolete:
                file.write("is_obsolete: true\n")
                depth.append(0)
                continue
            live += 1
            if i < len(roots):
                continue
            own = below[root]
            # Parents of about the same depth, as siblings of siblings have them.
            first = rng.choice(own)
            parents = {first}
            for _ in range(rng.choices([0, 1, 2, 3], [0.6, 0.28, 0.09, 0.03])[0]):
                other = rng.choice(own)
                if abs(depth[other] - depth[first]) <= 1:
                    parents.add(other)
            for parent in sorted(parents):
                file.write(f"is_a: GO:{parent:07d} ! parent\n")
                is_a += 1
            if rng.random() < 0.15:
                other = rng.choice(own)
                if other not in parents:
                    file.write(f"relationship: part_of GO:{other:07d} ! whole\n")
                    part_of += 1
            depth.append(1 + max(depth[parent] for parent in parents))
            own.append(i)
        file.write("\n[Typedef]\nid: part_of\nname: part of\nis_transitive: true\n")
    return is_a, part_of, live


if __name__ == "__main__":
    print(write(sys.argv[1], *map(int, sys.argv[2:])))
