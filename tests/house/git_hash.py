"""The recorded commit follows the sources from build to build, and nothing is touched without need.

`python3 tests/house/git_hash.py BUILD_DIR`; needs git.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/GitHash.cmake"


@unittest.skipUnless(shutil.which("git"), "needs git")
class GitHash(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="conelab-git-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.header = self.folder / "build/git_hash.h"
        (self.folder / "core").mkdir()
        (self.folder / ".gitignore").write_text("/build\n")
        self.source = self.folder / "core/a.cpp"
        self.source.write_text("int a;\n")

    def git(self, *words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True,
                              text=True)
        return done.stdout.strip()

    def build(self, git="git"):
        subprocess.run(["cmake", f"-DGIT={git}", f"-DSOURCE={self.folder}", f"-DHEADER={self.header}",
                        "-P", SCRIPT], check=True)
        return self.header.read_text().split('"')[1]

    def test_follows_commits_and_edits(self):
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(self.build(), commit)
        written = self.header.stat().st_mtime_ns
        (self.folder / "README.md").write_text("no part of the program\n")
        self.assertEqual(self.build(), commit)
        self.assertEqual(self.header.stat().st_mtime_ns, written)
        self.source.write_text("int b;\n")
        self.assertEqual(self.build(), commit + "-dirty")
        self.git("commit", "-qam", "second")
        second = self.build()
        self.assertEqual(second, self.git("rev-parse", "--short=12", "HEAD"))
        (self.folder / "core/new.cpp").write_text("int c;\n")
        self.assertEqual(self.build(), second + "-dirty")

    def test_of_sources_without_a_repository(self):
        self.assertEqual(self.build(git=""), "unknown")

    def test_of_an_archive(self):
        root = SCRIPT.parents[1]
        shutil.copytree(root / "cmake", self.folder / "cmake")
        shutil.copy(root / ".gitattributes", self.folder)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        archived = subprocess.run(["git", "archive", "HEAD", "cmake/commit.txt"], cwd=self.folder, check=True,
                                  capture_output=True).stdout
        shutil.rmtree(self.folder / ".git")
        subprocess.run(["tar", "-x"], input=archived, cwd=self.folder, check=True)
        self.assertEqual(self.build(), commit)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
