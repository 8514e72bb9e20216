"""The tasks of resources/studies/tasks. Needs the installed package, PyTorch and SciPy; a task whose data are
not there (scikit-learn, the program bible) is left out."""
import importlib
import json
import math
import pathlib
import shutil
import statistics
import sys
import tempfile
import unittest
from unittest import mock

try:
    import scipy.stats
    import torch
except ImportError as why:
    print(f"skipped: {why}")
    raise SystemExit(0)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "resources/studies/tasks"))
sys.dont_write_bytecode = True

import trainer  # noqa: E402

torch.set_num_threads(1)
TASKS = {"contexts": "Contexts", "digits": "Digits", "language": "Language", "length": "Length", "links": "Links",
         "listops": "ListOps", "rigid_body": "RigidBody", "translation": "Translation"}
SMALL = {"count": 60, "nodes": 30, "trials": 2, "seeds": 2}


class Guess(trainer.Task):
    """A task without data, whose measure is what the model has learnt: 3 minus a distance."""
    name, title, text, operators, rates = "guess", "Guess", "A number.", ("dot", "umbral"), (1e-3, 1e-1)
    sizes = {"steps": 40, "width": 4, "heads": 1}

    def data(self, sizes, seed):
        x = torch.randn(8, 4, 4)
        return {"train": (x, x), "validation": x, "test": x}

    def batch(self, data, sizes):
        return data["train"][0]

    def model(self, data, attend, sizes):
        model = trainer.Block(attend(), 4)
        model.loss = lambda x: (model(x) - 2 * x).square().mean()
        return model

    def score(self, model, split, sizes):
        return 3 - model.loss(split)


class Diverges(Guess):
    """The same with losses that are not finite from the sixth step on."""
    begun = 0

    def batch(self, data, sizes):
        self.begun += 1
        return super().batch(data, sizes) * (math.nan if self.begun > 5 else 1)


class Tasks(unittest.TestCase):
    def test_a_training_that_diverges_ends_there(self):
        task = Diverges()
        found = trainer.run(task, task.sizes, "umbral", 4, 1e-2, seed=1, steps=40, split="test")
        self.assertEqual(task.begun, 6)
        self.assertTrue(math.isfinite(found[task.measure]), found)

    def test_every_task_trains_under_every_operator(self):
        for name, task_name in TASKS.items():
            needs = {"digits": "sklearn", "length": "bible", "language": "bible", "contexts": "bible"}.get(name)
            if needs == "bible" and not shutil.which("bible"):
                continue
            if needs == "sklearn" and importlib.util.find_spec("sklearn") is None:
                continue
            task = getattr(importlib.import_module(name), task_name)()
            sizes = {**task.sizes, **task.quick}
            sizes.update({key: value for key, value in SMALL.items() if key in sizes}, steps=2)
            for operator in (*task.operators, "none"):
                with self.subTest(task=name, operator=operator):
                    found = trainer.run(task, sizes, operator, task.dims[0], 1e-3, 1, 2, "test")
                    self.assertIn(task.measure, found)
                    self.assertTrue(all(abs(x) < 1e4 for x in found.values()), found)

    def test_the_rate_is_chosen_on_validation_and_seeds_are_fresh(self):
        with tempfile.TemporaryDirectory() as folder:
            task, sizes = Guess(), {**Guess.sizes, "trials": 3, "seeds": 2}
            runs = trainer.Runs(task, sizes, folder)
            rows = trainer.table(task, sizes, runs)
            kept = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")]
            tried = [one for one in kept if one["split"] == "validation" and one["operator"] == "dot"]
            best = max(tried, key=lambda one: one["found"]["accuracy"])["rate"]
            self.assertEqual(sorted(one["rate"] for one in tried), sorted(trainer.halton(3, 1e-3, 1e-1)))
            reported = [one for one in kept if one["split"] == "test" and one["operator"] == "dot"]
            self.assertEqual({one["rate"] for one in reported}, {best})
            self.assertEqual({one["seed"] for one in reported}, {1, 2})
            self.assertEqual({one["steps"] for one in reported}, {40, 4}, "and a tenth of the steps")
            whole = [one["found"]["accuracy"] for one in reported if one["steps"] == 40]
            self.assertIn(f"{statistics.mean(whole):.2f}"[:4], rows[1][2])
            self.assertEqual([row[0] for row in rows[1:]], ["dot", "umbral", "none", "a tenth of the steps"])
            times = {path: path.stat().st_mtime_ns for path in pathlib.Path(folder).iterdir()}
            trainer.table(task, sizes, trainer.Runs(task, sizes, folder))
            self.assertEqual({path: path.stat().st_mtime_ns for path in pathlib.Path(folder).iterdir()}, times)
            more = {**sizes, "seeds": 3}
            trainer.table(task, more, trainer.Runs(task, more, folder))
            self.assertEqual(len([*pathlib.Path(folder).iterdir()]), len(times) + 4, "one seed more of each row")

    def test_what_is_the_same_everywhere_runs_once_and_a_rate_may_be_chosen_at_the_first(self):
        class Wide(Guess):
            dims, same_everywhere, tuned_at_first = (2, 4), ("none", "umbral"), True

        with tempfile.TemporaryDirectory() as folder:
            task, sizes = Wide(), {**Wide.sizes, "trials": 2, "seeds": 2}
            trainer.table(task, sizes, trainer.Runs(task, sizes, folder))
            kept = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")]
        self.assertEqual({one["d"] for one in kept if one["operator"] != "dot"}, {2})
        tried = [one for one in kept if one["split"] == "validation"]
        self.assertEqual({one["d"] for one in tried}, {2})
        self.assertEqual({one["d"] for one in kept if one["operator"] == "dot"}, {2, 4})

    def test_the_kinds_whose_steps_are_timed_compute_what_they_are_named_after(self):
        cost = importlib.import_module("step_cost")
        attention, x, found = cost.Mixed("dot", 8, 2, 4, "causal"), torch.randn(3, 6, 8), {}
        for kind in cost.KINDS:
            with mock.patch.object(cost.Mixed, "kind", kind):
                found[kind] = attention(x)
        torch.testing.assert_close(found["dot"], found["sdpa"])
        for kind in ("penumbral", "umbral"):
            self.assertGreater((found[kind] - found["sdpa"]).abs().max(), 1e-3, kind)
        with mock.patch.object(cost, "ROUNDS", 2):
            milliseconds, ratios = cost.ratios(8, 2, 6, 3)
        self.assertEqual(len(ratios), len(cost.KINDS) - 1)
        self.assertGreater(min(milliseconds, *ratios), 0)

    def test_links_are_tested_on_pairs_that_training_has_not_seen(self):
        data = importlib.import_module("links").Links().data({"nodes": 60}, 1)
        pairs = {name: {tuple(sorted(pair)) for part in split[:2] for pair in part.tolist()}
                 for name, split in data.items()}
        self.assertFalse(pairs["test"] & (pairs["train"] | pairs["validation"]))
        self.assertFalse(pairs["validation"] & pairs["train"])

    def test_links_are_measured_by_their_order_and_by_their_sign(self):
        edges, others = torch.tensor([[0, 1], [0, 2]]), torch.tensor([[1, 2], [2, 3]])
        candidates = ~torch.eye(4, dtype=torch.bool)
        logit = torch.tensor([[0, 3, -1, -2], [3, 0, 1, -3], [-1, 1, 0, -4], [-2, -3, -4, 0.]])
        found = importlib.import_module("links").Links().score(
            lambda: logit, (edges, others, candidates), {})
        self.assertAlmostEqual(found["AUC"].item(), 3 / 4)  # 3 and -1 against 1 and -4.
        self.assertAlmostEqual(found["F1"].item(), 2 / 4)  # One found of two; one of the others, too.
        # Node 0 ranks 1, 2 first; node 1 ranks 0 first; node 2 ranks 1 before 0.
        self.assertAlmostEqual(found["MAP"].item(), (1 + 1 + 1 / 2) / 3)

    def test_listops_keeps_what_it_is_tested_on_out_of_training(self):
        task = importlib.import_module("listops").ListOps()
        data = task.data({**task.sizes, "count": 2000, "depth": 3}, 1)
        texts = {name: {tuple(row.tolist()) for row in data[name][0]} for name in ("train", "validation", "test")}
        for name, (tokens, lengths, values, depths) in data.items():
            self.assertEqual(len(texts[name]), len(tokens), name)
            self.assertTrue(torch.equal((tokens != 0).sum(1), lengths), name)
            self.assertEqual((set(values.tolist()), set(depths.tolist())), (set(range(10)), {1, 2, 3}), name)
        self.assertFalse(texts["train"] & (texts["validation"] | texts["test"]))
        self.assertGreater(len(texts["test"]), 300)

    def test_intervals_are_students(self):
        self.assertEqual(trainer.mean_and_interval([1.0, 2.0, 3.0]), "2.00 ± 2.48")
        self.assertEqual(trainer.holm({"a": .01, "b": .04, "c": .03}), {"a": .03, "c": .06, "b": .06})


if __name__ == "__main__":
    unittest.main()
