"""`run` and `merge`: resumption after kills, shards, failures, errors of a study with their lines."""
import hashlib
import json
import os
import random
import signal
import subprocess
import time
import unittest

import h5py

from program import PATIENCE, ROOT, TRACE, ProgramTest, run, start

STUDY = f"""
title = "Three similarities"
[[attend]]
name = "maps"
input = "{TRACE}:/german/layer3"
similarity = ["dot", "umbral"]
keep = ["weights"]
[[attend]]
name = "single"
input = "{TRACE}:/german/layer2"
similarity = "penumbral"
keep = ["weights"]
[[tree]]
name = "trees"
input = "{TRACE}:/german/layer3"
similarity = ["penumbral", "umbral"]
[[figure]]
name = "map"
kind = "heatmap"
input = "maps"
[[figure]]
name = "pair"
kind = "heatmap"
input = ["maps", "single"]
[report]
order = ["map", "table: maps by similarity: compute_seconds"]
"""
BENCH = """
[[bench]]
name = "cost"
operators = "dot,umbral"
lengths = [16, 32]
dims = [8]
heads = [1]
passes = ["forward"]
rounds = 2
warm_only = true
[[figure]]
name = "scaling"
kind = "scaling"
input = "cost"
"""
JOBS = 2 + 1 + 2 + 2 + 2


class RunTest(ProgramTest):
    def contents(self, folder):
        """Digest of each file of each job by the job's name."""
        found = {}
        for job in self.index(folder)["jobs"]:
            for file in job["files"]:
                content = (self.folder / folder / file).read_bytes()
                found[job["name"], file] = hashlib.sha256(content).hexdigest()
        return found

    def study(self, folder, *options, spec=None, **more):
        return self.ok("run", spec or self.folder / "s.toml", "-o", self.folder / folder, *options, **more)


class Run(RunTest):
    def test_runs_everything_and_tells_where_it_is(self):
        self.write_study(STUDY + BENCH)
        said = self.study("out").out
        self.assertIn(f"{JOBS + 2} of {JOBS + 2} jobs done", said)
        index = self.index("out")
        self.assertEqual(index["format"], 1)
        self.assertEqual(index["title"], "Three similarities")
        self.assertEqual(index["report"]["order"][0], "map")
        self.assertIn("cpu", index["machine"])
        by_name = {job["name"]: job for job in index["jobs"]}
        umbral = by_name["maps-umbral"]
        self.assertEqual(umbral["sweep"], {"similarity": "umbral"})
        self.assertEqual(umbral["files"], [f"jobs/{umbral['key']}.h5"])
        self.assertEqual(by_name["map-umbral"]["inputs"], [umbral["key"]])
        self.assertEqual([f.rsplit(".")[-1] for f in by_name["map-umbral"]["files"]][:2], ["svg", "pdf"])
        self.assertGreater(umbral["measures"]["compute_seconds"], 0)
        with h5py.File(self.folder / "out" / umbral["files"][0]) as file:
            self.assertEqual(umbral["digest"], bytes(file["sha256"][...]).hex())
        svg = self.folder / "out" / by_name["map-dot"]["files"][0]
        self.assertEqual(by_name["map-dot"]["digest"], hashlib.sha256(svg.read_bytes()).hexdigest())
        self.assertEqual((self.folder / "out/study.toml").read_text(), STUDY + BENCH)
        # The command makes the same file again.
        words = umbral["command"].split()
        words[words.index("-o") + 1] = "again.h5"
        self.ok(*words[1:], cwd=self.folder / "out")
        self.assertEqual((self.folder / "out/again.h5").read_bytes(),
                         (self.folder / "out" / umbral["files"][0]).read_bytes())

    def test_what_is_done_is_not_done_again(self):
        self.write_study(STUDY)
        self.study("out")
        before = {p: p.stat().st_mtime_ns for p in (self.folder / "out/jobs").iterdir()}
        said = self.study("out").out
        self.assertNotIn("done maps", said)
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in (self.folder / "out/jobs").iterdir()})
        self.write_study(STUDY.replace('["penumbral", "umbral"]', '["penumbral", "umbral", "dot"]'))
        said = self.study("out").out
        self.assertEqual([line for line in said.splitlines() if line.startswith("done ")][0][:14], "done trees-dot")
        self.assertEqual(said.count("done trees"), 1)

    def test_a_damaged_result_is_computed_again(self):
        self.write_study(STUDY)
        self.study("out")
        job = next(j for j in self.index("out")["jobs"] if j["name"] == "trees-umbral")
        path = self.folder / "out" / job["files"][0]
        sound = path.read_bytes()
        damaged = bytearray(sound)
        damaged[len(sound) // 2] ^= 1
        path.write_bytes(damaged)
        self.assertIn("done trees-umbral", self.study("out").out)
        self.assertEqual(path.read_bytes(), sound)

    def test_killed_at_random_moments_and_resumed_equals_one_run(self):
        self.write_study(STUDY)
        self.study("whole")
        whole = self.contents("whole")
        moments = random.Random(3)
        kills = 0
        for number in (signal.SIGKILL, signal.SIGTERM):
            folder = f"killed{number}"
            for _ in range(12):
                process = start("run", self.folder / "s.toml", "-o", self.folder / folder)
                time.sleep(moments.uniform(0.02, 0.5))
                process.send_signal(number)
                process.communicate(timeout=PATIENCE)
                kills += process.returncode != 0
            self.study(folder)
            self.assertEqual(self.contents(folder), whole)
            self.study(folder)  # Its worker may have ended after that run had begun.
            self.assertEqual([p for p in (self.folder / folder / "jobs").iterdir() if p.name.startswith(".")], [])
        self.assertGreater(kills, 0)

    def test_interrupted_says_so_and_goes_on(self):
        spec = self.write_study(STUDY + BENCH.replace("rounds = 2", "rounds = 40"))
        out = self.folder / "out"
        process = start("run", spec, "-o", out)
        self.addCleanup(process.kill)
        self.wait_until(lambda: list(out.glob("jobs/*.parts/case-*")), process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("finished jobs are kept", err.decode())
        self.assertTrue(list(out.glob("jobs/*.parts/case-*")), "the samples of the benchmark are kept")
        self.study("out")

    def test_a_failed_job_does_not_stop_the_others(self):
        self.write("bad.h5", q=[[1.0, 2.0], [3.0, -1.0]])  # A height below 0 is not in the half-space.
        self.write_study('[[attend]]\nname = "bad"\ninput = "bad.h5"\nsimilarity = "umbral"\nmap = "none"\n'
                   'keep = ["weights"]\n'
                   '[[figure]]\nname = "of_bad"\nkind = "heatmap"\ninput = "bad"\n' + STUDY.split("\n", 2)[2])
        result = run("run", self.folder / "s.toml", "-o", self.folder / "out")
        self.assertEqual(result.status, 1, result)
        self.assertIn(f"{JOBS} of {JOBS + 2} jobs done, 1 failed, 1 waiting", result.out)
        states = {job["name"]: job for job in self.index("out")["jobs"]}
        self.assertEqual(states["bad"]["status"], "failed")
        self.assertIn("bad.h5", states["bad"]["error"] + states["bad"]["command"])
        self.assertEqual(states["of_bad"]["status"], "waiting")

    def test_a_dry_run_lists_the_jobs_and_writes_nothing(self):
        self.write_study(STUDY + BENCH)
        said = self.study("out", "--dry-run").out
        self.assertEqual(len(said.splitlines()), JOBS + 2 + 2)
        self.assertRegex(said, r"cost +bench +to do +~\d")
        self.assertIn(f"{JOBS + 2} jobs, 0 done", said)
        parts = [self.study("out", "--dry-run", "--shard", f"{i}/2").out.splitlines()[1:-1] for i in (1, 2)]
        self.assertTrue(all(0 < len(part) < JOBS for part in parts), parts)
        self.assertFalse({line.split()[0] for line in parts[0]} & {line.split()[0] for line in parts[1]})
        self.assert_clean("s.toml")

    def test_points_of_a_tree_are_a_figure_of_a_study(self):
        figure = '[[figure]]\nname = "placed"\nkind = "points"\ninput = "trees"\n'
        self.write_study(STUDY.split("[[figure]]")[0] + figure)
        self.assertIn("placed-umbral", self.study("out", "--dry-run").out)

    def test_jobs_beside_each_other_give_the_same(self):
        self.write_study(STUDY)
        self.study("one")
        self.study("four", "--jobs", "4")
        names = [[job["name"] for job in self.index(folder)["jobs"]] for folder in ("one", "four")]
        self.assertEqual(*names)
        svg = list((self.folder / "four/jobs").glob("*.svg"))
        self.assertEqual(len(svg), 4)

    def test_two_runs_in_one_folder_are_refused(self):
        spec = self.write_study(STUDY + BENCH.replace("rounds = 2", "rounds = 40"))
        process = start("run", spec, "-o", self.folder / "out")
        self.addCleanup(process.kill)
        self.wait_until((self.folder / "out/index.json").exists, process)
        self.fails(1, "run", spec, "-o", self.folder / "out", says="another process is running a study")
        process.terminate()
        process.communicate(timeout=PATIENCE)

    def test_every_error_comes_with_its_line(self):
        spec = self.write_study('[[attend]]\nname = "a"\ninput = "none.h5"\nsimilarty = "dot"\n[[atend]]\n')
        result = run("run", spec)
        self.assertEqual(result.status, 2)
        lines = result.err.splitlines()
        self.assertEqual([line.split(": ")[2] for line in lines], [f"{spec}:{n}" for n in (3, 4, 5)], result)
        self.assertIn("did you mean 'attend'?", lines[2])
        self.write_study(f'[[attend]]\ninput = "{TRACE}:/german/layer3"\nsimilarty = "dot"\n')
        self.fails(2, "run", spec, says="similarity")
        self.write_study("[[polish]]\nx = 1\n")
        self.fails(2, "run", spec, says=["unknown key or kind of job 'polish'", "attend, bench"])
        self.write_study(f'[[attend]]\nname = "a"\ninput = "{TRACE}:/german/layer3"\nsimilarity = "dot"\n'
                         '[report]\nquick = { similarty = "umbral" }\n')
        self.fails(2, "run", spec, says=[f"{spec}:6: quick: ", "did you mean 'similarity'?"])
        attend = f'[[attend]]\nname = "a"\ninput = "{TRACE}:/german/layer3"\nsimilarity = "dot"\n'
        figure = '[[figure]]\nkind = "heatmap"\ninput = "a"\n'
        for more, lacks in (("", "weights"), ('quantity = "logits"\n', "logits")):
            self.write_study(attend + 'keep = ["gradients"]\n' + figure + more)
            self.fails(2, "run", spec, says=f"'a' does not keep {lacks}")
        tree = '[[dataset]]\nname = "t"\nkind = "tree"\n'
        for reader in ('[[attend]]\nsimilarity = "dot"', '[[tree]]\nsimilarity = "dot"', '[[figure]]\nkind = "heatmap"'):
            self.write_study(f'{tree}{reader}\nname = "r"\ninput = "t"\n')
            self.fails(2, "run", spec, says="'t' holds no q, k and v")
        self.write_study(attend.replace('"dot"', '["dot", "dot"]'))
        self.fails(2, "run", spec, says='s.toml:4: similarity: "dot" is given twice')
        self.write_study(attend + "[quick]\na = { similarty = 1 }\n")
        self.fails(2, "run", spec, "--quick", says="s.toml:5: unknown key of attend 'similarty'")
        self.fails(1, "run", self.folder / "none.toml", says="none.toml")
        self.fails(2, "run", spec, "--shard", "3/2", says="expected I/N with 1 <= I <= N")


class Shards(RunTest):
    def test_three_with_one_killed_and_merged_equal_one_run(self):
        self.write_study(STUDY)
        self.study("whole")
        process = start("run", self.folder / "s.toml", "-o", self.folder / "part2", "--shard", "2/3")
        self.wait_until(lambda: list((self.folder / "part2").glob("jobs/*.json")), process)
        process.kill()
        process.communicate(timeout=PATIENCE)
        for shard in (1, 2, 3):
            environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(shard), "SLURM_ARRAY_TASK_COUNT": "3"}
            said = self.study(f"part{shard}", env=environment).out
            self.assertRegex(said, r"(\d) of \1 jobs of this shard done; of all jobs \1 of 9")
        parts = [self.folder / f"part{shard}" for shard in (1, 2, 3)]
        self.ok("merge", *parts, "-o", self.folder / "all")
        merged = (self.folder / "all/index.json").read_bytes()
        self.ok("merge", *parts, "-o", self.folder / "all")
        self.assertEqual((self.folder / "all/index.json").read_bytes(), merged)
        self.assertLess(sum(j["status"] == "done" for j in self.index("all")["jobs"]), JOBS)
        self.study("all")
        self.assertEqual(self.contents("all"), self.contents("whole"))

    def shards(self, count):
        """Starts the shards of s.toml in one folder."""
        return [start("run", self.folder / "s.toml", "-o", self.folder / "out", "--shard", f"{i}/{count}")
                for i in range(1, count + 1)]

    def test_one_of_one_joins_others(self):
        spec = self.write_study(STUDY + BENCH.replace("rounds = 2", "rounds = 40"))
        first = start("run", spec, "-o", self.folder / "out", "--shard", "1/2")
        self.addCleanup(first.kill)
        self.wait_until(lambda: list((self.folder / "out/jobs").glob("*.claim-*")), first)
        self.study("out", "--shard", "1/1")
        first.communicate(timeout=PATIENCE)
        self.assertEqual(first.returncode, 0)
        self.assertTrue(all(job["status"] == "done" for job in self.index("out")["jobs"]))

    def test_three_in_one_folder_with_one_killed_do_nothing_twice(self):
        self.write_study(STUDY)
        self.study("whole")
        first = self.shards(3)
        self.wait_until(lambda: list(self.folder.glob("out/jobs/*.claim-1")), first[0])
        first[1].kill()
        for process in first:
            process.communicate(timeout=PATIENCE)
        self.assertEqual([process.returncode for process in first], [0, -9, 0])
        done = {job["name"] for job in self.index("out")["jobs"] if job["status"] == "done"}
        records = [json.loads(file.read_text())["name"] for file in (self.folder / "out/jobs").glob("*.json")]
        self.assertEqual(done, set(records))  # The last to write the index knows what the others did.
        for process in self.shards(2):  # Of another number, who take what the killed one has left.
            said = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, said)
        self.study("out")
        self.assertEqual(self.contents("out"), self.contents("whole"))
        self.assertEqual(list(self.folder.glob("out/jobs/*.claim*")), [])
        lines = [line.split()[2] for line in (self.folder / "out/log.txt").read_text().splitlines()
                 if line.split()[1] == "done"]
        self.assertEqual(len(lines), len(set(lines)), lines)

    def test_waits_for_a_job_of_another_machine(self):
        self.write_study(f'[[attend]]\nname = "a"\ninput = "{TRACE}:/german/layer3"\nsimilarity = "dot"\n')
        self.study("whole")
        job = self.index("whole")["jobs"][0]
        (self.folder / "out/jobs").mkdir(parents=True)
        claim = self.folder / "out/jobs" / (job["key"] + ".claim-1")
        claim.write_text("elsewhere-1")
        process, = self.shards(1)
        self.addCleanup(process.kill)
        log = self.folder / "out/log.txt"
        self.wait_until(lambda: log.exists() and "another process computes a" in log.read_text(), process)
        self.assertFalse(list(self.folder.glob("out/jobs/*.h5")))
        claim.unlink()  # The other one has ended, without a result.
        said = process.communicate(timeout=PATIENCE)[0]
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"waits for another process, a\ndone a", said)

    def test_digests_of_large_files_are_kept_with_their_time(self):
        large = self.folder / "large.h5"
        with h5py.File(TRACE) as trace, h5py.File(large, "w") as file:
            trace.copy("german/layer3", file)
        with open(large, "r+b") as file:
            file.truncate(100 << 20)
        digest = hashlib.sha256(large.read_bytes()).hexdigest()
        self.write_study(f'[[attend]]\nname = "a"\ninput = "{large}:/layer3"\nsimilarity = "dot"\n')
        os.utime(large, (time.time() + 1000,) * 2)
        self.study("young")
        self.assertFalse((self.folder / "young/digests.json").exists())
        os.utime(large, (1e9, 1e9))
        self.study("out")
        kept = self.folder / "out/digests.json"
        entry, = json.loads(kept.read_text()).values()
        self.assertEqual(entry["sha256"], digest)
        dry = ("run", self.folder / "s.toml", "-o", self.folder / "out", "--dry-run")
        kept.write_text(kept.read_text().replace(digest, "0" * 64))
        self.assertIn("to do", self.ok(*dry).out)  # The digest that is kept is taken, wrong as it is,
        os.utime(large, (1e9, 1e9))  # until the file's time of change is another one.
        self.assertNotIn("to do", self.ok(*dry).out)

    def test_merge_names_duplicates_and_conflicts(self):
        self.write_study(STUDY + BENCH)
        self.study("a")
        self.study("b")
        result = run("merge", self.folder / "a", self.folder / "b", "-o", self.folder / "all")
        self.assertEqual(result.status, 1)
        self.assertIn("duplicate maps-dot: in ", result.out)
        self.assertIn("conflict cost: in ", result.out)
        damaged = self.folder / "b" / next(
            j["files"][0] for j in self.index("b")["jobs"] if j["name"] == "maps-dot")
        damaged.write_bytes(damaged.read_bytes()[:-1])
        result = run("merge", self.folder / "a", self.folder / "b", "-o", self.folder / "left")
        self.assertEqual(result.status, 1)
        self.assertIn(f"conflict maps-dot: in {self.folder}/b, damaged or missing; left out\n", result.out)
        self.write_study("[[bench]]\nlengths = [16]\nrounds = 1\noperators = 'dot'\n", "other.toml")
        self.study("other", spec=self.folder / "other.toml")
        self.fails(2, "merge", self.folder / "a", self.folder / "other", "-o", self.folder / "x",
                   says="different studies")
        self.fails(1, "merge", self.folder / "none", "-o", self.folder / "x", says="none")

    def test_slurms_script_is_one_for_bash(self):
        spec = self.write_study(STUDY)
        script = self.folder / "s.sh"
        self.study("out", "--slurm", script)
        text = script.read_text()
        self.assertIn("#SBATCH --array=1-5", text)
        check = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stderr)
        self.study("out", "--slurm", script)
        self.assertEqual(script.read_text(), text)

    def test_nothing_of_somebody_else_is_replaced(self):
        spec = self.write_study(STUDY)
        self.fails(2, "run", spec, "--slurm", spec, says="s.toml: is not a script of `conelab run --slurm`")
        self.fails(2, "run", spec, "--slurm", self.folder / "job.sh", "--shard", "1/2", says="are the shards")
        self.assertEqual(spec.read_text(), STUDY)
        own = self.folder / "own"
        own.mkdir()
        (own / "index.json").write_text("{}")
        (own / "study.toml").write_text("mine")
        for options in ((), ("--shard", "1/2")):
            self.fails(1, "run", spec, "-o", own, *options, says="index.json: is not what `conelab run` wrote")
        self.assertEqual(((own / "index.json").read_text(), (own / "study.toml").read_text()), ("{}", "mine"))


OWN = """
seed = 1
[[dataset]]
name = "data"
kind = "tree"
depth = 3
[[dataset]]
name = "other"
kind = "gaussian"
n = 4
[[train]]
name = "heads"
input = "data"
similarity = ["dot", "penumbral"]
dim = "2"
epochs = 5
starts = 1
seeds = [1, 2]
[[rank]]
name = "signs"
input = "data"
similarities = ["dot"]
dims = [1]
steps = 1
starts = 1
[report]
order = ["table: data: nodes", "table: heads by similarity: mass",
         "recommend: heads by similarity: mass within 2 | similarity"]
quick = { depth = 2 }
"""


class Inputs(RunTest):
    """A user's hierarchy in the place of a data set."""

    def setUp(self):
        super().setUp()
        self.spec = self.write_study(OWN)
        self.table = self.folder / "mine"
        self.table.mkdir()
        self.table = self.table / "t.csv"
        self.table.write_text("a,r\nb,r\nc,a\n")

    def keys(self, folder):
        return {job["name"]: job["key"] for job in self.index(folder)["jobs"]}

    def nodes(self, folder):
        job = next(job for job in self.index(folder)["jobs"] if job["block"] == "data")
        self.assertEqual(job["name"], "data")
        return job["measures"]["nodes"]

    def test_a_file_replaces_a_data_set(self):
        self.study("shipped", "--quick")
        self.assertEqual(self.nodes("shipped"), 7)
        given = ["--input", f"data={self.table}", "--quick"]
        self.study("own", *given)
        self.assertEqual(self.nodes("own"), 4)
        changed = {name for name, key in self.keys("own").items() if key != self.keys("shipped")[name]}
        self.assertEqual(changed, set(self.keys("own")) - {"other"})
        # Nothing is left to do; the same content elsewhere is the same job, other content is not.
        self.assertNotIn("done data", self.study("own", *given).out)
        same = self.folder / "same.csv"
        same.write_text(self.table.read_text())
        self.assertNotIn("\ndone ", self.study("own", "--input", f"data={same}", "--quick").out)
        same.write_text("a,r\nb,r\nc,b\n")
        self.assertIn("done data", self.study("own", "--input", f"data={same}", "--quick").out)
        # As the result of an import, the same hierarchy.
        self.ok("dataset", "edges", "-o", self.folder / "t.h5", "-p", f"path={self.table}")
        self.study("stored", "--input", f"data={self.folder / 't.h5'}")
        self.assertEqual(self.nodes("stored"), 4)
        self.ok("report", self.folder / "own", "-o", self.folder / "report")
        text = (self.folder / "report/index.html").read_text()
        self.assertIn("The best mass has similarity", text)
        self.ok("report", "--check", self.folder / "report")

    def test_a_folder_is_known_by_its_content(self):
        given = ["--input", f"data={self.table.parent}"]
        self.study("own", *given)
        self.assertEqual(self.nodes("own"), 2)
        self.assertNotIn("done data", self.study("own", *given).out)
        (self.table.parent / "further").write_text("x")
        self.assertIn("done data", self.study("own", *given).out)
        self.assertEqual(self.nodes("own"), 3)

    def test_shards_take_the_same_input(self):
        given = ["--input", f"data={self.table}"]
        for shard in (1, 2):
            self.study(f"part{shard}", "--shard", f"{shard}/2", *given)
        self.ok("merge", self.folder / "part1", self.folder / "part2", "-o", self.folder / "all")
        self.assertNotIn("done ", self.study("all", *given).out)
        script = self.folder / "s.sh"
        self.ok("run", self.spec, "--slurm", script, "-o", self.folder / "array", *given)
        check = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertIn(f"inputs=(--input data={self.table})", script.read_text())

    def test_errors_come_before_anything_starts(self):
        out = self.folder / "out"

        def refused(given, *says):
            self.fails(2, "run", self.spec, "-o", out, "--input", given, says=list(says))
            self.assertFalse(out.exists())

        refused("data", "expected NAME=FILE")
        refused(f"dota={self.table}", "did you mean 'data'?")
        refused(f"heads={self.table}", "known: data, other")
        refused(f"data={self.folder / 'none.csv'}", "none.csv: there is no such file")
        text = self.folder / "t.doc"
        text.write_text("a,b\n")
        refused(f"data={text}", "its ending says no kind", ".obo")
        self.table.write_text("a,b\nb,a\n")
        refused(f"data={self.table}", f"{self.spec}:3: ", str(self.table), "a cycle of 2 nodes: 'a' -> 'b' -> 'a'")


class First(RunTest):
    def test_trials_are_jobs_that_a_report_shows(self):
        spec = self.write_study('''
[[dataset]]
name = "tree"
kind = "tree"
depth = 3
[[train]]
name = "heads"
input = "tree"
similarity = ["dot", "umbral"]
seeds = ["1", "2", "3"]
epochs = 20
starts = 1
held_out = 0.3
tune = { trials = 3, by = "held_out_map", rate = [0.01, 1.0] }
[[figure]]
name = "curve"
kind = "trials"
input = "heads*"
[report]
order = [
  "table: heads by similarity: held_out_map, trials, tuned_rate",
  "table: heads.trials by similarity, trial: held_out_map",
  "compare: heads over similarity: held_out_map",
  "curve",
  "claim: Cones find more | {difference_held_out_map-umbral} > 0 | p = {p_held_out_map-umbral}",
]
''')
        self.study("out")
        jobs = self.index("out")["jobs"]
        trials = [job for job in jobs if job["block"] == "heads.trials"]
        heads = [job for job in jobs if job["block"] == "heads"]
        # Seeds share their trials.
        self.assertEqual((len(jobs), len(trials), len(heads)), (1 + 6 + 6 + 1, 6, 6))
        self.assertEqual(trials[4]["name"], "heads.trials-umbral-1")
        for job in heads:
            own = [t for t in trials if t["key"] in job["inputs"]]
            self.assertEqual({t["sweep"]["similarity"] for t in own}, {job["sweep"]["similarity"]})
            with h5py.File(self.folder / "out" / job["files"][0]) as file:
                self.assertEqual(list(file["tune/value"][:]),
                                 [t["measures"]["held_out_map"] for t in own])
        self.ok("report", self.folder / "out", "-o", self.folder / "report")
        page = (self.folder / "report/index.html").read_text()
        for text in ("tuned_rate", "difference_held_out_map", "Holm", "comparisons made: 1"):
            self.assertIn(text, page)
        self.ok("report", self.folder / "report", "--check")
        # More trials keep the first ones, and shards may run them.
        more = self.write_study(spec.read_text().replace("trials = 3", "trials = 5"), "more.toml")
        said = self.study("out", spec=more).out
        self.assertEqual(sum(line.startswith("done heads.trials") for line in said.splitlines()), 4)
        for shard in (1, 2):
            self.study(f"shard{shard}", "--shard", f"{shard}/2")
        self.ok("merge", self.folder / "shard1", self.folder / "shard2", "-o", self.folder / "both")
        self.study("both")
        self.assertEqual([(j["name"], j["digest"]) for j in self.index("both")["jobs"]],
                         [(j["name"], j["digest"]) for j in jobs])

    def test_wrong_searches_are_errors_of_their_line(self):
        block = '[[train]]\nname = "t"\ninput = "tree"\nsimilarity = "dot"\ntune = '
        tree = '[[dataset]]\nname = "tree"\nkind = "tree"\n'
        for tune, says in (("{ rate = [0.1, 1.0] }", "expected the number of trials"),
                           ("{ trials = 3, rate = 0.1 }", "expected two bounds"),
                           ("{ trials = 3, by = 'mas' }", "did you mean 'mass'"),
                           ("{ trials = 3, rat = [0.1, 1.0] }", "did you mean 'rate'")):
            spec = self.write_study(tree + block + tune + "\n")
            self.fails(2, "run", spec, "-o", self.folder / "o", says=says)

    def test_the_first_study_of_the_manual_runs(self):
        said = self.ok("run", ROOT / "resources/studies/first.toml", "--quick", "-o", self.folder / "first").out
        self.assertIn("10 of 10 jobs done", said)


if __name__ == "__main__":
    unittest.main()
