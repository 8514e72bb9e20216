"""`attend` on several ranks: the same bytes for any number of them, what each reads, and failures.

Skipped where there is no mpirun, or in a build without MPI."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

from program import PATIENCE, PROGRAM, ProgramTest, children, run

MPIRUN = shutil.which("mpirun")
WORDS = ["--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def start_ranks(ranks, *arguments, **options):
    return subprocess.Popen([MPIRUN, *WORDS, "-n", str(ranks), *map(str, arguments)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def run_ranks(ranks, *arguments):
    process = start_ranks(ranks, PROGRAM, *arguments)
    process.out, process.err = process.communicate(timeout=PATIENCE)
    return process


def has_mpi():
    if MPIRUN is None:
        return False
    return "has no MPI" not in run_ranks(2, "attend", "missing.npz", "-o", "out.h5").err


def own_errors(process):
    """The lines of the program among those of mpirun."""
    return [line for line in process.err.splitlines() if line.startswith("conelab: error")]


def arrays_of(path):
    found = {}
    with h5py.File(path) as file:
        def keep(name, item):
            if isinstance(item, h5py.Dataset) and name != "sha256":
                found[name] = np.asarray(item).tobytes() if item.dtype != object else item[()]
        file.visititems(keep)
    return found


@unittest.skipUnless(has_mpi(), "no mpirun, or a build without MPI")
class Ranks(ProgramTest):
    def tensors(self, n=331, keys=None, heads=4, key_heads=2, d=8, dtype="f4", name="in.h5"):
        numbers = np.random.default_rng(3)
        draw = lambda *shape: numbers.standard_normal(shape).astype(dtype)
        arrays = dict(q=draw(heads, n, d), k=draw(key_heads, keys or n, d),
                      v=draw(key_heads, keys or n, 5), output_grad=draw(heads, n, 5))
        path = self.folder / name
        if name.endswith(".npz"):
            np.savez(path, **arrays)
        else:
            self.write(name, **arrays)
        return path

    def attend(self, ranks, source, *options, out=None):
        out = self.folder / (out or f"out{ranks}.h5")
        process = run_ranks(ranks, "attend", source, "-o", out, "--json", "--threads", 1, *options)
        self.assertEqual(process.returncode, 0, process.err)
        return json.loads(process.out), arrays_of(out)

    def test_any_number_of_ranks_writes_the_same_bytes(self):
        source = self.tensors()
        masks = [["causal"], ["window,causal", "-p", "window=40"], ["full"]]
        for mask, similarity in zip(masks, ["penumbral", "dot", "umbral"]):
            options = ["-s", similarity, "--mask", *mask, "--keep", "output,lse,gradients"]
            one, expected = self.attend(1, source, *options)
            self.assertEqual((one["ranks"], one["sent_bytes"]), (1, 0))
            for ranks in (2, 3, 4, 7):
                summary, found = self.attend(ranks, source, *options)
                self.assertEqual(summary["ranks"], ranks)
                self.assertEqual(summary["sent_bytes"], summary["received_bytes"])
                self.assertGreater(summary["sent_bytes"], 0)
                self.assertEqual(found.keys(), expected.keys())
                for name, numbers in expected.items():
                    self.assertEqual(found[name], numbers, f"{name} of {ranks} ranks")
            alone = self.folder / "alone.h5"
            self.ok("attend", source, "-o", alone, *options)
            with h5py.File(alone) as a, h5py.File(self.folder / "out4.h5") as b:
                for name in ("output/output", "output/lse", "gradients/q", "gradients/k",
                             "gradients/v", "gradients/gamma"):
                    if f"attention/{name}" not in a:
                        continue
                    np.testing.assert_allclose(b["attention"][name], a["attention"][name],
                                               rtol=2e-4, atol=2e-4, err_msg=name)

    def test_lengths_and_segments(self):
        source = self.tensors(keys=400)
        for options in (["--mask", "padding", "--lengths", 250],
                        ["--mask", "segment", "-p", "segment=50", "-p", "memory=30"]):
            options += ["-s", "dot", "--keep", "output,gradients", "--dtype", "f64"]
            _, expected = self.attend(1, source, *options)
            _, found = self.attend(3, source, *options)
            self.assertEqual(found, expected)

    def test_every_format_is_read_by_rows(self):
        _, expected = self.attend(3, self.tensors(), "-s", "dot")
        npz = self.tensors(name="in.npz")
        arrays = dict(np.load(npz))
        deflated = self.folder / "deflated.npz"
        np.savez_compressed(deflated, **arrays)
        words = []
        for key in "qkv":
            turn = np.asfortranarray if key == "k" else np.ascontiguousarray
            np.save(self.folder / f"{key}.npy", turn(arrays[key]))
            words.append(f"--{key}={self.folder / key}.npy")
        safe, at, header = self.folder / "in.safetensors", 0, {}
        for key, array in arrays.items():
            header[key] = {"dtype": "F32", "shape": array.shape,
                           "data_offsets": [at, at + array.nbytes]}
            at += array.nbytes
        text = json.dumps(header).encode()
        safe.write_bytes(len(text).to_bytes(8, "little") + text
                         + b"".join(a.tobytes() for a in arrays.values()))
        turned, packed = self.folder / "turned.h5", self.folder / "packed.h5"
        with h5py.File(turned, "w") as a, h5py.File(packed, "w") as b:
            for key, array in arrays.items():
                a[key] = array.transpose(1, 0, 2)
                b.create_dataset(key, data=array, chunks=(1, 50, 4)[:2] + (array.shape[2],),
                                 compression="gzip", shuffle=True)
        for source, *options in ([npz], [deflated], words, [safe], [packed],
                                 [turned, "--axes", "token,head,feature"]):
            _, found = self.attend(3, source, *options, "-s", "dot")
            # A .npy file has no output_grad, which is part of the digest.
            for arrays_found in (found, expected):
                arrays_found.pop("attention/environment/input_blocks_sha256", None)
            self.assertEqual(found, expected, source)

    def test_benchmarks_have_rows_by_number_of_ranks(self):
        out = self.folder / "bench.h5"
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        result = run("bench", "-o", out, "--operators", "dot,star", "--lengths", "64,128",
                     "--heads", 1, "--passes", "forward,forward+backward", "--threads", 1,
                     "--ranks", "1,2", "--rounds", 1, "--warm-only", "--controls", 0,
                     env={**os.environ, **allowed})
        self.assertEqual(result.status, 0, result)
        with h5py.File(out) as file:
            runtime = file["bench/runtime"]
            self.assertEqual(list(runtime["ranks"]), [1, 2])
            dot, star = np.squeeze(runtime["status"])
            self.assertTrue((dot == 0).all())
            self.assertTrue((star[:, 0] == 0).all() and (star[:, 1] == 1).all())
            self.assertTrue((np.squeeze(runtime["time"])[0] > 0).all())
        drawn = run("figure", "scaling", "-o", self.folder / "ranks.svg", "--input", out, "-p", "x=ranks",
                    "-p", "operators=dot", "-p", "networks=10", "-p", "length=1048576")
        self.assertEqual(drawn.status, 0, drawn)
        self.assertIn("dot, predicted for 10 Gbit/s", (self.folder / "ranks.svg").read_text())

    def test_what_one_process_computes_is_refused(self):
        source = self.tensors()
        for options, word in ((["--keep", "weights"], "--keep weights"), (["--head", 0], "--head"),
                              (["--mask", "explicit"], "--mask explicit"),
                              (["--mask", "strided"], "strided"),
                              (["--mask", "full", "--weights", "softmax", "-p", "axis=query"], "axis=query")):
            process = run_ranks(2, "attend", source, "-o", self.folder / "no.h5", "-s", "dot",
                                *options)
            self.assertEqual(process.returncode, 2, process.err)
            self.assertEqual(len(own_errors(process)), 1, process.err)
            self.assertIn(word, own_errors(process)[0])
        self.assertFalse((self.folder / "no.h5").exists())
        process = run_ranks(2, "tree", source, "-o", self.folder / "no.h5")
        self.assertEqual(process.returncode, 2)
        process = run_ranks(2, "bench", "-o", self.folder / "no.h5")
        self.assertIn("--ranks 1,2 starts the ranks", own_errors(process)[0])
        self.assertEqual(len(own_errors(process)), 1, process.err)

    def test_a_missing_file_is_one_line(self):
        process = run_ranks(3, "attend", self.folder / "missing.npz", "-o", self.folder / "no.h5",
                            "-s", "dot")
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(own_errors(process)), 1, process.err)
        self.assertIn("missing.npz", own_errors(process)[0])

    def different(self, of_rank_1):
        """Two ranks with different command lines."""
        common = ["attend", self.tensors(name="a.h5"), "-o", self.folder / "no.h5", "-s", "dot"]
        other = [*common[:1], of_rank_1, *common[2:]]
        start = time.monotonic()
        process = start_ranks(1, PROGRAM, *common, ":", "-n", 1, PROGRAM, *other)
        process.out, process.err = process.communicate(timeout=PATIENCE)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(process.returncode, 1, process.err)
        self.assertEqual(len(own_errors(process)), 1, process.err)
        self.assertFalse((self.folder / "no.h5").exists())
        return own_errors(process)[0]

    def test_different_files_are_refused(self):
        self.tensors(n=330, name="b.h5")
        self.assertIn("rank 1 has another", self.different(self.folder / "b.h5"))

    def test_a_rank_that_fails_ends_all(self):
        self.assertIn("rank 1: ", self.different(self.folder / "missing.h5"))

    def test_a_full_disk_is_one_line(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        source = self.tensors()
        script = ["sh", "-c", f'ulimit -f 8; exec "{PROGRAM}" "$@"', "sh"]
        process = start_ranks(2, *script, "attend", source, "-o", self.folder / "no.h5", "-s", "dot")
        process.out, process.err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, process.err)
        self.assertEqual(len(own_errors(process)), 1, process.err)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["in.h5"])

    def stopped(self, stop):
        source = self.tensors(n=30000, heads=4, d=64)
        process = start_ranks(2, PROGRAM, "attend", source, "-o", self.folder / "no.h5", "-s", "dot",
                              "--threads", 1)
        deadline = time.monotonic() + PATIENCE
        while len(children(process)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2)
        self.assertIsNone(process.poll())
        start = time.monotonic()
        stop(process)
        process.out, process.err = process.communicate(timeout=PATIENCE)
        self.assertLess(time.monotonic() - start, 30)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["in.h5"])

    def test_a_rank_that_dies_ends_all(self):
        self.stopped(lambda process: os.kill(int(children(process)[1]), signal.SIGKILL))

    def test_ctrl_c_ends_all(self):
        self.stopped(lambda process: process.send_signal(signal.SIGINT))


class WithoutMpirun(ProgramTest):
    def test_one_process_sends_nothing(self):
        source = self.folder / "in.npz"
        np.savez(source, q=np.ones((5, 3), "f4"))
        summary = run("attend", source, "-o", self.folder / "out.h5", "-s", "dot", "--json").json()
        self.assertEqual((summary["ranks"], summary["sent_bytes"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
