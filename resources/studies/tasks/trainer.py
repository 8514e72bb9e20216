"""Compares operators on a task: each is tuned alike on validation data, and reported on test data with fresh
seeds. A task (digits.py, listops.py, ...) says what the data are and what model is trained; this is the
rest: the attention of an operator, the search of the rate, the runs, and the table.

    pip install .[torch] scipy scikit-learn h5py
    python resources/studies/tasks/digits.py -o digits --quick

Every operator gets the same number of rates, the same points of the declared range, the same steps and
seeds; gamma, radius, height, beta and scale are trained. Two floors stand beside: a model without
attention, in which each token sees itself, and the first operator with a tenth of the steps. Each run is a
file of the output folder, so that a command that was interrupted goes on where it stopped.
"""
import argparse
import datetime
import hashlib
import json
import math
import pathlib
import platform
import shutil
import statistics
import subprocess
import tempfile
import time

import conelab
import h5py
import torch
from conelab.torch import attention
from scipy import stats
from torch import nn

SOURCE = pathlib.Path(__file__).resolve().parents[3]
TUNING_SEED = 1000

# [name] The keywords of conelab.torch.attention, and the positive numbers that are trained, one for each
# head, with the values that they begin with.
OPERATORS = {
    "dot": ({}, {}),
    "laplacian": ({}, {"gamma": 1.0}),
    "hyperbolic": ({}, {"beta": 1.0}),
    "penumbral": ({}, {"gamma": 1.0, "height": 1.0}),
    "umbral": ({}, {"gamma": 1.0, "radius": 1.0}),
    "dot+alibi": ({"bias": "alibi"}, {}),
    "dot+hype": ({"bias": "hype"}, {}),
    "dot+rope": ({"position": "rope"}, {}),
    "none": (None, {}),
}


class Attention(nn.Module):
    """Attention of `heads` heads under an operator: [.., n, width] to the same. Queries and keys have `d`
    numbers a head, values width / heads, whatever d is."""

    def __init__(self, operator, width, heads, d, mask=None):
        super().__init__()
        keywords, learnt = OPERATORS[operator]
        self.heads, self.sees_others = heads, keywords is not None
        self.masks = [] if mask is None else [mask]
        self.keywords = dict(keywords or {}, similarity=operator.split("+")[0], threads=1)
        self.query, self.key = (nn.Linear(width, heads * d, bias=False) for _ in range(2))
        self.value, self.join = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.logarithms = nn.ParameterDict(
            {key: nn.Parameter(torch.full((heads,), math.log(value))) for key, value in learnt.items()})

    def forward(self, x, memory=None, lengths=None):
        """Attends to `memory`, or to x itself. `lengths` [batch]: how many keys are no padding."""
        seen = x if memory is None else memory
        if not self.sees_others:
            return self.join(self.value(x))
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(-3, -2)
                   for y in (self.query(x), self.key(seen), self.value(seen)))
        return self.join(self.attend(q, k, v, lengths).transpose(-3, -2).flatten(-2))

    def attend(self, q, k, v, lengths):
        own = {key: value.exp() for key, value in self.logarithms.items()}
        masks = [*self.masks, *(["padding"] if lengths is not None else [])]
        return attention(q, k, v, lengths=lengths, mask=masks or None, **self.keywords, **own)


class Block(nn.Module):
    """Attention, attention to a memory where there is one, and a layer of hidden units, each added to its
    input, which is normalised before."""

    def __init__(self, attend, width, memory=None):
        super().__init__()
        self.attend, self.memory = attend, memory
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, memory=None, lengths=None):
        x = x + self.attend(self.norms[0](x), lengths=None if self.memory else lengths)
        if self.memory is not None:
            x = x + self.memory(self.norms[2](x), memory, lengths)
        return x + self.feed(self.norms[1](x))


class Task:
    """What a task says of itself; a subclass has `name`, `title` and `text` for the table, and the functions
    below. `sizes` are numbers that the command line may change; `quick` are smaller ones."""
    measure, less_is_better = "accuracy", False
    operators, dims = ("dot", "laplacian", "penumbral", "umbral"), (4,)
    axis = "d"  # This names `dims`: numbers of a head's queries and keys, or what `sizes_at` takes.
    same_everywhere = ("none",)  # These operators make the same model at each of `dims`.
    tuned_at_first = False  # If it is True, the rate of the first of `dims` is taken at all of them.
    rates = (3e-4, 3e-2)
    sizes, quick = {}, {}

    def sizes_at(self, d, sizes):
        """The sizes of the model at d, one of `dims`."""
        return sizes

    def attention(self, operator, d, sizes, mask=None):
        """A layer of attention."""
        return Attention(operator, sizes["width"], sizes["heads"], d, mask)

    def data(self, sizes, seed):
        """A dictionary of the splits train, validation and test, and of what else a model needs."""
        raise NotImplementedError

    def model(self, data, attend, sizes):
        """A module with loss(batch); attend(mask=None) makes a layer of attention."""
        raise NotImplementedError

    def batch(self, data, sizes):
        """A batch of data["train"], drawn from PyTorch's generator."""
        rows = torch.randint(len(data["train"][0]), (sizes["batch"],))
        return [x[rows] for x in data["train"]]

    def score(self, model, split, sizes):
        """The measure on a split, or a dictionary of measures whose first is the one that decides."""
        raise NotImplementedError


def parts(count, tenths=(0, 7, 8, 10)):
    """The rows of each split: slices of `count` rows that end at these tenths."""
    ends = [count * tenth // 10 for tenth in tenths]
    return dict(zip(("train", "validation", "test"), map(slice, ends, ends[1:])))


def halton(count, low, high):
    """`count` points of the range on a logarithmic scale; the first ones of a longer search are the same."""
    points = []
    for i in range(1, count + 1):
        place, step = 0.0, 0.5
        while i:
            place, i, step = place + step * (i % 2), i // 2, step / 2
        points.append(low * (high / low) ** place)
    return points


def run(task, sizes, operator, d, rate, seed, steps, split):
    """Trains once. Returns the measures on `split` and the milliseconds of processor of a step."""
    torch.manual_seed(seed)
    sizes = task.sizes_at(d, sizes)
    data = task.data(sizes, seed)
    model = task.model(data, lambda mask=None: task.attention(operator, d, sizes, mask), sizes)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    rise = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (steps - step) / (steps - rise + 1)))
    start = time.process_time()
    for made in range(1, steps + 1):
        loss = model.loss(task.batch(data, sizes))
        optimizer.zero_grad()
        loss.backward()
        if not nn.utils.clip_grad_norm_(model.parameters(), 1.0).isfinite():
            break  # It diverged: the model stays as it was before this step.
        optimizer.step()
        schedule.step()
    taken = 1e3 * (time.process_time() - start) / made
    model.eval()
    with torch.no_grad():
        found = task.score(model, data[split], sizes)
    found = found if isinstance(found, dict) else {task.measure: found}
    return {**{key: float(value) for key, value in found.items()}, "ms": taken}


class Runs:
    """The runs of a task, each kept as a file of a folder."""

    def __init__(self, task, sizes, folder):
        self.task, self.sizes, self.folder = task, sizes, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, operator, d, rate, seed, steps, split="test"):
        if operator in self.task.same_everywhere:
            d = self.task.dims[0]
        case = dict(self.sizes, task=self.task.name, operator=operator, d=d, rate=rate, seed=seed,
                    steps=steps, split=split, version=conelab.__version__)
        del case["trials"], case["seeds"]  # With more of them, those that were run before count.
        name = hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:16]
        path = self.folder / f"{name}.json"
        if not path.exists():
            found = run(self.task, self.sizes, operator, d, rate, seed, steps, split)
            print(f"{operator} {self.task.axis} {d} rate {rate:.3g} seed {seed} steps {steps}: {split} "
                  + " ".join(f"{key} {value:.4g}" for key, value in found.items()), flush=True)
            part = path.with_suffix(".part")
            part.write_text(json.dumps({**case, "found": found}))
            part.replace(path)
        return json.loads(path.read_text())["found"]

    def tuned(self, operator, d):
        """The rate that does best on validation, of those that are tried."""
        if self.task.tuned_at_first:
            d = self.task.dims[0]
        def badness(rate):
            value = self(operator, d, rate, TUNING_SEED, self.sizes["steps"], "validation")[self.task.measure]
            value = value if self.task.less_is_better else -value
            return math.inf if math.isnan(value) else value
        return min(halton(self.sizes["trials"], *self.task.rates), key=badness)


def mean_and_interval(values):
    """The mean, and half the width of its 95 % interval after Student: "0.912 ± 0.004"."""
    if len(values) < 2:
        return f"{values[0]:.3f}"
    half = stats.t.ppf(.975, len(values) - 1) * statistics.stdev(values) / len(values) ** .5
    digits = 3 if half == 0 else max(2, min(6, 1 - math.floor(math.log10(half))))
    return f"{statistics.mean(values):.{digits}f} ± {half:.{digits}f}"


def holm(p):
    """The p values of tests that are made together, corrected after Holm (1979)."""
    found, largest = dict.fromkeys(p, 1.0), 0.0
    for i, key in enumerate(sorted(p, key=p.get)):
        largest = max(largest, min(1.0, (len(p) - i) * p[key]))
        found[key] = largest
    return found


def program_data(*arguments):
    """What `conelab dataset` writes: the open file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "data.h5"
        program = SOURCE / "build/bin/conelab"
        if not program.exists() and not (program := shutil.which("conelab")):
            raise SystemExit("this task needs the program conelab (build it, or install the package conelab)")
        subprocess.run([program, "dataset", *map(str, arguments), "-o", path], check=True, capture_output=True)
        with h5py.File(path) as file:
            found = {}
            file.visititems(lambda name, x: found.update({name: x[:]}) if isinstance(x, h5py.Dataset) else None)
            return found


def table(task, sizes, runs):
    """The rows of the table, of which the first is the head."""
    base = task.operators[0]
    seeds, found, rate = range(1, sizes["seeds"] + 1), {}, {}
    for d in task.dims:
        for operator in (*task.operators, "none"):
            rate[operator, d] = runs.tuned(operator, d)
            found[operator, d] = [runs(operator, d, rate[operator, d], seed, sizes["steps"]) for seed in seeds]
        found["a tenth of the steps", d] = [
            runs(base, d, rate[base, d], seed, max(1, sizes["steps"] // 10)) for seed in seeds]
        rate["a tenth of the steps", d] = rate[base, d]

    def values(key, measure=task.measure):
        return [one[measure] for one in found[key]]

    compared = {}
    for name, d in found:
        if name in task.operators and name != base:
            differences = [a - b for a, b in zip(values((name, d)), values((base, d)))]
            spread = max(differences) - min(differences) > 1e-9  # The test divides by it.
            compared[name, d] = stats.ttest_1samp(differences, 0).pvalue if spread else 1.0
    corrected = holm(compared) if len(seeds) > 1 else {}
    others = [key for key in next(iter(found.values()))[0] if key not in (task.measure, "ms")]
    rows = [("operator", task.axis, task.measure, f"minus that of {base}", "p (Holm)", *others, "rate",
             "ms of processor a step")]
    for key in found:
        differences = [a - b for a, b in zip(values(key), values((base, key[1])))]
        rows.append((key[0], key[1], mean_and_interval(values(key)),
                     mean_and_interval(differences) if key in compared else "",
                     f"{corrected[key]:.2g}" if key in corrected else "",
                     *(mean_and_interval(values(key, other)) for other in others),
                     f"{rate[key]:.2g}", f"{statistics.median(values(key, 'ms')):.1f}"))
    return rows


def main(task):
    """Runs a task as its command line says, and writes FOLDER.md."""
    parser = argparse.ArgumentParser(description=task.title)
    parser.add_argument("-o", "--output", default=task.name, help="folder of the runs; the table is FOLDER.md")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, at most ten minutes")
    sizes = {"trials": 5, "seeds": 5, **task.sizes}
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=type(value), help=f"[{value}]")
    options = vars(parser.parse_args())
    if options["quick"]:
        sizes.update({"trials": 2, "seeds": 2, **task.quick})
    sizes.update({name: options[name] for name in sizes if options[name] is not None})
    torch.set_num_threads(1)
    rows = table(task, sizes, Runs(task, sizes, options["output"]))
    rates = ", ".join(f"{rate:.2g}" for rate in halton(sizes["trials"], *task.rates))
    made = "\n".join((f"# {task.title}", "", *task.text.strip().splitlines(), "",
                      f"Mean ± half the width of the 95 % interval over {sizes['seeds']} seeds; differences are "
                      f"paired by seed. Rates: {rates} (of {task.rates[0]:g} to {task.rates[1]:g}), chosen on "
                      f"validation data with a seed of its own. \"none\": each token sees itself.", "",
                      f"{provenance()}. " + ", ".join(f"{key} {value}" for key, value in sizes.items()) + ".", "",
                      *("| " + " | ".join(map(str, row)) + " |" for row in rows[:1]),
                      "|" + "---|" * len(rows[0]),
                      *("| " + " | ".join(map(str, row)) + " |" for row in rows[1:]), ""))
    print(made)
    pathlib.Path(f"{options['output']}.md").write_text(made)


def provenance():
    """What computed: versions, commit, processor and day."""
    commit = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short", "HEAD"], text=True,
                            capture_output=True).stdout.strip()
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())
    return (f"Conelab {conelab.__version__} ({commit}), PyTorch {torch.__version__}, one thread of {processor}, "
            f"{datetime.date.today()}")
