"""The desktop program as a terminal starts and stops it; needs a display."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from program import PATIENCE, ROOT, TRACE, ProgramTest, handles, start


@unittest.skipUnless(os.environ.get("DISPLAY"), "needs a display")
class Gui(ProgramTest):
    def setUp(self):
        super().setUp()
        self.hang_ups(signal.SIG_DFL)
        self.state = self.folder / "conelab"

    def open(self, *files, **environment):
        """The window, from a home of its own."""
        process = start("gui", *files, env=dict(os.environ, XDG_CONFIG_HOME=str(self.folder), **environment))
        self.addCleanup(process.kill)
        return process

    def wait_until_open(self, process, path):
        """The trace is read once it is among the recent files."""
        recent = self.state / "recent.txt"
        end = time.monotonic() + PATIENCE  # a window that never opens it runs on
        while not recent.exists() or str(path) not in recent.read_text():
            self.assertIsNone(process.poll(), "the window has gone")
            self.assertLess(time.monotonic(), end, "the trace was not opened")
            time.sleep(0.05)

    def forget(self):
        """Removes what a window left, which the next one would seem to have written."""
        for file in self.state.iterdir():
            file.unlink()

    def expect_interrupted(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(err.decode(), "conelab: error: interrupted\n")

    def test_signals_keep_the_session_and_end_with_130(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = self.open(f"{TRACE}:/german/layer3")
                self.wait_until_open(process, TRACE)
                process.send_signal(number)
                self.expect_interrupted(process)
                saved = json.loads((self.state / "autosave.json").read_text())
                self.assertEqual(saved["session"]["trace"]["group"], "/german/layer3")
                self.forget()

    def test_a_signal_while_it_starts(self):
        process = self.open()
        self.wait_until(lambda: handles(process, signal.SIGINT), process)
        process.send_signal(signal.SIGINT)
        self.expect_interrupted(process)

    def test_a_terminal_that_closes_twice_still_keeps_the_session(self):
        process = self.open(f"{TRACE}:/german/layer3")
        self.wait_until_open(process, TRACE)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)  # As a session ends: not a second Ctrl-C.
        self.expect_interrupted(process)
        self.assertTrue((self.state / "autosave.json").exists())

    @unittest.skipUnless(shutil.which("Xvfb"), "Xvfb is not installed")
    def test_a_display_that_goes_away_ends_it_in_one_line(self):
        read, write = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1200x24"],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        os.close(write)
        with os.fdopen(read) as number:
            display = number.readline().strip()
        process = self.open(f"{TRACE}:/german/layer3", DISPLAY=f":{display}")
        self.wait_until_open(process, TRACE)
        server.kill()
        err = process.communicate(timeout=PATIENCE)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("conelab: error: the display has gone\n", err)  # Xlib may add lines.

    def test_several_files_open(self):
        tree = self.folder / "tree.h5"
        self.ok("tree", f"{TRACE}:/german/layer3", "-o", tree, "-s", "umbral")
        process = self.open(tree, f"{TRACE}:/german/layer0")
        self.wait_until_open(process, TRACE)
        process.send_signal(signal.SIGTERM)
        self.expect_interrupted(process)
        session = json.loads((self.state / "autosave.json").read_text())["session"]
        self.assertEqual(session["figure"]["inputs"], [str(tree)])
        self.assertEqual(session["trace"]["group"], "/german/layer0")

    def test_sessions_of_earlier_versions_open(self):
        for folder in sorted((ROOT / "tests/files/corpus").glob("*/session.json")):
            with self.subTest(folder.parent.name):
                session = json.loads(folder.read_text())
                # Values that are no defaults, by the names of the earlier version.
                chosen = session["session"]
                chosen["trace"] |= {"file": str(TRACE), "group": "/english/layer3"}
                chosen["maps"]["scale"], chosen["cones"]["family"] = "row", "umbral"
                path = self.folder / "session.json"
                path.write_text(json.dumps(session))
                process = self.open(path)
                self.wait_until_open(process, TRACE)
                process.send_signal(signal.SIGTERM)
                self.expect_interrupted(process)
                saved = json.loads((self.state / "autosave.json").read_text())["session"]
                for part in ("trace", "maps", "cones"):
                    self.assertLessEqual(chosen[part].items(), saved[part].items())
                self.forget()


if __name__ == "__main__":
    unittest.main()
