"""What the compiler made of the fast kernels: warpgroup products, bulk copies, registers exchanged,
nothing spilled, and how many instructions a pair of tokens takes. machine_code.py CUOBJDUMP
OBJECT..., all objects of the fast path together; needs no GPU. Without a cuobjdump only what ptxas said
is read."""
import itertools
import os
import pathlib
import re
import subprocess
import sys

# Of every fast kernel's machine code.
WANTED = {"HGMMA": "warpgroup products", "UBLKCP": "bulk copies", "USETMAXREG": "registers exchanged",
          "SYNCS": "barriers in shared memory", "MUFU.EX2": "exponentials of the special-function unit"}
UNWANTED = {"LDL": "a read of local memory", "STL": "a write to local memory", "CALL": "a call"}

# Instructions for a pair in the whole loop over tiles, at 64 numbers, with nothing masked, no pair
# close and no output rescaled: forward, and backward in both kernels together, by the laws of
# gpu/hopper/layout.h. A multiprocessor starts four a clock, each for 32 pairs: so many bound the speed of
# a cone from above, long before the special-function unit does. The sums of dL/dlogit by offset count
# where there is a bias; sigmoid weights without one do not need them.
LAWS = ("softmax", "biased", "sigmoid")
MOST_FOR_A_PAIR = {"Dot": ((7.2, 20), (8.7, 26), (8.8, 27)),
                   "Laplacian": ((12, 42), (13.5, 47), (13.7, 47.5)),
                   "Umbral": ((15, 64), (17, 71), (17.4, 72)),
                   "Penumbral": ((25, 100), (27.2, 107), (27.7, 108))}
PAIRS_OF_A_TILE = {"forward": 64, "gradient": 32}  # Of a thread.
# The kernels that must be there, whose instructions are counted at 64 numbers: their pass, similarity and
# width, whose tokens a block of the backward pass owns, and their law.
NAME = re.compile(rf"fast_(forward|gradient)I\w*?\d({'|'.join(MOST_FOR_A_PAIR)})E\w*4Bf16ELi(64|128)E"
                  r"(?:\w*5OwnerE(\d)E)?\w*3LawE(\d)E")
OWNERS = ["0", "1"]
PRODUCTS_OF_A_TILE = 12  # Instructions, at least.

# Every thread has so many: launch_registers of gpu/hopper/layout.h, for a block of three warpgroups.
LAUNCHED_WITH = 168


def run(tool, *arguments):
    environment = dict(os.environ, PATH=f"{pathlib.Path(tool).parent}:{os.environ['PATH']}")
    result = subprocess.run([tool, *arguments], capture_output=True, text=True, env=environment)
    if result.returncode:
        raise SystemExit(f"{tool}: {result.stderr.strip()}")
    return result.stdout


def functions(text):
    """Name -> machine code."""
    parts = re.split(r"^\s*Function : (\S+)", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def listing(code):
    """[(address, instruction)]"""
    return [(int(a, 16), text) for a, text in
            re.findall(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?);", code, flags=re.M)]


def instructions_of_a_tile(code):
    """The instructions of the shortest way through the loop over tiles that passes all of its products.
    It leaves out what a tile needs at times only: masks, close pairs, which are computed again, and
    forward the rescaling of the output, which most tiles do not need. A tile that needs one of them
    takes more."""
    instructions = listing(code)
    index = {address: i for i, (address, _) in enumerate(instructions)}
    product = ["HGMMA" in text for _, text in instructions]
    branches = {}
    for i, (_, text) in enumerate(instructions):
        branch = re.match(r"(@!?U?P\w+ +)?BRA\S* .*?0x([0-9a-f]+)", text)
        if branch:
            branches[i] = (index[int(branch[2], 16)], branch[1] is None)
    loops = [(sum(product[to:i]), length_of_loop(to, i, branches, product))
             for i, (to, _) in branches.items() if to < i]
    return min(length for products, length in loops if length and products >= PRODUCTS_OF_A_TILE)


def length_of_loop(first, last, branches, product):
    """The instructions of the shortest way from `first` to the branch `last`; None without a way that
    passes all products between them."""
    ways = {first: 1}
    for i in range(first, last):
        if i not in ways:
            continue
        to, always = branches.get(i, (i, False))
        nexts = ([] if always else [i + 1]) + ([to] if i < to <= last and not any(product[i:to]) else [])
        for j in nexts:
            ways[j] = min(ways.get(j, ways[i] + 1), ways[i] + 1)
    return ways.get(last)


def breaches(tool, path, took):
    """What is wrong with an object's kernels. Appends (owner, instructions for a pair) of each of them to
    `took` under its similarity, width, law and pass."""
    found = 0
    for name, code in functions(run(tool, "-sass", path)).items():
        if "fast_" not in name:
            continue
        found += 1
        if kernel := NAME.search(name):
            kind, similarity, width, owner, law = kernel.groups()
            count = instructions_of_a_tile(code) / PAIRS_OF_A_TILE[kind] if width == "64" else None
            took.setdefault((similarity, width, int(law), kind), []).append((owner, count))
        words = re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", code, flags=re.M)
        for word, what in WANTED.items():
            if not any(w.startswith(word) for w in words):
                yield f"{name}: no {word} ({what})"
        # The type's name is spliced into the instruction; f16 is what machine code leaves unsaid.
        if any(w.endswith(".BF16") != ("Bf16" in name) for w in re.findall(r"HGMMA\S*", code)):
            yield f"{name}: a product of the other type"
        for word, what in UNWANTED.items():
            if any(w.split(".")[0] == word for w in words):
                yield f"{name}: {word} ({what})"
    if not found:
        yield f"{path}: no fast kernel in it"


def miscounts(took):
    """What is wrong with the counts of all objects: every similarity, width, law and pass must be among
    them, forward in one variant or more, of which the worst counts, backward in one kernel for each
    owner."""
    for key in itertools.product(MOST_FOR_A_PAIR, ("64", "128"), range(len(LAWS)), PAIRS_OF_A_TILE):
        similarity, width, law, kind = key
        about = f"{similarity:<10} {LAWS[law]:<8} {kind:<9}"
        kernels = took.get(key, [])
        if not kernels or kind == "gradient" and sorted(str(owner) for owner, _ in kernels) != OWNERS:
            wanted = "one" if kind == "forward" else "one for each owner"
            yield f"{about} {width} numbers: {len(kernels)} kernels, not {wanted}"
        if not kernels or width != "64":
            continue
        counts = [count for _, count in kernels]
        count = sum(counts) if kind == "gradient" else max(counts)
        print(f"{about} {count:5.1f} instructions for a pair ({', '.join(f'{c:.1f}' for c in counts)})")
        most = MOST_FOR_A_PAIR[similarity][law][kind == "gradient"]
        if count > most:
            yield f"{about} {count:.1f} instructions for a pair (at most {most})"


# A kernel in what ptxas -v says, then its stack, and its registers.
KERNEL = re.compile(r"Compiling entry function '(\S+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def spills(path):
    """What ptxas -v said of an object's kernels: gpu/hopper/keep_ptxas.sh keeps it. Advice, such as
    products that it makes wait for each other, or registers that it does not exchange, is a breach."""
    messages = pathlib.Path(f"{path}.ptxas")
    if not messages.is_file():
        yield f"{messages} is missing: what ptxas said of {path} was not kept"
        return
    name, seen = "", 0
    for line in messages.read_text().splitlines():
        name = (KERNEL.search(line) or [None, name])[1]
        stack = STACK.search(line)
        if "fast_" in name and stack:
            seen += 1
            if any(map(int, stack.groups())):
                yield f"{name}: {stack[0]}"
        if "fast_" in name and (registers := REGISTERS.search(line)) and int(registers[1]) != LAUNCHED_WITH:
            yield f"{name}: {registers[1]} registers at launch, not {LAUNCHED_WITH}"
        if re.search(r"\(C\d+\)", line):
            yield f"{path}: {line}"
    if not seen:
        yield f"{messages}: no fast kernel in it"


def main(tool, objects):
    found, took = [line for path in objects for line in spills(path)], {}
    counts = bool(tool) and pathlib.Path(tool).is_file()
    if counts:
        found += [line for path in objects for line in breaches(tool, path, took)]
        found += miscounts(took)
    print("\n".join(found))
    print(f"{len(objects)} objects, {len(found)} breaches")
    if found or not objects:
        return 1
    if not counts:
        print("SKIPPED: no cuobjdump: spills and registers are right, instructions were not looked at")
    return 0 if counts else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
