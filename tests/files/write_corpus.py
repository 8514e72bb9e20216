#!/usr/bin/env python3
"""Writes one small file of each kind that the program writes, to be kept with the sources.

    write_corpus.py PROGRAM    # into tests/files/corpus/VERSION, e.g. "1.0.0"

`reads.json` in that folder says, for each file, which commands read it. Every release adds a folder;
tests/app/corpus_test.py runs these commands with the program of today; the desktop's test opens the
session. A folder VERSION-COMMIT holds what a commit between two releases wrote. Needs Xvfb.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUDY = """title = "A small study"
seed = 1
[[dataset]]
name = "family"
kind = "tree"
depth = 2
[[train]]
name = "heads"
input = "family"
similarity = ["dot", "penumbral"]
dim = [2]
seeds = [1]
epochs = 20
"""
# "FILE: the words of the command that writes it, without -o"; then what reads it, {} for the file.
RESULTS = [
    ("attend.h5", "attend {dataset_gaussian.h5} -s penumbral -p gamma=1,2 --keep weights,logits,gradients",
     ["figure heatmap -i {}"]),
    ("attend_bf16.h5",
     "attend {dataset_gaussian.h5} -s dot --mask causal --bias alibi --dtype bf16 --keep weights",
     ["figure heatmap -i {}"]),
    ("attend_structured.h5", "attend {dataset_gaussian.h5} --operator star", []),
    ("tree.h5", "tree {dataset_gaussian.h5} -s umbral", ["figure tree -i {}", "figure hasse -i {}"]),
    ("bench.h5", "bench --operators dot,penumbral --lengths 8..64:x2 --dims 4 --heads 1 --rounds 3 --warm-only",
     ["figure scaling -i {}", "compare {} {}"]),
    ("embed.h5", "embed {dataset_tree.h5} -s penumbral -p dim=2 -p epochs=5", ["figure points -i {}"]),
    ("embed_tuned.h5", "embed {dataset_tree.h5} -s umbral -p dim=2 -p epochs=3 -p radius=train --tune 2 --tune-by map",
     ["figure points -i {}"]),
    ("attend_intervals.h5", "attend {embed_tuned.h5:/embedding} -s umbral -p evaluation=intervals", []),
    ("train.h5", "train {dataset_tree.h5} -s dot,umbral --dim 2 --seeds 1..2 -p epochs=20",
     ["attend {}:/umbral/seed2 -s umbral", "figure heatmap -i {}:/dot/seed1"]),
    ("train_snapshots.h5", "train {dataset_tree.h5} -s umbral --dim 2 --seeds 1 -p epochs=20 -p snapshots=3",
     ["figure training -i {}"]),
    ("rank.h5", "rank {dataset_tree.h5} --dims 1..2 --starts 1 --steps 20", []),
]
DATASETS = {
    "tree": "depth=2", "random-tree": "n=12", "hyperbolic-graph": "n=20", "clustered": "n=20 clusters=2",
    "citation": "n=20", "wordnet": "root=canine.n.02", "sentences": "n=3", "listops": "n=3",
    "rigid-body": "length=8 sequences=2",
    "sine-cosine": "length=8 sequences=2", "gaussian": "heads=2 n=6 d=4", "positions": "heads=2 n=6",
    "edges": "path=../../../../resources/examples/animals.csv"}
READS = {
    "tree": ["rank {} --dims 1 --starts 1 --steps 5", "embed {} -s penumbral -p epochs=2"],
    "random-tree": ["train {} -s dot --dim 2 --seeds 1 -p epochs=5"], "wordnet": ["embed {} -s dot -p epochs=2"],
    "gaussian": ["attend {} -s dot", "figure heads -i {}", "tree {} -s umbral"],
    "positions": ["attend {} -s dot --bias alibi"],
    "edges": ["train {} -s dot --dim 2 --seeds 1 -p epochs=5"],
    "hyperbolic-graph": [], "clustered": [], "citation": [], "sentences": [], "listops": [],
    "rigid-body": [], "sine-cosine": []}


def run(program, folder, *words):
    """Runs a command in the folder: results name their inputs as they were typed."""
    done = subprocess.run([program, *map(str, words)], cwd=folder, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def session(program, trace, path):
    """What the desktop stores when it is interrupted."""
    with tempfile.TemporaryDirectory() as home:
        read, write = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1200x24"],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        display = os.fdopen(read).readline().strip()
        window = subprocess.Popen([program, "gui", trace], stderr=subprocess.DEVNULL,
                                  env={**os.environ, "XDG_CONFIG_HOME": home, "DISPLAY": f":{display}"})
        recent = pathlib.Path(home) / "conelab/recent.txt"
        while not (recent.exists() and trace.name in recent.read_text()):
            time.sleep(0.1)
        window.send_signal(signal.SIGINT)
        window.wait()
        server.kill()
        server.wait()
        # The path of the trace is that of a temporary folder.
        text = (recent.parent / "autosave.json").read_text()
        path.write_text(text.replace(str(trace), trace.name))


def main(program):
    version = run(program, ROOT, "--version").split()[1]
    folder = ROOT / "tests/files/corpus" / version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    reads = {}
    for kind, keys in DATASETS.items():
        name = f"dataset_{kind}.h5"
        run(program, folder, "dataset", kind, "-o", name, *(w for key in keys.split() for w in ("-p", key)))
        reads[name] = READS[kind]
    for name, words, readers in RESULTS:
        run(program, folder, *words.replace("{", "").replace("}", "").split(), "-o", name)
        reads[name] = readers
    (folder / "study.toml").write_text(STUDY)
    run(program, folder, "run", "study.toml", "-o", "study")
    reads["study"] = ["report {}"]
    for left in (folder / "embed_tuned.h5.trials", folder / "study/lock"):
        subprocess.run(["rm", "-rf", left], check=True)
    session(program, folder / "dataset_gaussian.h5", folder / "session.json")
    (folder / "reads.json").write_text(json.dumps(reads, indent=1) + "\n")


main(pathlib.Path(sys.argv[1]).resolve())
