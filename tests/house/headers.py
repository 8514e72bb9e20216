"""Compiles every header alone: a header that needs another one included first is an error.

`python3 tests/house/headers.py BUILD_DIR`. Takes compiler and flags of each folder from BUILD_DIR's
compile_commands.json, checks syntax only, two at a time, and remembers what passed by the content
of everything a header includes, so that only changed headers are compiled again. A header that
stands first in a source of the build, with nothing compiled before it, has passed there.

What headers include of libraries is compiled once, before all headers of equal flags. That a header
itself includes what it names of the standard library (STANDARD) and of fmt is looked up in its
text.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "gpu", "datasets", "widgets", "app")
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)', re.M)
# Names of std, and a header that must then be included.
STANDARD = {"array": "array", "atomic": "atomic", "function": "functional",
            "initializer_list": "initializer_list", "int64_t": "cstdint", "lock_guard": "mutex",
            "map": "map", "mutex": "mutex", "optional": "optional", "set": "set",
            "shared_ptr": "memory", "span": "span", "string": "string",
            "string_view": "string_view", "thread": "thread", "tuple": "tuple",
            "uint8_t": "cstdint", "unique_lock": "mutex", "unique_ptr": "memory",
            "variant": "variant", "vector": "vector"}


def compilations(build):
    """Of every compiled source its path in the tree, or that of its folder's target where several
    sources are compiled as one, and its command."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        words = shlex.split(entry["command"])
        if build in source.parents and source.parent.name == "Unity":
            top, _, target, *_ = source.relative_to(build).parts
            folder = pathlib.PurePath(top) / target.removeprefix("conelab_").removesuffix(".dir")
            yield (folder if (ROOT / folder).is_dir() else pathlib.PurePath(top)) / source.name, words
        elif ROOT in source.parents and build not in source.parents and source.suffix == ".cpp":
            yield source.relative_to(ROOT), words


def all_flags(build):
    """Directory -> compiler and flags of its source with the most flags (kernels need theirs)."""
    flags = {}
    for source, command in compilations(build):
        directory = str(source.parent)
        words = clean(command)
        if len(words) > len(flags.get(directory, [])):
            flags[directory] = words
    return flags


def flags_for(header, flags):
    """Those of the header's directory, else of any directory of its folder; None if not built."""
    directory = str(pathlib.PurePath(header).parent)
    folder = header.split("/")[0]
    near = [d for d in sorted(flags) if d == folder or d.startswith(folder + "/")]
    return flags.get(directory) or (flags[near[0]] if near else None)


def passed_in_the_build(build):
    """Headers that stand first in a source without a precompiled header."""
    headers = set()
    for source, command in compilations(build):
        if "-include" in command or not (ROOT / source).is_file():
            continue
        first = re.search(r"^#include (.*)$", (ROOT / source).read_text(), re.MULTILINE)
        headers.add(first.group(1).strip('"') if first else None)
    return headers


def clean(words):
    while words and not words[0].rsplit("/", 1)[-1].startswith(("c++", "g++", "clang++")):
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT", "-include"):
            skip = word != "-c"
        elif word not in ("-MD", "-Winvalid-pch") and not word.endswith((".cpp", ".cxx", ".pch", ".gch")):
            kept.append(word)
    return kept


def fingerprint(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.encode())
        digest.update(pathlib.Path(path).read_bytes())
    return digest.hexdigest()


class Memory:
    """Which headers passed, with which inputs."""

    def __init__(self, build):
        self.path = build / "headers_checked.json"
        try:
            self.rows = json.loads(self.path.read_text())
        except (OSError, ValueError):
            self.rows = {}

    def knows(self, header, command):
        row = self.rows.get(header)
        try:
            return bool(row) and row["command"] == command and row["hash"] == fingerprint(row["inputs"])
        except OSError:
            return False

    def save(self):
        self.path.write_text(json.dumps(self.rows))


def local_inputs(make_rule):
    words = make_rule.replace("\\\n", " ").split(":", 1)[1].split()
    paths = {str(pathlib.Path(w).resolve()) for w in words}
    return sorted(p for p in paths if p.startswith(str(ROOT) + os.sep))


def includes(header, seen):
    """What a header includes of libraries, also through others of ours."""
    found = set()
    if header not in seen and (ROOT / header).is_file():
        seen.add(header)
        for kind, target in INCLUDE.findall((ROOT / header).read_text()):
            found |= {target} if kind == "<" else includes(target, seen)
    return found


def missing(header):
    """Names of std and of fmt that a header uses without including what declares them."""
    text = re.sub(r"//.*", "", (ROOT / header).read_text())
    named = {n for n in re.findall(r"\bstd::(\w+)", text) if n in STANDARD}
    present = includes(header, set())
    breaches = [f"std::{n} without <{STANDARD[n]}>" for n in sorted(named) if STANDARD[n] not in present]
    if re.search(r"\bfmt::", text) and not any(name.startswith("fmt/") for name in present):
        breaches.append("fmt:: without <fmt/...>")
    return breaches


def precompiled(flags, headers, folder):
    """The flags that include what these headers do of libraries, compiled once; none where it does
    not compile."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "libraries.h"
    names = {t for h in headers for kind, t in INCLUDE.findall((ROOT / h).read_text()) if kind == "<"}
    source.write_text("".join(f"#include <{name}>\n" for name in sorted(names)))
    run = subprocess.run(flags + ["-w", "-x", "c++-header", str(source), "-o", f"{source}.gch"],
                         capture_output=True, cwd=ROOT)
    return ["-include", str(source)] if run.returncode == 0 else []


def all_precompiled(todo, headers, folder, pool):
    """Header -> flags that include its libraries, for headers of which many have equal flags."""
    groups = {}
    for name in todo:
        groups.setdefault(tuple(headers[name]), []).append(name)
    many = [(list(flags), names, folder / str(i))
            for i, (flags, names) in enumerate(groups.items()) if len(names) > 3]
    made = pool.map(lambda group: precompiled(*group), many)
    return {name: libraries for (_, names, _), libraries in zip(many, made) for name in names}


def check(header, flags):
    names = missing(header)
    if names:
        return False, "", "\n".join(names)
    command = flags + ["-w", "-fsyntax-only", "-x", "c++", "-MMD", "-MF", "/dev/stdout", "-MT", "x",
                       "-include", str(ROOT / header), "/dev/null"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return run.returncode == 0, run.stdout, run.stderr


def main(build):
    flags = all_flags(build)
    memory = Memory(build)
    headers = {name: flags_for(name, flags) for f in FOLDERS for p in sorted((ROOT / f).rglob("*.h"))
               for name in [str(p.relative_to(ROOT))]}
    headers = {name: command for name, command in headers.items() if command}
    passed = passed_in_the_build(build)
    todo = [name for name, command in headers.items()
            if name not in passed and not memory.knows(name, command)]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        libraries = all_precompiled(todo, headers, build / "headers", pool)
        results = pool.map(lambda name: check(name, headers[name] + libraries.get(name, [])),
                           todo)
        for name, (passed, rule, message) in zip(todo, results):
            if passed:
                inputs = local_inputs(rule)
                memory.rows[name] = {"command": headers[name], "inputs": inputs,
                                     "hash": fingerprint(inputs)}
            else:
                failures += 1
                print(f"{name} does not compile alone:\n{message}")
    memory.save()
    print(f"headers: {len(headers)}, compiled {len(todo)}, failures {failures}")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
