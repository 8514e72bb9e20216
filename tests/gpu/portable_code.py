"""How many instructions a pair of tokens takes in the portable kernels, at 64 numbers, with nothing masked
and no pair close. portable_code.py CUOBJDUMP OBJECT...; needs no GPU.

The loops over products lie in loops over chunks of steps (gpu/tile/product.h), and these in the loop over
tiles. The counted way is the shortest one through the loop over tiles that passes the chunks of a kind of
tokens and reads their numbers 16 bytes at a time."""
import heapq
import pathlib
import re
import sys

from machine_code import functions, listing, run

# A tile has 64 x 64 pairs and 128 threads.
PAIRS_OF_A_THREAD = 32
# A loop over products passes a chunk's steps in so many trips.
TRIPS = 4

# The chunks of a way: which loop over products, by its place in the kernel; how many chunks there are of 64
# numbers; how often a thread reads memory for one. Products of queries and keys come first, in loops for
# floats, for 16-bit columns, bf16 and f16; then those of gradients and values; then the sums of weighted
# tokens, in loops for floats and 16 bits.
WAYS = {"forward": ("ForwardTile", "0", {"bf16": [(2, 1, 8), (5, 2, 2)], "f32": [(0, 2, 8), (4, 2, 4)]}),
        "dq": ("GradientTile", "0", {"bf16": [(2, 1, 8), (5, 2, 6), (7, 2, 2)],
                                     "f32": [(0, 2, 8), (4, 2, 8), (6, 2, 4)]}),
        "dk": ("GradientTile", "1", {"bf16": [(2, 1, 8), (4, 2, 6), (6, 2, 2)],
                                     "f32": [(0, 2, 8), (4, 2, 8), (5, 2, 4)]}),
        "dv": ("GradientTile", "1", {"bf16": [(2, 1, 8), (5, 2, 4)], "f32": [(0, 2, 8), (5, 2, 4)]})}

# Instructions of a pair at most, of bf16 and f32.
MOST_FOR_A_PAIR = {
    "Dot": {"forward": (53, 98), "dq": (74, 132), "dk": (87, 131), "dv": (64, 92)},
    "Laplacian": {"forward": (71, 117)}, "Umbral": {"forward": (79, 125)}, "Penumbral": {"forward": (91, 135)}}


class Code:
    """A kernel's instructions and its loops, each from the target of a branch backwards to that branch."""

    def __init__(self, code):
        instructions = listing(code)
        index = {address: i for i, (address, _) in enumerate(instructions)}
        self.text = [text for _, text in instructions]
        self.branches = {}
        for i, text in enumerate(self.text):
            branch = re.match(r"(@!?U?P\w+ +)?BRA\S* .*?0x([0-9a-f]+)", text)
            if branch:
                self.branches[i] = (index[int(branch[2], 16)], branch[1] is None)
        # A jump by a table goes to one of the places that nothing else leads to.
        targets = {to for to, _ in self.branches.values()}
        self.of_tables = [i + 1 for i, (_, always) in self.branches.items() if always and i + 1 not in targets]
        self.loops = [(to, i) for i, (to, _) in self.branches.items() if to <= i]
        with_products = [l for l in self.loops if any("HMMA" in t for t in self.text[l[0]:l[1]])]
        self.products = sorted(l for l in with_products
                               if not any(self.within(m, l) for m in with_products))

    @staticmethod
    def within(loop, other):
        return loop != other and other[0] <= loop[0] and loop[1] <= other[1]

    def around(self, loops):
        """The smallest loop around all of these."""
        return min((l for l in self.loops if all(self.within(m, l) for m in loops)), key=lambda l: l[1] - l[0])

    def shortest(self, loop, parts, reads):
        """The instructions of the shortest way through a loop that passes all of its parts, loops whose
        instructions are known: {loop: count}. It passes no other loop over products, and so many
        instructions that read 16 bytes of memory."""
        known = {first: (last, count) for (first, last), count in parts.items()}
        others = [l for l in self.products
                  if l != loop and not any(l == p or self.within(l, p) for p in parts)]
        # Dijkstra's algorithm; a place is an instruction, with the parts and reads on the way to it.
        all_parts = (1 << len(known)) - 1
        bits = {first: 1 << n for n, first in enumerate(known)}
        ways, done = [(0, loop[0], 0, 0)], set()
        while ways:
            count, i, passed, read = heapq.heappop(ways)
            if i == loop[1] + 1 and (passed, read) == (all_parts, reads):
                return count
            if (i, passed, read) in done or not loop[0] <= i <= loop[1] or any(
                    l[0] <= i <= l[1] for l in others):
                continue
            done.add((i, passed, read))
            if i in known:
                heapq.heappush(ways, (count + known[i][1], known[i][0] + 1, passed | bits[i], read))
                continue
            read = min(reads, read + ("LDG.E.128" in self.text[i]))
            to, always = self.branches.get(i, (i, False))
            if i == loop[1] or not always:
                heapq.heappush(ways, (count + 1, i + 1, passed, read))
            tos = self.of_tables if "BRX" in self.text[i] else [to] if to != i != loop[1] else []
            for to in tos:
                heapq.heappush(ways, (count + 1, to, passed, read))
        raise SystemExit(f"no way through the loop {loop} with {reads} reads")

    def of_a_pair(self, chunks):
        parts = {}
        for place, times, reads in chunks:
            product = self.products[place]
            chunk = self.around([product])
            steps = TRIPS * self.shortest(product, {}, 0)
            parts[chunk] = times * self.shortest(chunk, {product: steps}, reads)
        return self.shortest(self.around(parts), parts, 0) / PAIRS_OF_A_THREAD


def main(tool, objects):
    if not tool or not pathlib.Path(tool).is_file():
        print("SKIPPED: no cuobjdump")
        return 77
    breaches = 0
    for similarity, most in MOST_FOR_A_PAIR.items():
        path = next(p for p in objects if f"portable_{similarity}.cu" in p)
        codes = functions(run(tool, "-arch", "sm_90", "-sass", path))
        for way, limits in most.items():
            tile, owner, kinds = WAYS[way]
            kernel = next(code for name, code in codes.items()
                          if re.search(rf"{tile}INS_\d+{similarity}EfLNS0_5OwnerE{owner}E", name))
            for (kind, chunks), limit in zip(kinds.items(), limits):
                count = Code(kernel).of_a_pair(chunks)
                breaches += count > limit
                print(f"{similarity:<10} {way:<8} {kind:<5} {count:6.1f} instructions for a pair (at most {limit})")
    print(f"{breaches} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
