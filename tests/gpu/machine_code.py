"""What the compiler made of the fast kernels: warpgroup products, bulk copies, registers exchanged,
nothing spilled, and how many instructions a pair of tokens takes. machine_code.py CUOBJDUMP
OBJECT...; needs no GPU."""
import os
import pathlib
import re
import subprocess
import sys

# Of every fast kernel's machine code.
WANTED = {"HGMMA": "warpgroup products", "UBLKCP": "bulk copies", "USETMAXREG": "registers exchanged",
          "SYNCS": "barriers in shared memory", "MUFU.EX2": "exponentials of the special-function unit"}
UNWANTED = {"LDL": "a read of local memory", "STL": "a write to local memory"}

# Instructions for a pair between the products, at 64 numbers, with nothing masked and no pair close:
# forward, backward. A multiprocessor starts four a clock, each for 32 pairs: so many bound the speed
# of a cone from above, long before the special-function unit does.
MOST_FOR_A_PAIR = {"Dot": (11, 11), "Laplacian": (15, 27), "Umbral": (20, 50), "Penumbral": (30, 72)}
PASSES = {"forward": 64, "gradient": 32}  # Pairs of a thread between products.

# Of every thread: launch_registers() of gpu/hopper/layout.h, for a block of three warpgroups.
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
    """Along the way from the products of one tile to the next, every branch ahead taken: those are
    the ways past what is rare. The longest such way is the loop's."""
    instructions = listing(code)
    index = {address: i for i, (address, _) in enumerate(instructions)}
    products = [i for i, (_, text) in enumerate(instructions) if "HGMMA" in text]
    longest = 0
    for start, after in zip(products, products[1:]):
        i, count = start + 1, 0
        while i < after and "HGMMA" not in instructions[i][1]:
            address, text = instructions[i]
            count += 1
            branch = re.match(r"(?:@!?U?P\w+ +)?BRA .*?0x([0-9a-f]+)", text)
            ahead = branch and int(branch.group(1), 16) > address
            i = index[int(branch.group(1), 16)] if ahead else i + 1
        longest = max(longest, count)
    return longest


def breaches(tool, path):
    found = 0
    for name, code in functions(run(tool, "-sass", path)).items():
        if "fast_" not in name:
            continue
        found += 1
        for similarity, limits in MOST_FOR_A_PAIR.items():
            for (kind, pairs), most in zip(PASSES.items(), limits):
                if not re.search(rf"fast_{kind}.*{len(similarity)}{similarity}E.*Li64E", name):
                    continue
                took = instructions_of_a_tile(code) / pairs
                print(f"{similarity:<10} {kind:<9} {took:5.1f} instructions for a pair")
                if took > most:
                    yield f"{name}: {took:.1f} instructions for a pair (at most {most})"
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
    if not tool or not pathlib.Path(tool).is_file():
        print("SKIPPED: no cuobjdump")
        return 77
    found = [line for path in objects for line in (*spills(path), *breaches(tool, path))]
    print("\n".join(found))
    print(f"{len(objects)} objects, {len(found)} breaches")
    return 1 if found or not objects else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
