"""Conelab beside PyTorch in one run, in one command; needs a Python that has torch.

    python3 tests/peers/run.py -o peers            # the whole table, hours
    python3 tests/peers/run.py -o peers --quick    # d = 64 up to n = 4096, about ten minutes

Writes peers/lengths.h5 (d = 64, all lengths), peers/dims.h5 (d = 32, 64, 128 at one length) and
peers/heads.h5 (eight heads), results as of `conelab bench`, with their ratios as text and, for the
first, as a figure. Goes on where it was interrupted. Conelab itself is found in build/bin, or by
--conelab.
"""
import argparse
import importlib.util
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OURS = "dot,laplacian,penumbral,umbral"
FUSED = "torch_sdpa"
WRITTEN = "torch_penumbral,torch_penumbral_compiled"
ALL = "--rounds", "9", "--passes", "forward,forward+backward", "--warm-only"

#: Name of the file, and the sweep: everything that stands beside each other shares its rounds.
WHOLE = {
    "lengths": ("--operators", f"{OURS},{FUSED},{WRITTEN}", "--lengths", "1024..16384:x2",
                "--dims", "64", "--heads", "1", "--threads", "1,2"),
    "dims": ("--operators", f"{OURS},{FUSED},{WRITTEN}", "--lengths", "4096", "--dims", "32,64,128",
             "--heads", "1", "--threads", "1,2"),
    "heads": ("--operators", f"{OURS},{FUSED}", "--lengths", "2048", "--dims", "64", "--heads", "8",
              "--threads", "1,2"),
}
QUICK = {
    "lengths": ("--operators", f"{OURS},{FUSED},torch_penumbral_compiled", "--lengths", "1024..4096:x2",
                "--dims", "64", "--heads", "1", "--threads", "1,2"),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="folder of the results")
    parser.add_argument("--quick", action="store_true", help="the short table")
    parser.add_argument("--conelab", default=HERE.parents[1] / "build/bin/conelab", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = arguments()
    if importlib.util.find_spec("torch") is None:
        sys.exit(f"run.py: needs PyTorch, which {sys.executable} does not have")
    options.output.mkdir(parents=True, exist_ok=True)
    peer = f"{sys.executable} {HERE / 'worker.py'}"
    for name, sweep in (QUICK if options.quick else WHOLE).items():
        result = options.output / f"{name}.h5"
        subprocess.run([options.conelab, "bench", "-o", result, "--peer", peer, "--resume", *sweep, *ALL],
                       check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([options.conelab, "compare", result, "--base", FUSED], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        (options.output / f"{name}.txt").write_text(text)
        print(text)
        for shown in ("forward", "forward+backward") if name == "lengths" else ():
            subprocess.run([options.conelab, "figure", "ratio", "--input", result, "-p", f"pass={shown}",
                            "-p", f"operators={FUSED},{OURS}", "-o", options.output / f"ratio_{shown}.svg"],
                           check=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:  # Conelab has said why.
        sys.exit(error.returncode)
    except KeyboardInterrupt:
        sys.exit(130)
