"""No symbol of a SIMD target's objects is also another object's: of two copies the linker keeps
either, and one that was compiled for AVX-512 would be called on machines without it.

`python3 tests/house/symbols.py BUILD_DIR`; needs nm. Prints one line per breach, exits 1 on any.
"""
import pathlib
import re
import shutil
import subprocess
import sys

# Data that is the same whatever the compiler's flags.
HARMLESS = {"DW.ref.__gxx_personality_v0"}


def symbols_of(objects):
    listing = subprocess.run(["nm", "--defined-only", "--extern-only", "--format=posix", *objects],
                             capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^(\S+) [A-Zuvw] ", listing, re.M)
    return set(found) - HARMLESS


def main(build):
    if shutil.which("nm") is None:
        print("skipped: no nm")
        return 77
    parts = {}
    for o in build.glob("**/CMakeFiles/*.dir/**/*.o"):
        target = next(part for part in o.relative_to(build).parts if part.endswith(".dir"))
        parts.setdefault(target, []).append(str(o))
    targets = sorted(name for name in parts if name.startswith("conelab_simd_"))
    if not targets:
        print(f"no objects of SIMD targets under {build}")
        return 1
    symbols = {name: symbols_of(objects) for name, objects in parts.items()}
    breaches = [f"{name}: {symbol} is also in {other}" for name in targets for other in symbols
                if other != name for symbol in sorted(symbols[name] & symbols[other])]
    print("\n".join(breaches + [f"{len(targets)} SIMD targets: {len(breaches)} breaches"]))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
