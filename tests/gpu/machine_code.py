"""What the compiler made of the fast kernels: warpgroup products, bulk copies, registers exchanged,
nothing spilled. machine_code.py CUOBJDUMP OBJECT...; needs no GPU."""
import os
import pathlib
import re
import subprocess
import sys

# Of every fast kernel's machine code.
WANTED = {"HGMMA": "warpgroup products", "UBLKCP": "bulk copies", "USETMAXREG": "registers exchanged",
          "SYNCS": "barriers in shared memory", "MUFU.EX2": "exponentials of the special-function unit"}
UNWANTED = {"LDL": "a read of local memory", "STL": "a write to local memory"}

# Stack in bytes that is accepted, by name: the keys' gradient at 128 numbers holds 192 accumulators of
# its 240 registers, and three consumers are a candidate for tuning only.
ACCEPTED = {r"fast_gradient.*Li128ELNS0_5OwnerE1": 128, r"fast_forward.*Li64ELi3E": 64}


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


def breaches(tool, path):
    found = 0
    for name, code in functions(run(tool, "-sass", path)).items():
        if "fast_" not in name:
            continue
        found += 1
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
