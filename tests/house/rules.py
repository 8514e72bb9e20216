"""House rules that no compiler checks: who includes whom, sizes, layout, paths.

Run from anywhere: `python3 tests/house/rules.py`. Prints one line per breach, exits 1 on any.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Which folders a folder may include.
MAY_INCLUDE = {
    "core": {"core"},
    "gpu": {"core", "gpu"},
    "datasets": {"core", "datasets"},
    "widgets": {"core", "widgets"},
    "app": {"core", "gpu", "datasets", "widgets", "app"},
    "tests": {"core", "gpu", "datasets", "widgets", "app", "tests"},
}
# Which folders of core a folder of core may include: the rows of this file.
CORE_ROWS = "core/CMakeLists.txt"
# Libraries that stay out of a folder.
FOREIGN = {
    "core": r"^(Q[A-Z]|Qt|imgui|CLI/|cuda)",
    "gpu": r"^(Q[A-Z]|Qt|imgui|nlohmann|CLI/|toml)",
    "datasets": r"^(Q[A-Z]|Qt|imgui|CLI/|cuda)",
    "widgets": r"^(CLI/|cuda|nlohmann)",
}
LONGEST_FILE = 600
# An absolute path of somebody's machine has no place in the sources.
PERSONAL_PATH = re.compile(r"(?<![\w.$}/-])/(home|root|Users|work|mnt|opt)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
CODE = {".h", ".cpp", ".cu", ".cuh"}
TEMPLATE = ".in"  # Sources that the build fills in.


def tracked_files():
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"],
        capture_output=True, text=True)
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:  # An archive without git.
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
    return sorted(n for n in names if not n.startswith("build") and (ROOT / n).is_file())


def text_of(name):
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def our_file(name, kind, target):
    """The file of ours that an include means, by its path from the root; None for a library's."""
    beside = [(ROOT / name).parent / target] if kind == '"' else []
    for place in (*beside, ROOT / target):
        found = pathlib.Path(os.path.normpath(place))
        if found.is_file() and found.is_relative_to(ROOT):
            return found.relative_to(ROOT).as_posix()
    return None


def include_breaches(name, text):
    """Both kinds of includes find ours and a library's files alike, so both are held to both rules."""
    folder = name.split("/")[0]
    for kind, target in INCLUDE.findall(text):
        ours = our_file(name, kind, target)
        if ours is not None:
            if ours.split("/")[0] not in MAY_INCLUDE[folder]:
                yield f"{name}: {folder} may not include {ours}"
            if kind == "<" or ours != target:
                yield f'{name}: include "{ours}" in quotes and by its path from the root'
        elif kind == '"' and target.split("/")[0] in MAY_INCLUDE:
            yield f"{name}: {target} does not exist"
        elif folder in FOREIGN and re.match(FOREIGN[folder], target):
            yield f"{name}: {folder} may not use {target}"


def core_rows():
    """Folder of core -> folders that it may include; and the exceptions, as pairs."""
    text = (ROOT / CORE_ROWS).read_text()
    calls = re.findall(r"^conelab_(folder|may_include)\(([a-z ]+)\)", text, re.M)
    rows = {words.split()[0]: set(words.split()[1:]) for kind, words in calls if kind == "folder"}
    exceptions = {(folder, other) for kind, words in calls if kind == "may_include"
                  for folder, *others in [words.split()] for other in others}
    return rows, exceptions


def core_breaches(graph):
    """Of `graph`, file -> files that it includes: what the rows of core forbid or lack."""
    rows, exceptions = core_rows()
    seen = {}
    for name, targets in graph.items():
        for target in targets:
            pair = tuple(p.split("/")[1] for p in (name, target))
            if name.startswith("core/") and target.startswith("core/") and pair[0] != pair[1]:
                seen.setdefault(pair, f"{name} includes {target}")
    folders = {n.split("/")[1] for n in graph if n.startswith("core/") and n.count("/") > 1}
    for folder in sorted(folders - set(rows)):
        yield f"{CORE_ROWS}: no row for the folder core/{folder}"
    for (folder, other), where in sorted(seen.items()):
        if other not in rows.get(folder, ()) and (folder, other) not in exceptions:
            yield f"{where}: {folder} may not include {other} ({CORE_ROWS})"
    for folder, other in sorted(exceptions - set(seen)):
        yield f"{CORE_ROWS}: {folder} includes nothing of {other} any more; delete the exception"
    yield from cycles({folder: sorted(others | {o for f, o in exceptions if f == folder})
                       for folder, others in rows.items()})


def folder_graph(graph):
    """Folder -> other folders whose files its files include."""
    folders = {}
    for name, targets in graph.items():
        folder = str(pathlib.PurePath(name).parent)
        others = {str(pathlib.PurePath(t).parent) for t in targets} - {folder}
        folders.setdefault(folder, set()).update(others)
    return {folder: sorted(others) for folder, others in folders.items()}


def cycles(graph):
    done, path = set(), []

    def visit(node):
        if node in path:
            yield "include cycle: " + " -> ".join(path[path.index(node):] + [node])
            return
        if node in done:
            return
        path.append(node)
        for target in graph.get(node, ()):
            yield from visit(target)
        path.pop()
        done.add(node)

    for node in graph:
        yield from visit(node)


def header_breaches(name, text):
    if not text.startswith("//"):
        yield f"{name}: a header opens with a comment that says what it is for"
    if "#pragma once" not in text:
        yield f"{name}: #pragma once is missing"


def breaches():
    graph = {}
    names = tracked_files()
    if not names:
        yield f"no files of the project are found under {ROOT}"
    for name in names:
        path = pathlib.PurePath(name)
        text = text_of(name)
        if text is None:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if PERSONAL_PATH.search(line):
                yield f"{name}:{number}: an absolute path of one machine"
        if path.suffix in CODE | {".py", ".sh", ".cmake"}:
            lines = text.count("\n")
            if lines > LONGEST_FILE:
                yield f"{name}: {lines} lines (at most {LONGEST_FILE})"
        kind = pathlib.PurePath(name.removesuffix(TEMPLATE)).suffix
        if kind in CODE and name.split("/")[0] in MAY_INCLUDE:
            yield from include_breaches(name, text)
            graph[name] = [t for _, t in INCLUDE.findall(text) if (ROOT / t).is_file()]
            if kind in {".h", ".cuh"}:
                yield from header_breaches(name, text)
    yield from cycles(graph)
    yield from cycles(folder_graph(graph))
    yield from core_breaches(graph)


def main():
    found = list(breaches())
    for line in found:
        print(line)
    print(f"house rules: {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
