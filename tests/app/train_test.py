"""`train`: layout, the operator that a file names as its own, measures, and the errors."""
import signal
import unittest

import h5py
import numpy as np

from program import ProgramTest, start


def ancestors(file):
    """[n x n] 1 where a node is the other's ancestor or itself."""
    edge, n = file["hierarchy/edge"][:], len(file["hierarchy/depth"])
    above = np.eye(n)
    for _ in range(n):
        for child, parent in edge:
            above[child] = np.maximum(above[child], above[parent])
    return above


class Train(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data, self.out = self.folder / "tree.h5", self.folder / "t.h5"
        self.ok("dataset", "tree", "-o", self.data, "-p", "depth=3")

    def train(self, *arguments):
        if not any(str(word).startswith("epochs=") for word in arguments):
            arguments += ("-p", "epochs=300")
        return self.ok("train", self.data, "-o", self.out, "--json", "-p", "starts=2",
                       *arguments).json()

    def weights(self, group, *arguments):
        result = self.folder / "a.h5"
        self.ok("attend", f"{self.out}:/{group}", "-o", result, "--keep", "weights", *arguments)
        with h5py.File(result) as file:
            return file["attention/weights/weight"][0, 0], file["attention"].attrs["spec"]

    def test_heads_are_groups_of_a_trace_with_their_operator(self):
        said = self.train("-s", "dot,penumbral", "--seeds", "1,2", "--dim", "2,3")
        groups = [f"/{name}{dim}/seed{seed}" for name in ("dot", "penumbral") for dim in ("", "_d3")
                  for seed in (1, 2)]
        self.assertEqual([head["group"] for head in said["heads"]], groups)
        with h5py.File(self.out) as file:
            above = ancestors(file)
            self.assertEqual(file["penumbral_d3/seed2/q"].shape, (15, 3))
            self.assertEqual(file["dot/seed1/token"].shape, (15,))
        for head in said["heads"]:
            weights, spec = self.weights(head["group"][1:])
            self.assertIn(f'"similarity":"{head["similarity"]}"', spec.replace(" ", ""))
            self.assertAlmostEqual((weights * above).sum() / 15, head["mass"], places=4)
            self.assertEqual(head["loss"], min(head["start_loss"]))
        self.assertGreater(min(head["mass"] for head in said["heads"]), 0.5)

    def test_an_operator_that_is_typed_goes_before_that_of_the_file(self):
        self.train("-s", "penumbral")
        own, _ = self.weights("penumbral/seed1")
        typed, _ = self.weights("penumbral/seed1", "-s", "penumbral", "-p", "gamma=1")
        self.assertGreater(abs(own - typed).max(), 0.01)
        plain = self.folder / "map.svg"
        self.ok("figure", "heatmap", "-o", plain, "--input", f"{self.out}:/penumbral/seed1")
        self.assertIn("gamma =", plain.read_text())

    def test_parameters_are_trained_unless_they_are_given(self):
        def ends(*arguments):
            return self.train("-s", "umbral", "--dim", "3", *arguments)["heads"][0]
        default = ends()
        self.assertNotEqual(default["radius"], 0.1)
        self.assertNotEqual(default["gamma"], 1)
        with h5py.File(self.out) as file:
            for key in ("gamma", "radius"):
                self.assertEqual(file["umbral/seed1"].attrs[key], default[key])
                self.assertEqual(file.attrs[key], default[key])
        self.assertEqual({**ends("-p", "radius=train", "-p", "gamma=train")}, default)
        fixed = ends("-p", "radius=0.5")
        self.assertEqual(fixed["radius"], 0.5)
        self.assertNotEqual(fixed["gamma"], 1)
        text = self.ok("train", self.data, "-o", self.out, "-s", "umbral", "-p", "epochs=5",
                       "-p", "radius=0.5", "-p", "gamma=2").out
        self.assertIn(" gamma 2 radius 0.5", text)

    def test_every_similarity_trains_its_parameters(self):
        names = "dot,laplacian,hyperbolic,penumbral,umbral,penumbral-finite,umbral-finite,ganea"
        said = self.train("-s", names, "-p", "epochs=30")
        rows = {row["name"]: row for row in self.ok("list", "similarities", "--json").json()}
        for head in said["heads"]:
            for parameter in rows[head["similarity"]]["parameters"]:
                key = parameter["key"]
                if parameter["differentiable"] and parameter.get("default") is not None:
                    # The offset of hyperbolic cancels, the height of a light is a factor under xi.
                    moved = head[key] != parameter["default"]
                    self.assertEqual(moved, key != "offset", f"{head['similarity']} {key}")

    def test_equal_seeds_give_equal_bytes_with_any_threads(self):
        files = []
        for threads in (1, 2):
            self.train("-s", "umbral", "--seeds", "3", "--threads", threads)
            files.append(self.out.read_bytes())
        self.assertEqual(*files)

    def test_measures_of_a_perfect_head_are_the_best_possible(self):
        said = self.train("-s", "laplacian", "--dim", "16", "-p", "epochs=600")
        self.assertGreater(said["mass"], 0.99)
        with h5py.File(self.out) as file:
            self.assertEqual(file.attrs["mass"], said["mass"])
        self.assertGreaterEqual(said["robinson_foulds"], said["robinson_foulds_least"])
        # A complete binary tree of 8 leaves: its 6 inner constituents are those of a dendrogram.
        self.assertEqual(said["constituent_f1_most"], 1)
        # 7 nodes have descendants, the root aside 6; a dendrogram of 15 tokens has 13 clusters.
        self.assertAlmostEqual(said["robinson_foulds_least"], 7 / 19)

    def test_pairs_are_held_back_and_measured(self):
        self.ok("dataset", "tree", "-o", self.data, "-p", "depth=4")
        said = self.train("-s", "dot,umbral", "--dim", "4", "-p", "held_out=0.25")
        with h5py.File(self.out) as file:
            held = file["hierarchy/held_out"][:]
            edges = file["hierarchy/edge"][:]
            above = ancestors(file)
        # A complete tree of depth 4 has 4 · 1 + 8 · 2 + 16 · 3 pairs beyond its edges.
        self.assertEqual(held.shape, (17, 2))
        self.assertFalse(set(map(tuple, held)) & set(map(tuple, edges)))
        self.assertTrue((above[held[:, 0], held[:, 1]] == 1).all())
        for head in said["heads"]:
            weights, _ = self.weights(head["group"][1:])
            self.assertAlmostEqual((weights * above).sum() / 31, head["mass"], places=4)
            precisions, ranks = [], []
            for node in np.unique(held[:, 0]):
                own = held[held[:, 0] == node, 1]
                known = [j for j in range(31) if above[node, j] and j != node and j not in own]
                order = [j for j in np.argsort(-weights[node]) if j != node and j not in known]
                places = sorted(order.index(j) + 1 for j in own)
                precisions.append(np.mean([(i + 1) / p for i, p in enumerate(places)]))
                ranks += [p - i for i, p in enumerate(places)]
            self.assertAlmostEqual(head["held_out_map"], np.mean(precisions), places=6)
            self.assertAlmostEqual(head["held_out_rank"], np.mean(ranks), places=6)

    def add_features(self):
        """Each node's features are which of the nodes are its ancestors, or itself unless a leaf."""
        with h5py.File(self.data, "r") as file:
            edge, above = file["hierarchy/edge"][:], ancestors(file)
        inner = np.unique(edge[:, 1])
        self.data = self.write("f.h5", **{"hierarchy/edge": edge,
                                          "hierarchy/name": [f"n{i}" for i in range(len(above))],
                                          "hierarchy/feature": above[:, inner]})

    def test_nodes_that_were_not_seen_are_placed_by_their_features(self):
        self.ok("dataset", "tree", "-o", self.data, "-p", "depth=4")
        self.add_features()
        for tokens in ("linear", "layers"):
            said = self.train("-s", "umbral", "--dim", "6", "-p", f"tokens={tokens}", "-p",
                              "held_out_nodes=0.25")
            self.assertGreater(said["unseen_map"], 0.9)
            self.assertGreater(said["unseen_mass"], 0.5)
            self.assertLess(said["unseen_rank"], 2)
            with h5py.File(self.out) as file:
                self.assertEqual(len(file["hierarchy/held_out_node"]), 4)
                self.assertEqual(file["umbral/seed1/q"].shape, (31, 6))
                self.assertEqual(file["hierarchy/feature"].shape, (31, 15))

    def test_a_forest_is_trained_too(self):
        self.ok("dataset", "sentences", "-o", self.data, "-p", "n=4")
        self.assertGreater(self.train("-s", "umbral", "--dim", "4")["mass"], 0.5)

    def test_keys_are_searched_and_trials_kept(self):
        def tuned(trials, *arguments):
            return self.train("-s", "umbral", "-p", "epochs=40", "--seeds", "1,2", "--tune", trials,
                              "--tune-over", "rate=0.01..1", "--tune-over", "radius=0.1..4",
                              *arguments)
        said = tuned(3, "-p", "held_out=0.3")
        kept = self.folder / "t.h5.trials/jobs"
        first = {path: path.stat().st_mtime_ns for path in kept.glob("*.h5")}
        self.assertEqual(len(first), 3)
        with h5py.File(self.out) as file:
            tune = file["tune"]
            np.testing.assert_array_equal(tune["trial"][:], range(3))
            best = int(np.argmax(tune["value"][:]))
            self.assertEqual(tune.attrs["by"], "held_out_map")
            self.assertEqual(file.attrs["trials"], 3)
            for key, rates in (("rate", [0.1, 0.03162, 0.3162]), ("radius", [0.342, 1.17, 0.1507])):
                np.testing.assert_allclose(tune[key][:], rates, rtol=1e-3)
                self.assertEqual(said["tuned"][key], tune[key][best])
                self.assertEqual(file.attrs["tuned_" + key], tune[key][best])
            self.assertEqual([file[f"umbral/seed{seed}"].attrs["radius"] for seed in (1, 2)],
                             [said["tuned"]["radius"]] * 2)
            values = tune["value"][:]
        self.assertEqual(said["trials"], 3)
        said = tuned(5, "-p", "held_out=0.3")
        self.assertEqual(len(list(kept.glob("*.h5"))), 5)
        self.assertEqual({path: path.stat().st_mtime_ns for path in first}, first)
        with h5py.File(self.out) as file:
            np.testing.assert_array_equal(file["tune/value"][:3], values)
        # The result names its trials; the job that it is without a search does the same.
        same = self.train("-s", "umbral", "-p", "epochs=40", "--seeds", "1,2", "-p", "held_out=0.3",
                          *(f"-p{key}={value}" for key, value in said["tuned"].items()))
        self.assertEqual(same["heads"], said["heads"])
        tuned(2, "--tune-by", "robinson_foulds")
        with h5py.File(self.out) as file:
            self.assertEqual(file["tune"].attrs["best"], np.argmin(file["tune/value"][:]))
        self.ok("figure", "trials", "-o", self.folder / "t.svg", "--input", self.out)
        self.assertNotIn("&lt;i", (self.folder / "t.svg").read_text())

    def test_the_best_operator_of_each_hierarchy_is_drawn(self):
        files, means = [], {}
        for name in ("laplacian", "dot"):
            for seed in (1, 2, 3):
                files += ["--input", self.folder / f"{name}{seed}.h5"]
                self.ok("train", self.data, "-o", files[-1], "-s", name, "--dim", "2", "--seeds", seed,
                        "-p", "epochs=100")
                with h5py.File(files[-1]) as file:
                    means.setdefault(name, []).append(file.attrs["mass"])
        ahead = np.subtract(means["laplacian"], means["dot"])
        t = ahead.mean() / (ahead.std(ddof=1) / np.sqrt(3))
        self.assertGreater(t, 4.303, "beyond the interval of Student's t with 2 degrees of freedom")
        drawn = self.folder / "w.svg"
        self.ok("figure", "winners", "-o", drawn, *files)
        text = drawn.read_text()
        self.assertIn("15 nodes, depth 3", text)
        self.assertIn(f"{np.mean(means['laplacian']):.3g} (+{ahead.mean():.2g})", text)
        self.assertRegex(text, "font-weight[^>]*bold[^>]*>laplacian<")
        self.ok("figure", "winners", "-o", drawn, *files[:2], *files[6:8])  # One seed decides nothing.
        self.assertNotRegex(drawn.read_text(), "font-weight[^>]*bold[^>]*>laplacian<")
        self.train("-s", "dot,umbral", "-p", "epochs=1")
        self.fails(1, "figure", "winners", "-o", self.folder / "f.svg", "--input", self.out,
                   says="has no mass of one head")
        self.fails(1, "figure", "winners", "-o", self.folder / "f.svg", *files[:2], "-p", "measure=mas",
                   says="has no mas of one head")

    def test_snapshots_are_heads_of_earlier_steps(self):
        plain = self.train("-s", "dot,umbral", "--threads", "1")
        self.fails(1, "figure", "training", "-o", self.folder / "t.svg", "--input", self.out,
                   says="has no snapshots")
        said = self.train("-s", "dot,umbral", "--threads", "2", "-p", "snapshots=7")
        self.assertEqual(said["heads"], plain["heads"], "they change nothing")
        steps = [int(300 * k / 7) + (300 * k % 7 > 0) for k in range(1, 8)]
        with h5py.File(self.out) as file:
            above = ancestors(file)
            for name in ("dot", "umbral"):
                groups = sorted(key for key in file[f"{name}/seed1"] if key.startswith("step"))
                self.assertEqual(groups, [f"step{step:03}" for step in steps])
                losses = [file[f"{name}/seed1/{group}"].attrs["loss"] for group in groups]
                self.assertGreater(losses[0], 1.05 * losses[-1])
            own, last = file["umbral/seed1"], file["umbral/seed1/step300"]
            self.assertEqual(last.attrs["loss"], own.attrs["loss"])
            np.testing.assert_array_equal(last["q"][:], own["q"][:])
            masses = {group: file["umbral/seed1/" + group].attrs["mass"] for group in groups}
        for group in (groups[0], groups[3]):
            weights, _ = self.weights("umbral/seed1/" + group)
            self.assertAlmostEqual((weights * above).sum() / 15, masses[group], places=4)
        for measure in ("loss", "mass"):
            drawn = self.folder / f"{measure}.svg"
            self.ok("figure", "training", "-o", drawn, "--input", self.out, "-p",
                    "measure=" + measure)
            self.assertIn("umbral/seed1", drawn.read_text())

    def test_a_stopped_training_keeps_its_snapshots(self):
        for stop in (signal.SIGINT, signal.SIGKILL):
            self.out.unlink(missing_ok=True)
            process = start("train", self.data, "-o", self.out, "-s", "umbral", "-p",
                            "epochs=1000000", "-p", "snapshots=1000")
            self.wait_until(self.out.exists, process)
            process.send_signal(stop)
            process.communicate(timeout=60)
            self.ok("figure", "training", "-o", self.folder / "t.svg", "--input", self.out)
            self.weights("umbral/seed1")

    def test_a_training_goes_on_where_it_was_stopped(self):
        for words in (["-s", "umbral,dot", "-p", "starts=2"],
                      ["-s", "umbral", "-p", "gamma=2", "--seeds", "1,2", "--dim", "3"]):
            words += ["-p", "epochs=12000", "-p", "snapshots=60", "--threads", "2"]
            whole = self.folder / "whole.h5"
            self.ok("train", self.data, "-o", whole, *words)
            for stop in (signal.SIGKILL, signal.SIGINT):
                self.out.unlink(missing_ok=True)
                process = start("train", self.data, "-o", self.out, *words)
                self.wait_until(self.out.exists, process)
                process.send_signal(stop)
                process.communicate(timeout=60)
                with h5py.File(self.out) as file:
                    self.assertIn("unfinished", file)
                self.ok("train", self.data, "-o", self.out, *words, "--resume")
                self.assertEqual(self.out.read_bytes(), whole.read_bytes())
            said = self.ok("train", self.data, "-o", self.out, *words, "--resume")
            self.assertEqual(said.out, f"{self.out}: was finished before\n")
            self.assertEqual(self.out.read_bytes(), whole.read_bytes())
            self.fails(2, "train", self.data, "-o", self.out, *words, "--resume", "-p", "rate=.1",
                       says="is the result of another call")
            whole.unlink()

    def test_frames_are_pictures_of_the_snapshots(self):
        self.train("-s", "umbral", "-p", "snapshots=4")
        pictures = self.folder / "pictures"
        self.ok("figure", "points", "--frames", pictures, "--input", self.out)
        names = [f"{k:03}.svg" for k in range(1, 5)]
        self.assertEqual(sorted(path.name for path in pictures.iterdir()), names)
        one = self.folder / "one.svg"
        self.ok("figure", "points", "-o", one, "--input", f"{self.out}:/umbral/seed1/step150")
        self.assertEqual((pictures / "002.svg").read_bytes(), one.read_bytes())
        self.ok("figure", "heatmap", "-o", one.with_suffix(".pdf"), "--frames", pictures,
                "--input", f"{self.out}:/umbral/seed1")
        self.assertTrue((pictures / "004.pdf").exists() and one.with_suffix(".pdf").exists())
        self.fails(2, "figure", "points", "--input", self.out, says="--output is required")
        self.train("-s", "umbral")
        self.fails(1, "figure", "points", "--frames", pictures, "--input", self.out,
                   says="/umbral/seed1 has no snapshots")

    def test_errors_are_one_line(self):
        def fails(status, says, *arguments):
            self.fails(status, "train", self.data, "-o", self.out, *arguments, says=says)
        fails(2, "did you mean 'umbral'", "-s", "umbra")
        fails(2, "--similarity: 'dot' is given twice", "-s", "dot,penumbral,dot")
        fails(2, "needs dim of at least 2", "-s", "penumbral", "--dim", "1")
        fails(2, "did you mean 'epochs'", "-p", "epoch=3")
        fails(2, "radius=x is neither a number nor train", "-s", "umbral", "-p", "radius=x")
        fails(2, "--seeds", "--seeds", "x")
        fails(2, "held_out_nodes needs tokens", "-p", "held_out_nodes=.2")
        fails(2, "held_out=2", "-p", "held_out=2")
        fails(2, "give one similarity and one dimension", "-s", "dot,umbral", "--tune", "2")
        fails(2, "did you mean 'mass'", "-s", "dot", "--tune", "2", "--tune-by", "mas")
        fails(2, "did you mean 'rate'", "-s", "dot", "--tune", "2", "--tune-over", "rat=.1..1")
        fails(2, "rate=20 is too large", "-s", "dot", "--tune", "2", "--tune-over", "rate=1..20")
        fails(2, "give the number of trials", "-s", "dot", "--tune-by", "mass")
        fails(2, "rate is given as .1, and searched", "-s", "dot", "--tune", "2", "-p", "rate=.1")
        fails(2, "held_out_map needs the key held_out", "-s", "dot", "--tune", "2", "--tune-by", "held_out_map")
        fails(2, "hype_mu is a parameter of another operator", "-s", "dot", "--tune", "2", "--tune-by", "hype_mu")
        fails(1, "its nodes have no features (expected an array feature [15 x f]", "-p",
              "tokens=linear")
        fails(1, "holds no pair back", "-p", "held_out=.001")
        fails(1, "every start overflow", "-s", "umbral", "-p", "gamma=1.79e308", "-p", "starts=1")
        self.ok("dataset", "gaussian", "-o", self.folder / "g.h5", "-p", "n=8")
        self.fails(1, "train", self.folder / "g.h5", "-o", self.out, says="no group /hierarchy")
        self.assert_clean("tree.h5", "g.h5")


if __name__ == "__main__":
    unittest.main()
