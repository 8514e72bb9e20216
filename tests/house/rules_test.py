"""That the house rules find what they are for: one breach of each kind in a house of a few files."""
import pathlib
import tempfile
import unittest

import headers
import rules


class Includes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, rules, "ROOT", rules.ROOT)
        rules.ROOT = pathlib.Path(folder.name).resolve()
        for name in ("core/base/error.h", "core/base/names.h", "gpu/check.h", "widgets/theme/theme.h",
                     "app/output.h", "tests/helpers/fake.h"):
            path = rules.ROOT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("// What it is for.\n#pragma once\n")

    def breaches(self, name, *includes):
        return list(rules.include_breaches(name, "".join(f"#include {i}\n" for i in includes)))

    def test_ours_in_quotes_from_the_root_are_right(self):
        self.assertEqual(self.breaches("core/base/names.cpp", '"core/base/error.h"', "<vector>"), [])
        self.assertEqual(self.breaches("app/a.cpp", '"gpu/check.h"', '"widgets/theme/theme.h"'), [])

    def test_folders_that_may_not_be_included(self):
        for name, target in (("core/base/a.cpp", "widgets/theme/theme.h"),
                             ("core/base/a.cpp", "app/output.h"),
                             ("core/base/a.cpp", "tests/helpers/fake.h"),
                             ("widgets/a.cpp", "gpu/check.h"), ("widgets/a.cpp", "app/output.h"),
                             ("gpu/a.cpp", "widgets/theme/theme.h")):
            wanted = f"{name}: {name.split('/')[0]} may not include {target}"
            roundabout = f"core/../{target}"
            relative = "../" * name.count("/") + target
            for include in (f'"{target}"', f"<{target}>", f'"{roundabout}"', f"<{roundabout}>",
                            f'"{relative}"'):
                self.assertIn(wanted, self.breaches(name, include), include)

    def test_ours_otherwise_than_in_quotes_from_the_root(self):
        for include in ('"error.h"', "<core/base/error.h>", '"../base/error.h"'):
            self.assertEqual(self.breaches("core/base/names.cpp", include),
                             ['core/base/names.cpp: include "core/base/error.h" in quotes and by its '
                              'path from the root'], include)
        self.assertEqual(self.breaches("core/a.cpp", '"core/base/eror.h"'),
                         ["core/a.cpp: core/base/eror.h does not exist"])

    def test_libraries_stay_out_whatever_the_quotes(self):
        for include in ("<QWidget>", '"QWidget"', '"CLI/CLI.hpp"', '"imgui.h"'):
            self.assertEqual(len(self.breaches("core/a.cpp", include)), 1, include)
        self.assertEqual(self.breaches("widgets/a.cpp", "<QWidget>", '"imgui.h"'), [])
        # In angle brackets a name is a library's, also beside a file of ours that has it.
        self.assertEqual(self.breaches("core/base/names.cpp", "<error.h>"), [])


class FoldersOfCore(unittest.TestCase):
    def breaches(self, rows, graph):
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(setattr, rules, "ROOT", rules.ROOT)
            rules.ROOT = pathlib.Path(folder)
            (rules.ROOT / "core").mkdir()
            (rules.ROOT / rules.CORE_ROWS).write_text(rows)
            return list(rules.core_breaches(graph))

    ROWS = "conelab_folder(base)\nconelab_folder(files base)\n"

    def test_what_the_rows_allow(self):
        graph = {"core/files/a.h": ["core/base/b.h", "core/files/c.h"], "core/base/b.h": []}
        self.assertEqual(self.breaches(self.ROWS, graph), [])

    def test_what_they_forbid(self):
        graph = {"core/base/b.h": ["core/files/a.h"], "core/files/a.h": []}
        self.assertEqual(self.breaches(self.ROWS, graph),
                         ["core/base/b.h includes core/files/a.h: base may not include files "
                          "(core/CMakeLists.txt)"])

    def test_a_folder_without_a_row(self):
        self.assertEqual(self.breaches(self.ROWS, {"core/tree/a.h": []}),
                         ["core/CMakeLists.txt: no row for the folder core/tree"])

    def test_an_exception_as_long_as_it_is_needed(self):
        rows = self.ROWS + "conelab_folder(tree base)\nconelab_may_include(tree files)  # until ...\n"
        graph = {"core/tree/a.h": ["core/files/a.h"]}
        self.assertEqual(self.breaches(rows, graph), [])
        self.assertEqual(len(self.breaches(rows, {"core/tree/a.h": []})), 1)

    def test_rows_that_form_a_cycle(self):
        rows = "conelab_folder(base files)\nconelab_folder(files base)\n"
        self.assertIn("include cycle: base -> files -> base", self.breaches(rows, {}))


class FoldersOfAll(unittest.TestCase):
    def breaches(self, graph):
        return list(rules.cycles(rules.folder_graph(graph)))

    def test_folders_that_include_each_other_through_different_files(self):
        graph = {"gpu/a.cpp": ["gpu/hopper/fast.h"], "gpu/hopper/fast.cpp": ["gpu/fold.h"]}
        self.assertEqual(self.breaches(graph), ["include cycle: gpu -> gpu/hopper -> gpu"])

    def test_a_folder_below_both(self):
        graph = {"gpu/a.cpp": ["gpu/hopper/fast.h", "gpu/tile/b.h", "gpu/c.h"],
                 "gpu/hopper/fast.cpp": ["gpu/tile/b.h"]}
        self.assertEqual(self.breaches(graph), [])


class LibraryHeaders(unittest.TestCase):
    def missing(self, text, other=""):
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(setattr, headers, "ROOT", headers.ROOT)
            headers.ROOT = pathlib.Path(folder)
            (headers.ROOT / "a.h").write_text(text)
            (headers.ROOT / "b.h").write_text(other)
            return headers.missing("a.h")

    def test_names_without_what_declares_them(self):
        for name, header in (("atomic<int> x;", "atomic"), ("mutex x;", "mutex"),
                             ("lock_guard x(y);", "mutex"), ("vector<int> x;", "vector"),
                             ("initializer_list<int> x;", "initializer_list")):
            self.assertEqual(len(self.missing(f"std::{name}")), 1, name)
            self.assertEqual(self.missing(f"#include <{header}>\nstd::{name}"), [], name)
        self.assertEqual(len(self.missing("fmt::format(text);")), 1)
        self.assertEqual(self.missing("#include <fmt/format.h>\nfmt::format(text);"), [])

    def test_what_another_header_of_ours_includes(self):
        text = '#include "b.h"\nstd::atomic<int> x; fmt::format(text);'
        self.assertEqual(self.missing(text, "#include <atomic>\n#include <fmt/core.h>\n"), [])
        self.assertEqual(self.missing("// std::atomic and fmt:: in a comment"), [])


if __name__ == "__main__":
    unittest.main()
