"""`report`: from a study to a page, figures and LaTeX, and `--check`, which finds what was changed."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser

from program import TRACE, ProgramTest, run

STUDY = f"""
title = "Maps & cones"
seed = 3
[[attend]]
name = "maps"
input = "{TRACE}:/german/layer3"
similarity = ["dot", "penumbral"]
keep = ["weights"]
[[bench]]
name = "cost"
operators = "dot,umbral"
lengths = "16,32"
rounds = 6
passes = "forward"
[[figure]]
name = "fig1"
kind = "heatmap"
input = "maps"
head = 5
caption = "Head 5 & 1 < 2"
[report]
order = [
  "text: At n = 32 dot takes {{time-dot-32}} s.",
  "fig1",
  "table: cost by operator, seq_len: time, error",
  "table: maps by similarity: output_not_finite",
  "claim: Every output is a number | {{output_not_finite-penumbral}} = 0 | softmax",
]
"""


class Text(HTMLParser):
    """The tags of a page and their attributes."""

    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


class Report(ProgramTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="conelab-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.runs = pathlib.Path(folder.name) / "runs"
        spec = cls.runs.with_name("s.toml")
        spec.write_text(STUDY)
        result = run("run", spec, "-o", cls.runs)
        assert result.status == 0, result

    def setUp(self):
        super().setUp()
        self.spec = self.write_study(STUDY)
        shutil.copytree(self.runs, self.folder / "runs")
        self.out = self.folder / "report"
        self.ok("report", self.folder / "runs", "-o", self.out)

    def jobs(self, kind):
        return [job for job in self.index("runs")["jobs"] if job["kind"] == kind]

    def check(self):
        """The problems that --check finds."""
        result = run("report", "--check", self.out, "--json", "--seed", "1")
        found = result.json()
        self.assertEqual(result.status, 1 if found["problems"] else 0, result)
        return found

    def test_a_page_has_everything_inside_and_says_how_it_was_made(self):
        page = (self.out / "index.html").read_text()
        tags = Text(page).seen
        self.assertEqual(sum(tag == "svg" for tag, _ in tags), 2)
        for tag, attributes in tags:
            self.assertNotIn("href", attributes, tag)
            if "src" in attributes:
                self.assertTrue(attributes["src"].startswith("data:"), tag)
        for job in self.jobs("attend") + self.jobs("figure") + self.jobs("bench"):
            self.assertIn(job["digest"], page)
        for figure in self.jobs("figure"):
            for ending in ("svg", "pdf"):
                self.assertTrue((self.out / f"figures/{figure['name']}.{ending}").exists())
            drawn = (self.out / f"figures/{figure['name']}.svg").read_text()
            described = drawn.split("<desc>")[1].split("</desc>")[0]
            self.assertEqual(described, "Head 5 &amp; 1 &lt; 2")
            self.assertIn(f"</b> {described}<details>", page)
            self.assertNotIn("Head 5", drawn.split("</metadata>")[1])
        self.assertEqual((self.out / "report.tex").read_text().count(".pdf}{Head 5 \\& 1 $<$ 2~"), 2)

    def test_what_nobody_changed_agrees(self):
        found = self.check()
        self.assertEqual(found["problems"], [])
        self.assertEqual((found["digests"], found["figures"]), (5, 2))
        self.assertEqual(len(found["run_again"]), 1)
        self.ok("report", self.out, "--check")
        self.ok("report", self.folder / "runs", "-o", self.out, "--check")
        record = json.loads((self.out / "report.json").read_text())
        self.assertEqual(record["claims"], [{"says": "Every output is a number", "verdict": "agrees", "left": "0",
                                             "relation": "{output_not_finite-penumbral} = 0"}])

    def test_a_report_within_its_study_agrees(self):
        inside = self.folder / "runs" / "report"
        self.ok("report", f"{self.folder}/runs/", "-o", inside)
        self.ok("report", inside, "--check")
        self.ok("report", f"{inside}/", "--check")
        shutil.rmtree(inside)

    def test_a_changed_byte_of_a_result_is_found(self):
        path = self.folder / "runs" / self.jobs("attend")[0]["files"][0]
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        self.assertIn(path.name, " ".join(self.check()["problems"]))
        anew = self.folder / "anew"
        result = self.ok("report", self.folder / "runs", "-o", anew)
        self.assertIn("runs, maps-dot: its bytes are not those that were written", result.err)
        self.assertIn("Changed since it was computed", (anew / "index.html").read_text())

    def test_a_folder_that_was_renamed_agrees(self):
        inside = self.folder / "runs" / "report"
        self.ok("report", self.folder / "runs", "-o", inside)
        (self.folder / "runs").rename(self.folder / "renamed")
        self.ok("report", self.folder / "renamed/report", "--check")

    def test_the_measures_that_kinds_declare_are_those_that_jobs_have(self):
        tree = '[[dataset]]\nname = "tree"\nkind = "tree"\ndepth = 3\n'
        jobs = tree + '[[embed]]\nname = "e"\ninput = "tree"\nsimilarity = "umbral"\nepochs = 5\n' \
                      '[[embed]]\nname = "c"\ninput = "tree"\nmethod = "construction"\n' \
                      '[[train]]\nname = "t"\ninput = "tree"\nsimilarity = "umbral"\nepochs = 5\n'
        self.ok("run", self.write_study(jobs, "known.toml"), "-o", self.folder / "known")
        for job in self.index("known")["jobs"]:
            if job["kind"] == "dataset":
                continue
            spec = self.write_study(jobs + f'[report]\norder = ["table: {job["name"]}: nothing"]\n', "w.toml")
            said = self.fails(2, "run", spec, "--dry-run", says="unknown measure 'nothing'").err
            declared = re.search(r"known: (.*)\)", said)[1].split(", ")
            self.assertLessEqual(set(job["measures"]), set(declared), job["name"])

    def test_a_changed_number_is_found(self):
        for name, pattern in (("index.html", rb"<summary>\(?(\d)"), ("numbers.tex", rb"endcsname\{\(?(\d)"),
                              ("report.json", rb'"text": "\(?(\d)')):
            path = self.out / name
            before = path.read_bytes()
            at = re.search(pattern, before).start(1)
            path.write_bytes(before[:at] + b"%d" % ((before[at] - ord("0") + 1) % 10) + before[at + 1:])
            self.assertIn(name if name != "report.json" else "the report has",
                          " ".join(self.check()["problems"]))
            path.write_bytes(before)

    def test_a_number_that_only_the_index_has_changed_is_found(self):
        path = self.folder / "runs/index.json"
        index = json.loads(path.read_text())
        for job in index["jobs"]:
            if job["kind"] == "attend":
                job["measures"]["output_not_finite"] = 5
        path.write_text(json.dumps(index))
        problems = " ".join(self.check()["problems"])
        self.assertIn("number output_not_finite-dot: the report has 0, the results give 5", problems)
        self.ok("report", self.folder / "runs", "-o", self.out)
        self.assertIn("output_not_finite = 5, run again 0", " ".join(self.check()["problems"]))

    def test_a_changed_figure_is_found(self):
        job = self.jobs("figure")[0]
        for path in (self.folder / "runs" / job["files"][0], self.folder / "runs" / job["files"][1],
                     self.out / f"figures/{job['name']}.pdf"):
            before = path.read_bytes()
            path.write_bytes(before.replace(b"0", b"1", 1))
            self.assertIn(path.name, " ".join(self.check()["problems"]))
            path.write_bytes(before)

    def test_two_runs_stand_side_by_side_with_verdicts(self):
        shutil.copytree(self.folder / "runs", self.folder / "again")
        both = self.folder / "both"
        self.ok("report", self.folder / "runs", self.folder / "again", "-o", both)
        page = (both / "index.html").read_text()
        self.assertIn("time of again over time of runs", page)
        # A run and its copy: how wide the intervals are, the machine decides.
        verdicts = re.findall(r"<td>\S+ \.\. \S+</td><td>(\w+)</td>", page)
        self.assertEqual(len(verdicts), 4)
        self.assertLessEqual(set(verdicts), {"same", "undecided"})
        self.assertIn("time-dot-32-again", (both / "numbers.tex").read_text())

    def test_wrong_calls_are_refused(self):
        self.fails(2, "report", self.folder / "runs", says="-o OUT")
        self.fails(2, "report", self.folder / "runs", "-o", self.folder / "runs",
                   says="something else than a report")
        self.fails(1, "report", "--check", self.folder / "runs", says="report.json")
        self.fails(1, "report", self.folder / "nowhere", "-o", self.out, says="index.json")

    @unittest.skipUnless(shutil.which("pdflatex"), "pdflatex is not installed")
    def test_the_latex_compiles_and_its_numbers_serve_other_documents(self):
        def compiled(name):
            for _ in range(2):
                done = subprocess.run(
                    ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name], cwd=self.out,
                    capture_output=True, text=True, errors="replace")
                self.assertEqual(done.returncode, 0, done.stdout[-2000:])
            self.assertNotIn("Overfull \\hbox", done.stdout)
            return subprocess.run(["pdftotext", self.out / f"{name}.pdf", "-"], capture_output=True,
                                  text=True).stdout

        text = re.sub(r"\s+", "", compiled("report"))
        self.assertIn(self.jobs("bench")[0]["digest"], text)
        (self.out / "paper.tex").write_text(
            "\\documentclass{article}\\input{numbers}\\begin{document}\\section{At "
            "\\conelab{output_not_finite-dot}}\\end{document}")
        self.assertIn("At 0", compiled("paper"))


class Incomplete(ProgramTest):
    def test_jobs_without_a_result_are_counted(self):
        spec = self.write_study('[[dataset]]\nname = "noise"\nkind = "gaussian"\nn = 8\n[[train]]\n'
                                'name = "heads"\ninput = "noise"\nsimilarity = "umbral"\n[[figure]]\n'
                                'kind = "points"\ninput = "heads:/umbral/seed1"\n', "fails.toml")
        self.assertEqual(run("run", spec, "-o", self.folder / "runs").status, 1)
        self.ok("report", self.folder / "runs", "-o", self.folder / "report")
        found = run("report", "--check", self.folder / "report", "--json").json()
        self.assertEqual((found["problems"], found["failed"], found["missing"]), ([], 1, 1))
        self.assertIn("everything agrees; of the studies' jobs, 1 failed and 1 have not run",
                      self.ok("report", self.folder / "report", "--check").out)


if __name__ == "__main__":
    unittest.main()
