"""Checks that clang-format would change nothing. `python3 tests/house/format.py CLANG_FORMAT VERSION`.

Skipped where that version is not to be had."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "gpu", "datasets", "widgets", "app", "tests")


def has_version(clang_format, version):
    try:
        said = subprocess.run([clang_format, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return False
    return f"version {version}." in said


def main(clang_format, version):
    if not has_version(clang_format, version):
        print(f"SKIPPED: no {clang_format} of version {version} here")
        return 77
    files = sorted(str(p) for f in FOLDERS for s in ("*.h", "*.cpp", "*.cu", "*.cuh")
                   for p in (ROOT / f).rglob(s))
    share = (len(files) + 7) // 8
    parts = [files[i:i + share] for i in range(0, len(files), share)]
    runs = [subprocess.Popen([clang_format, "--dry-run", "-Werror", *part], stderr=subprocess.PIPE,
                             text=True) for part in parts]
    wrong = set()
    for run in runs:
        for line in run.communicate()[1].splitlines():
            if "clang-format-violations" in line or "error:" in line:
                wrong.add(line.split(":")[0])
    for name in sorted(wrong):
        print(f"{os.path.relpath(name, ROOT)}: not formatted (./dev format)")
    print(f"format: {len(files)} files, {len(wrong)} to format")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
