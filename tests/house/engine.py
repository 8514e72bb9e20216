"""Runs a program that links the engine alone, and checks what libraries it needs.

`python3 tests/house/engine.py PROGRAM`. Skipped where `ldd` is not to be had."""
import re
import subprocess
import sys

FORBIDDEN = re.compile(r"lib(hdf5|harfbuzz|freetype|png|zip|Qt)", re.I)


def main(program):
    try:
        listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    except OSError:
        print("SKIPPED: no ldd here")
        return 77
    needed = [line.strip() for line in listing.splitlines() if FORBIDDEN.search(line)]
    for line in needed:
        print(f"the engine needs {line}")
    ran = subprocess.run([program]).returncode
    print(f"engine: {len(needed)} libraries too many, exit status {ran}")
    return 1 if needed or ran else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
