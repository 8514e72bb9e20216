"""Conelab beside PyTorch in one run, in one command; needs a Python that has torch.

    python3 tests/peers/run.py -o peers            # the whole table, hours
    python3 tests/peers/run.py -o peers --quick    # d = 64 up to n = 4096, about ten minutes

Writes peers/lengths.h5 (d = 64, all lengths), peers/dims.h5 (d = 32, 64, 128 at one length) and
peers/heads.h5 (eight heads), results as of `conelab bench`, with their ratios to
scaled_dot_product_attention as text and, for the first, as figures: one for each pass and number of
threads. --quick writes peers/lengths.h5 alone, up to n = 4096, and has the formulas compiled only.
Goes on where it was interrupted. Conelab itself is found in build/bin, or by --conelab.
"""
import argparse
import importlib.util
import itertools
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OURS = "dot,laplacian,penumbral,umbral"
FUSED = "torch_sdpa"
WRITTEN = "torch_penumbral,torch_penumbral_compiled"
PASSES = "forward", "forward+backward"
THREADS = "1", "2"
ALL = ("--passes", ",".join(PASSES), "--threads", ",".join(THREADS), "--warm-only")
ROUNDS = "--rounds", "9"

#: Name of the file, and the sweep: everything that stands beside each other shares its rounds.
WHOLE = {
    "lengths": ("--operators", f"{OURS},{FUSED},{WRITTEN}", "--lengths", "1024..16384:x2",
                "--dims", "64", "--heads", "1"),
    "dims": ("--operators", f"{OURS},{FUSED},{WRITTEN}", "--lengths", "4096", "--dims", "32,64,128",
             "--heads", "1"),
    "heads": ("--operators", f"{OURS},{FUSED}", "--lengths", "2048", "--dims", "64", "--heads", "8"),
}
QUICK = {
    "lengths": ("--operators", f"{OURS},{FUSED},torch_penumbral_compiled", "--lengths", "1024..4096:x2",
                "--dims", "64", "--heads", "1"),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="folder of the results")
    parser.add_argument("--quick", action="store_true", help="the short table")
    parser.add_argument("--conelab", default=HERE.parents[1] / "build/bin/conelab", type=pathlib.Path)
    return parser.parse_args()


def make_folder(path):
    """Not its parents: a mistyped path should not become folders."""
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        sys.exit(f"run.py: {path}: cannot be created: {error.strerror}")


def draw_ratios(conelab, result):
    """Over the base of the table: a figure's is the first operator that it is told to show."""
    for shown, threads in itertools.product(PASSES, THREADS):
        subprocess.run([conelab, "figure", "ratio", "--input", result, "-p", f"pass={shown}", "-p",
                        f"threads={threads}", "-p", f"operators={FUSED},{OURS}", "-o",
                        result.parent / f"ratio_{shown}_{threads}.svg"], check=True)


def main():
    options = arguments()
    if importlib.util.find_spec("torch") is None:
        sys.exit(f"run.py: needs PyTorch, which {sys.executable} does not have")
    make_folder(options.output)
    peer = f"{sys.executable} {HERE / 'worker.py'}"
    for name, sweep in (QUICK if options.quick else WHOLE).items():
        result = options.output / f"{name}.h5"
        subprocess.run([options.conelab, "bench", "-o", result, "--peer", peer, "--resume", *sweep, *ALL,
                        *ROUNDS],
                       check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([options.conelab, "compare", result, "--base", FUSED], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        (options.output / f"{name}.txt").write_text(text)
        print(text)
        if name == "lengths":
            draw_ratios(options.conelab, result)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:  # Conelab has said why.
        sys.exit(error.returncode)
    except KeyboardInterrupt:
        sys.exit(130)
