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

# Stack in bytes that is accepted, by name: at 128 numbers the keys' gradient holds 192 accumulators
# of its 240 registers, and the forward pass of the penumbral cone has too few by a dozen.
ACCEPTED = {r"fast_gradient.*Li128ELNS0_5OwnerE1": 128, r"fast_forward.*Li128E": 64}

# Instructions for a pair between the products, at 64 numbers, with nothing masked and no pair close.
# A multiprocessor starts four a clock, each for 32 pairs: so many bound the speed of a cone from
# above, long before the special-function unit does.
MOST_FOR_A_PAIR = {"Dot": 11, "Laplacian": 15, "Umbral": 20, "Penumbral": 30}
PAIRS_OF_A_THREAD = 64


def accepted(name):
    return max((size for pattern, size in ACCEPTED.items() if re.search(pattern, name)), default=0)


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


def instructions_of_a_pair(code):
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
    return longest / PAIRS_OF_A_THREAD


def breaches(tool, path):
    found = 0
    for name, code in functions(run(tool, "-sass", path)).items():
        if "fast_" not in name:
            continue
        found += 1
        for similarity, most in MOST_FOR_A_PAIR.items():
            if re.search(rf"fast_forward.*{len(similarity)}{similarity}E.*Li64E", name):
                took = instructions_of_a_pair(code)
                print(f"{similarity:<10} {took:5.1f} instructions for a pair ({name[-60:-40]}...)")
                if took > most:
                    yield f"{name}: {took:.1f} instructions for a pair (at most {most})"
        words = re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", code, flags=re.M)
        for word, what in WANTED.items():
            if not any(w.startswith(word) for w in words):
                yield f"{name}: no {word} ({what})"
        for word, what in UNWANTED.items():
            if not accepted(name) and any(w.split(".")[0] == word for w in words):
                yield f"{name}: {word} ({what})"
    if not found:
        yield f"{path}: no fast kernel in it"
    for name, registers, stack in re.findall(r"Function (\S+):\s*\n\s*REG:(\d+) STACK:(\d+)",
                                             run(tool, "-res-usage", path)):
        if "fast_" in name and int(stack) > accepted(name):
            yield f"{name}: {stack} bytes of stack: something was spilled ({registers} registers)"


def main(tool, objects):
    if not tool or not pathlib.Path(tool).is_file():
        print("SKIPPED: no cuobjdump")
        return 77
    found = [line for path in objects for line in breaches(tool, path)]
    print("\n".join(found))
    print(f"{len(objects)} objects, {len(found)} breaches")
    return 1 if found or not objects else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
