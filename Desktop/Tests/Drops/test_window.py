#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The search window with a synthetic keyboard and mouse: it searches an index of notes, opens them, and notes are dragged out of
it into another window.

    python3 -B Desktop/Tests/Drops/test_window.py

Needs what test_drops.py needs, and the programs and libJournal.so of a debug build.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from screen import ROOT, Screen, missing_tools, program

TITLE = "^Searchlight$"
WIDTH, HEIGHT = 800, 600
# A row of the only result: below the header, the suggestions and the heading of the group.
ROW = (200, 150)
BUNDLE = "com.searchlight.journal"


@unittest.skipIf(missing_tools("Xvfb", "xdotool", "dbus-daemon"), "Xvfb, xdotool or dbus-daemon is not installed")
class Window(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.notes = self.folder / "notes"
        self.notes.mkdir()
        for name, text in [("Tulips", "Plant the bulbs in autumn."), ("Roses", "Prune them in spring.")]:
            (self.notes / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
        bundle = self.folder / "data/searchlight/extensions" / f"{BUNDLE}.searchext"
        bundle.mkdir(parents=True)
        for file in (ROOT / "Plugins/Journal/Info.plist", program("libJournal.so")):
            shutil.copy(file, bundle / file.name)
        folders = self.folder / "config" / BUNDLE / "folders"
        folders.parent.mkdir(parents=True)
        folders.write_text(f"{self.notes}\n")
        self.make_app()
        self.screen = Screen(self.folder)
        self.addCleanup(self.screen.end)
        bus = self.screen.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1",
                                f"--address=unix:path={self.folder}/bus")
        self.screen.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.line("unix:")
        self.search("reindex", BUNDLE)

    def make_app(self):
        """An app for notes that writes down what it opens."""
        self.opened = self.folder / "opened"
        applications = self.folder / "data/applications"
        applications.mkdir(parents=True)
        script = self.folder / "editor"
        script.write_text(f'#!/bin/sh\necho "$1" >>"{self.opened}"\n')
        script.chmod(0o755)
        (applications / "editor.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Editor\nExec={script} %f\nMimeType=text/markdown;text/plain;\n")
        (self.folder / "config/mimeapps.list").write_text(
            "[Default Applications]\ntext/markdown=editor.desktop\ntext/plain=editor.desktop\n")

    def search(self, *arguments):
        done = subprocess.run([program("searchlight"), *arguments], env=self.screen.environment, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def show(self, *arguments):
        """Starts the window, and returns its program when it is visible and has the focus."""
        started = self.screen.start(program("searchlight-window"), *arguments, stderr=sys.stderr)
        window = self.screen.window(TITLE)
        self.screen.place(window, (0, 0), (WIDTH, HEIGHT))
        self.screen.xdotool("windowfocus", "--sync", window)
        return started

    def wait_for_opened(self, count):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            lines = self.opened.read_text().splitlines() if self.opened.exists() else []
            if len(lines) >= count:
                return [pathlib.Path(line).name for line in lines]
            time.sleep(0.05)
        self.screen.picture(ROOT / ".build" / "window-test.png")
        self.fail("nothing was opened; .build/window-test.png shows the screen")

    def test_typed_text_finds_and_enter_opens(self):
        self.show()
        self.screen.xdotool("type", "--delay", "20", "tulip")
        self.screen.xdotool("key", "Return")
        self.assertEqual(self.wait_for_opened(1), ["Tulips.md"])
        self.screen.xdotool("key", "ctrl+a", "type", "--delay", "20", "rose")
        self.screen.xdotool("key", "Return")
        self.assertEqual(self.wait_for_opened(2), ["Tulips.md", "Roses.md"])

    def test_escape_clears_and_then_closes(self):
        window = self.show("--search", "tulip")
        self.screen.xdotool("key", "Escape")
        time.sleep(0.3)
        self.assertIsNone(window.process.poll())
        self.screen.xdotool("key", "Escape")
        self.assertEqual(window.process.wait(60), 0)

    def test_without_a_display_it_says_so(self):
        environment = {name: value for name, value in self.screen.environment.items() if not name.endswith("DISPLAY")}
        done = subprocess.run([program("searchlight-window")], env=environment, capture_output=True, timeout=60, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no display", done.stderr)
        self.assertNotIn("WARNING", done.stderr)

    def test_a_second_start_uses_the_open_window(self):
        first = self.show()
        second = self.screen.start(program("searchlight-window"), "--search", "rose")
        self.assertEqual(second.process.wait(60), 0)
        windows = self.screen.xdotool("search", "--onlyvisible", "--name", TITLE).split()
        self.assertEqual(len(windows), 1)
        self.assertIsNone(first.process.poll())
        self.screen.xdotool("windowfocus", "--sync", windows[0], "key", "Return")
        self.assertEqual(self.wait_for_opened(1), ["Roses.md"])

    def test_a_result_is_dragged_into_another_window(self):
        self.show("--search", "tulip")
        target = self.screen.start(program("DropTarget"))
        target.line("ready")
        self.screen.place(self.screen.window("Drop target"), (WIDTH + 50, 0))
        # The row appears when the search has ended.
        time.sleep(4)
        number = self.search("search", "--numbers", "tulip").decode().split()[0]
        for media, accepted in (("text/html", "public.html"), ("text/plain;charset=utf-8", "public.plain-text")):
            with self.subTest(media=media):
                expected = self.search("drag", number, "--accept", accepted, "--output", "-")
                target.tell(media)
                target.line("accepts")
                self.screen.drag(ROW, (WIDTH + 150, 150))
                self.assertEqual(bytes.fromhex(target.line("got").split(" ")[-1]), expected)
        with self.subTest(media="text/uri-list"):
            target.tell("text/uri-list")
            target.line("accepts")
            self.screen.drag(ROW, (WIDTH + 150, 150))
            address = bytes.fromhex(target.line("got").split(" ")[-1]).decode()
            self.assertEqual(address, (self.notes / "Tulips.md").as_uri() + "\r\n")

    def test_a_picture_of_the_window_can_be_saved(self):
        picture = self.folder / "window.png"
        started = self.screen.start(program("searchlight-window"), "--screenshot", picture, "--search", "tulip")
        self.assertEqual(started.process.wait(90), 0)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))
        self.assertGreater(picture.stat().st_size, 5000)

    def test_wrong_usage_has_a_message(self):
        for arguments in (["--nonsense"], ["--search", "a", "b"]):
            done = subprocess.run([program("searchlight-window"), *arguments], env=self.screen.environment,
                                  capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (64, ""), arguments)
            self.assertIn("Error", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
