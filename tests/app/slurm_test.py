"""The script of `run --slurm` on a real Slurm of one node, which this test starts in its own folder.

Skipped without Slurm or without root; `./dev test --slurm` installs Debian's slurm-wlm and munge."""
import os
import shutil
import socket
import subprocess
import time
import unittest

from program import PATIENCE, TRACE, ProgramTest

STUDY = f"""
[[attend]]
name = "maps"
input = "{TRACE}:/german/layer3"
similarity = ["dot", "penumbral", "umbral"]
keep = ["weights"]
[[bench]]
name = "cost"
operators = "dot"
lengths = [512, 1024]
heads = [4]
passes = ["forward"]
rounds = 40
warm_only = true
[[figure]]
name = "both"
kind = "heatmap"
input = ["maps", "maps"]
"""
CONF = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmdPort={other_port}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/ctld.pid
SlurmdPidFile={dir}/d.pid
SlurmctldLogFile={dir}/ctld.log
SlurmdLogFile={dir}/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipUnless(shutil.which("slurmctld") and shutil.which("munged") and os.geteuid() == 0,
                     "needs Slurm, munge and root")
class Slurm(ProgramTest):
    def setUp(self):
        super().setUp()
        node = self.folder / "slurm"
        for name in ("", "state", "spool", "munge"):
            (node / name).mkdir()
        os.chmod(self.folder, 0o755)
        host = socket.gethostname().split(".")[0]
        (node / "slurm.conf").write_text(CONF.format(dir=node, host=host, port=free_port(), cpus=os.cpu_count(),
                                                     other_port=free_port()))
        (node / "munge/key").write_bytes(os.urandom(1024))
        os.chmod(node / "munge/key", 0o400)
        os.chmod(node / "munge", 0o700)
        self.environment = {**os.environ, "SLURM_CONF": str(node / "slurm.conf")}
        munged = self.daemon("munged", "--foreground", "--force", f"--key-file={node}/munge/key",
                             f"--socket={node}/munge.sock", f"--pid-file={node}/munged.pid",
                             f"--log-file={node}/munged.log", f"--seed-file={node}/seed")
        self.wait_until((node / "munge.sock").exists, munged)
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D")
        self.until(lambda: self.slurm("sinfo", "-h", "-o", "%t") == "idle", "no node became idle")

    def daemon(self, *words):
        process = subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def slurm(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True).stdout.strip()

    def until(self, arrived, otherwise):
        end = time.monotonic() + PATIENCE
        while not arrived():
            self.assertLess(time.monotonic(), end, otherwise)
            time.sleep(0.2)

    def queue_is_empty(self):
        """Slurm lets a task that it starts again wait for two minutes, unless it is told otherwise."""
        waiting = self.slurm("squeue", "-h", "-t", "PENDING", "-o", "%i %r").splitlines()
        for task in [line.split()[0] for line in waiting if line.endswith("BeginTime")]:
            self.slurm("scontrol", "update", f"JobId={task}", "StartTime=now")
        return not self.slurm("squeue", "-h")

    def test_an_array_with_a_requeued_task_gives_what_one_run_gives(self):
        self.write_study(STUDY)
        out, script = self.folder / "out", self.folder / "s.sh"
        self.ok("run", self.folder / "s.toml", "-o", out, "--slurm", script)
        number = self.slurm("sbatch", "--parsable", script)
        # The fourth task measures, in the folder that all share; its samples show that it is in the middle.
        self.until(lambda: list(out.glob("jobs/*.parts/case-*")), "the benchmark did not begin")
        self.slurm("scontrol", "requeue", f"{number}_4")
        self.until(self.queue_is_empty, "the queue did not become empty")
        index = self.index("out")
        logs = "".join(log.read_text() for log in out.glob("*.log"))
        self.assertEqual([job["status"] for job in index["jobs"]], ["done"] * 13, logs)
        self.ok("run", self.folder / "s.toml", "-o", self.folder / "whole")
        for job in self.index("whole")["jobs"]:
            if job["kind"] != "bench":
                for file in job["files"]:
                    self.assertEqual((out / file).read_bytes(), (self.folder / "whole" / file).read_bytes())


if __name__ == "__main__":
    unittest.main()
