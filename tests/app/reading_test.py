"""What reading costs, and how many processors are used, by default."""
import os
import resource
import subprocess
import unittest

import h5py

from program import PROGRAM, TRACE, ProgramTest


class Reading(ProgramTest):
    def test_reads_its_layer_of_a_file_of_any_size(self):
        """The file is as good as empty on the disk; who reads it whole takes half a minute."""
        path = self.folder / "large.h5"
        with h5py.File(path, "w") as file, h5py.File(TRACE) as trace:
            trace.copy("german/layer3", file)
            early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            h5py.h5d.create(file.id, b"q", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((8, 10**8, 16)), early)
        self.assertGreater(path.stat().st_size, 5e10)
        few = {"limits": [(resource.RLIMIT_CPU, 10)]}
        for command in ("attend", "tree"):
            self.ok(command, f"{path}:/layer3", "-s", "dot", "-o", self.folder / f"{command}.h5", **few)
        self.ok("figure", "heatmap", "-i", f"{path}:/layer3", "-o", self.folder / "o.svg", **few)

    def test_uses_the_processors_that_it_may_run_on(self):
        one = min(os.sched_getaffinity(0))
        found = self.folder / "one.h5"
        subprocess.run(["taskset", "-c", str(one), PROGRAM, "attend", f"{TRACE}:/german/layer3", "-o", found,
                        "-s", "dot"], check=True, capture_output=True)
        with h5py.File(found) as file:
            self.assertEqual(file["attention/environment/threads"][()], 1)


if __name__ == "__main__":
    unittest.main()
