"""Usage: help, lists, unknown names, exit status, one line for each error."""
import re
import subprocess
import unittest

import numpy as np

from program import PROGRAM, ProgramTest, run

COMMANDS = [line.split()[0] for line in run().out.split("Commands:\n")[1].split("\n\n")[0].splitlines()]


class Usage(ProgramTest):
    def test_without_arguments_prints_help(self):
        self.assertEqual(self.ok().out, self.ok("--help").out)
        self.assertIn("list", COMMANDS)

    def test_every_command_explains_itself_with_an_example(self):
        for command in COMMANDS:
            help_text = self.ok(command, "--help").out
            self.assertIn(f"Usage: conelab {command}", help_text)
            self.assertIn(f"Example:\n  conelab {command}", help_text)

    def test_version(self):
        self.assertRegex(self.ok("--version").out, r"^conelab \d+\.\d+\.\d+")

    def test_unknown_command_names_the_nearest_and_the_list(self):
        self.fails(2, "lits", says=["unknown command 'lits'", "did you mean 'list'?", "known: "])

    def test_unknown_option_names_the_nearest(self):
        self.fails(2, "list", "maps", "--jsn", says=["--jsn", "did you mean '--json'?"])
        self.fails(2, "--versoin", says="did you mean '--version'?")

    def test_missing_argument(self):
        self.fails(2, "list", says="say what to list: similarities")

    def test_surplus_argument(self):
        self.fails(2, "list", "maps", "surplus", says="surplus")

    def test_what_is_no_number_is_said_as_everything_else(self):
        self.fails(2, "compare", "a.h5", "b.h5", "--margin", "x",
                   says="--margin: wrong value (expected a number, found 'x'; see `conelab compare --help`)")
        self.fails(2, "bench", "-o", "b.h5", "--seed", "-1.5",
                   says="--seed: wrong value (expected a whole number from 0, found '-1.5'; see ")

    def test_counts_are_said_plainly(self):
        self.fails(2, "attend", "-s", "dot", "-s", "umbral", "-o", "o.h5",
                   says="--similarity: given more than once (see `conelab attend --help`)")
        self.fails(2, "attend", "in.h5", "-o", "o.h5", "-p", "gamma=1", "height=2",
                   says="'height=2' (a parameter needs its own -p: -p height=2; see ")
        self.assertIn("-p,--parameter KEY=VALUE ", self.ok("attend", "--help").out)

    def test_line_breaks_and_bad_bytes_stay_on_one_line(self):
        self.fails(2, "no\nsuch\x1bcommand", says="no\\x0asuch\\x1bcommand")
        self.fails(2, b"\xff\xfe".decode("utf-8", "surrogateescape"), says="\\xff\\xfe")

    def test_endless_names_are_cut(self):
        self.assertLess(len(self.fails(2, "x" * 100_000).err), 5000)

    def test_full_standard_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            end = subprocess.run([PROGRAM, "list", "maps"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(end.returncode, 1)
        self.assertIn(b"No space left", end.stderr)


class Lists(ProgramTest):
    def test_every_list_in_both_forms(self):
        known = re.search(r"known: ([a-z, -]+)", run("list", "nothing").err).group(1).split(", ")
        self.assertIn("aggregates", known)
        self.assertIn(", ".join(known), " ".join(self.ok("list", "--help").out.split()))
        for what in known:
            rows = self.ok("list", what, "--json").json()
            text = self.ok("list", what).out
            self.assertTrue(rows, what)
            for row in rows:
                self.assertTrue(row["name"] and row["about"], row)
                self.assertIn(row["name"], text)

    def test_similarities_tell_formula_parameters_and_defaults(self):
        rows = {row["name"]: row for row in self.ok("list", "similarities", "--json").json()}
        self.assertIn("height", rows["penumbral"]["about"])
        self.assertEqual(rows["penumbral"]["default_map"], "xi")
        gamma = {p["key"]: p for p in rows["umbral"]["parameters"]}["gamma"]
        self.assertEqual(gamma["default"], 1)

    def test_every_entry_tells_all_of_its_parameters(self):
        for what in ("operators", "maps", "masks", "biases", "positions", "weights", "aggregates"):
            for row in self.ok("list", what, "--json").json():
                self.assertIn("paper", row, row["name"])
                self.assertIn("combines", row, row["name"])
                for p in row["parameters"]:
                    self.assertTrue(p["key"] and p["about"] and p["domain"], p)
                    self.assertIn("differentiable", p)
                    self.assertIn("shape" if p["domain"] == "tensor" else "default", p)

    def test_only_a_window_has_no_default(self):
        needed = set()
        for what in ("operators", "maps", "masks", "biases", "positions", "weights", "aggregates"):
            for row in self.ok("list", what, "--json").json():
                needed |= {p["key"] for p in row["parameters"]
                           if "shape" not in p and p["default"] is None and not p.get("computed")}
        self.assertEqual(needed, {"window"})

    def test_axes_of_tensors_are_explained(self):
        rows = {row["name"]: row for row in self.ok("list", "axes", "--json").json()}
        self.assertEqual(rows["m"]["parts"], ["graph"])
        self.assertEqual(rows["a"]["parts"], ["additive", "relation-network"])
        self.assertIn("penumbral", rows["head*d_v"]["parts"])
        known, used = set(rows), set()
        for what in ("operators", "maps", "masks", "biases", "positions", "weights", "aggregates"):
            for row in self.ok("list", what, "--json").json():
                for p in row["parameters"]:
                    used |= {re.fullmatch(r"\d*(.*?)(\+\d+)?", axis).group(1)
                             for axis in p.get("shape", "").split(",")}
        self.assertIn("head*d_v", used)
        self.assertEqual(known, used - {""})

    def test_defaults_of_whole_numbers_are_whole(self):
        rows = {row["name"]: row for row in self.ok("list", "operators", "--json").json()}
        whole = [p["default"] for row in rows.values() for p in row["parameters"]
                 if p["domain"].startswith("whole number") and p["default"] is not None]
        self.assertIn(128, whole)
        self.assertTrue(all(isinstance(number, int) for number in whole), whole)
        self.assertRegex(self.ok("list", "operators").out, r"-p steps +     = 2 |-p steps += 2 ")

    def test_operators_tell_paper_and_cost(self):
        for row in self.ok("list", "operators", "--json").json():
            self.assertRegex(row["paper"] or "", "^[A-Z][a-z]", row["name"])
            self.assertTrue(row["cost"], row["name"])
            structured = row["name"] in ("agglomerative", "star", "segtree", "multi-head", "random")
            if structured or row["name"] in ("dot", "additive", "transformer-xl"):
                self.assertEqual(row["devices"], ["cpu"] if structured else ["cpu", "cuda"], row["name"])

    def test_every_similarity_lists_its_projections(self):
        for row in self.ok("list", "similarities", "--json").json():
            shapes = {p["key"]: p.get("shape") for p in row["parameters"]}
            for name, shape in (("P_query", "d',d"), ("P_key", "d',d"), ("P_value", "d_v',d_v"),
                                ("P_output", "d_o,head*d_v")):
                self.assertEqual(shapes.get(name), shape, row["name"])
        self.assertEqual(self.ok("list", "similarities").out.count("P_query"), 1)

    def test_operators_tell_what_they_combine_with(self):
        rows = {row["name"]: row for row in self.ok("list", "operators", "--json").json()}
        masks = [row["name"] for row in self.ok("list", "masks", "--json").json()]
        self.assertEqual(rows["dot"]["combines"]["masks"], masks)
        self.assertIn("alibi", rows["penumbral"]["combines"]["bias"])
        self.assertIn("shaw", rows["penumbral"]["combines"]["bias"])
        self.assertIn("shaw", rows["gat"]["combines"]["bias"])
        biases = {row["name"]: row for row in self.ok("list", "biases", "--json").json()}
        self.assertRegex(biases["shaw"]["conditions"], "not multiplicative, additive or gat")
        self.assertIn("dot or multiplicative", biases["hype"]["conditions"])
        self.assertNotIn("conditions", biases["alibi"])
        self.assertIn("dot or multiplicative", self.ok("list", "biases").out)
        self.assertEqual(rows["multi-head"]["default_similarity"], "dot")
        self.assertEqual(rows["multi-head"]["combines"]["map"].count("none"), 1)
        self.assertIn("xi", rows["penumbral"]["combines"]["map"])
        self.assertNotIn("polar", rows["penumbral"]["combines"]["map"])
        self.assertEqual(rows["agglomerative"]["combines"],
                         {"masks": ["full", "causal"], "position": ["none", "sinusoidal"]})
        self.assertEqual(rows["transformer-xl"]["combines"]["masks"], ["segment"])
        self.assertIn("umbral", rows["multi-head"]["combines"]["similarity"])
        for row in self.ok("list", "masks", "--json").json():
            takes = "agglomerative" in row["combines"]["operators"]
            self.assertEqual(takes, row["name"] in ("full", "causal"), row["name"])
        for row in self.ok("list", "maps", "--json").json():
            self.assertTrue(row["combines"]["operators"], row["name"])
            for name in row["combines"]["operators"]:
                self.assertIn(row["name"], rows[name]["combines"]["map"])

    def test_combinations_are_those_that_attend_accepts(self):
        data = self.write(q=np.zeros((3, 4)))
        for row in self.ok("list", "similarities", "--json").json():
            for name in ("psi", "xi", "polar", "pi", "exp"):
                fits = name in row["combines"].get("map", [])
                if row["name"] != "hyperbolic":
                    end = run("attend", data, "-o", self.folder / "o.h5", "-s", row["name"], "--map",
                              name, *self.tensors(row))
                    self.assertEqual("for " + row["name"] in end.err, not fits, end.err)

    @staticmethod
    def tensors(row):
        needed = [p["key"] for p in row["parameters"] if p["domain"] == "tensor" and p["needed"]]
        return [word for key in needed for word in ("-p", key + "=random")]

    def test_errata_have_their_numbers(self):
        rows = {row["name"]: row for row in self.ok("list", "operators", "--json").json()}
        self.assertIn("0.543906", rows["penumbral"]["errata"][0]["check"])
        self.assertNotIn("errata", rows["dot"])
        biases = {row["name"]: row for row in self.ok("list", "biases", "--json").json()}
        self.assertIn("(0.679, 0.321)", biases["hype"]["errata"][0]["check"])
        self.assertIn("(0.679, 0.321)", self.ok("list", "biases").out)
        self.assertIn("(0.679, 0.321)", " ".join(self.ok("help", "reference").out.split()))

    def test_unknown_list(self):
        self.fails(2, "list", "similarity", says=["did you mean 'similarities'?"])

    def test_devices_name_the_cpu_target_and_say_why_there_is_no_gpu(self):
        rows = {row["name"]: row for row in self.ok("list", "devices", "--json").json()}
        self.assertIn("SIMD target", rows["cpu"]["about"])
        self.assertTrue(rows["cpu"]["available"])
        if not rows["cuda"]["available"]:
            self.assertRegex(rows["cuda"]["about"], "^(no device|not built)")


if __name__ == "__main__":
    unittest.main()
