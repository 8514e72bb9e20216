#!/usr/bin/env python3
"""Debian packages of what is built: the same bytes twice, with everything in them, of one version.

    packages.py BUILD   # BUILD is the build folder, with everything built; nothing is compiled again

Exit status 77: debhelper is missing, or BUILD has sanitizers.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "resources/packaging/package.py"
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text()
                    .partition("project(conelab")[2])[1]
# A path in each package that nothing else proves.
CONTENTS = {
    "conelab": ["bin/conelab", "share/applications/conelab.desktop", "share/mime/packages/conelab.xml",
                "share/metainfo/org.conelab.conelab.metainfo.xml", "share/man/man1/conelab-attend.1.gz",
                "share/icons/hicolor/scalable/apps/conelab.svg", "share/conelab/minilm_trace.h5",
                "share/bash-completion/completions/conelab"],
    "conelab-nox": ["bin/conelab", "share/man/man1/conelab.1.gz", "share/conelab/mammals_trace.h5"],
    "libconelab-dev": ["include/conelab.h", "include/conelab/core/operators/operator.h", "/libconelab.so",
                       "/cmake/conelab/conelabConfig.cmake", "/pkgconfig/conelab.pc",
                       "/pkgconfig/conelab-engine.pc"]}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}"
    return done.stdout


def plain_user():
    """Returns a command that runs others as somebody who is not root, where there are namespaces of users."""
    plain = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if not shutil.which("unshare") or subprocess.run([*plain, "true"], capture_output=True).returncode != 0:
        return []
    return plain


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="conelab-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.first = cls.pack(cls.folder / "first", LANG="C")

    @classmethod
    def pack(cls, out, *within, **environment):
        (out / "tmp").mkdir(parents=True)
        run(*within, sys.executable, PACKAGE, "debs", BUILD, out,
            env={**os.environ, "TMPDIR": str(out / "tmp"), "DPKG_DEB_COMPRESSOR_LEVEL": "1", **environment})
        return {path.name: path.read_bytes() for path in out.glob("*.deb")}

    def test_same_bytes_twice(self):
        time.sleep(1.1)  # Files have times in seconds.
        other = self.pack(self.folder / "at another/place", *plain_user(), LANG="de_DE.UTF-8", LC_ALL="tr_TR.UTF-8",
                          TZ="Asia/Tokyo", USER="somebody")
        self.assertEqual(set(self.first), {f"{name}_{VERSION}_{self.architecture()}.deb" for name in CONTENTS})
        for name, content in self.first.items():
            self.assertEqual(content, other[name], name)

    def architecture(self):
        return run("dpkg", "--print-architecture").strip()

    def test_contents(self):
        for name, paths in CONTENTS.items():
            package = self.folder / "first" / f"{name}_{VERSION}_{self.architecture()}.deb"
            listed = run("dpkg-deb", "--contents", package)
            for path in paths:
                self.assertRegex(listed, re.escape(path) + r"( ->.*)?\n", name)
            self.assertNotRegex(listed, r"[^/]root/[^r]|nobody", name)
            depends = run("dpkg-deb", "--field", package, "Depends")
            self.assertEqual("libqt6" in depends, name == "conelab", depends)

    @unittest.skipIf(sys.version_info >= (3, 12), "from 3.12 on, packaging looks for no other Python")
    def test_a_folder_that_may_not_be_read_has_no_python(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0)
        self.addCleanup(closed.chmod, 0o700)
        found = run(*plain_user(), sys.executable, "-c", "import package; print(package.pythons())",
                    env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1",
                         "PATH": f"{closed}:{os.environ['PATH']}"})
        self.assertIn(sys.executable, found)

    def test_nothing_names_the_place_where_it_was_built(self):
        for file in ["bin/conelab", "nox/bin/conelab", "core/libconelab.so",
                     *(path.relative_to(BUILD) for path in (BUILD / "core").glob("libconelab_*.a"))]:
            content = (BUILD / file).read_bytes()
            for place in (SOURCE, BUILD):
                self.assertFalse(bytes(place) in content, f"{file} names {place}")


class Version(unittest.TestCase):
    def test_is_the_same_everywhere(self):
        self.assertEqual(run(BUILD / "bin/conelab", "--version"), f"conelab {VERSION}\n")
        library = ctypes.CDLL(str(BUILD / "core/libconelab.so"))
        library.conelab_version.restype = ctypes.c_char_p
        self.assertEqual(library.conelab_version().decode(), VERSION)
        self.assertIn(f"version: {VERSION}\n", (SOURCE / "CITATION.cff").read_text())
        self.assertRegex((SOURCE / "CHANGELOG.md").read_text(), rf"\A[^#]*# [^#]*## {re.escape(VERSION)} ")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "a.h5"
            run(BUILD / "bin/conelab", "dataset", "tree", "-p", "depth=1", "-o", out)
            found = json.loads(run(BUILD / "bin/conelab", "inspect", out, "--json"))
            self.assertEqual(found["creator"], f"conelab {VERSION}")


class Completion(unittest.TestCase):
    """What bash offers after words of a command line; the last is the one that is typed."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="conelab-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(BUILD / "bin/conelab", "pages", "-o", cls.folder)

    def offered(self, *words):
        typed = " ".join(f"'{word}'" for word in words)
        script = self.folder / "bash-completion/completions/conelab"
        return run("bash", "-c", f'. {script}; COMP_WORDS=({typed}) COMP_CWORD={len(words) - 1}; '
                   '_conelab; echo "${COMPREPLY[*]}"').split()

    def test_offers_what_the_tables_have(self):
        self.assertEqual(self.offered("conelab", "att"), ["attend"])
        self.assertEqual(self.offered("conelab", "attend", "-s", "penumbral-"), ["penumbral-finite"])
        self.assertEqual(self.offered("conelab", "bench", "--operators", "dot,umb"),
                         ["dot,umbral", "dot,umbral-finite"])
        self.assertEqual(self.offered("conelab", "attend", "--sim"), ["--similarity"])
        self.assertEqual(self.offered("conelab", "attend", "-p", "gam"), ["gamma="])
        self.assertEqual(self.offered("conelab", "figure", "heat"), ["heatmap"])
        self.assertEqual(self.offered("conelab", "help", "ope"), ["operators"])
        self.assertEqual(self.offered("conelab", "figure", "--caption-in", "fi"), ["file"])
        self.assertEqual(self.offered("conelab", "attend", "no such"), [])

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_pages_are_sound(self):
        pages = sorted((self.folder / "man/man1").iterdir())
        self.assertGreater(len(pages), 10)
        for page in pages:
            told = run("man", "--warnings", "-l", "-Tutf8", page,
                       env={**os.environ, "MANROFFSEQ": "", "LC_ALL": "C.UTF-8"})
            self.assertNotIn("warning", told, page.name)
            self.assertIn("User Commands", told)


if __name__ == "__main__":
    if not shutil.which("dh") or re.search(r"^CONELAB_SANITIZE:\w+=.+$", (BUILD / "CMakeCache.txt").read_text(), re.M):
        sys.exit(77)
    unittest.main()
