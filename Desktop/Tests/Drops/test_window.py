#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The search window with a synthetic keyboard and mouse: it searches an index of notes, opens them, and notes are dragged out of
it into another window.

    python3 -B Desktop/Tests/Drops/test_window.py

Needs what test_drops.py needs, and the programs and libJournal.so of a debug build.
"""

import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from notes import NotesCase
from screen import ROOT, Screen, missing_tools, program

TITLE = "^Searchlight$"
WIDTH, HEIGHT = 800, 600
# A colour that no style has.
COLOUR = (0, 160, 96)


def missing_libraries(*names):
    """The libraries that are not installed."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    return [name for name in names if name not in known]


def pdf(colour, text):
    """A PDF file with one page, which is filled with a colour below its text."""
    red, green, blue = (part / 255 for part in colour)
    drawing = f"{red} {green} {blue} rg 0 0 400 320 re f 0 g BT /F1 20 Tf 20 350 Td ({text}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(drawing)}>>stream\n{drawing}\nendstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    file, positions = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        positions.append(len(file))
        file += f"{number} 0 obj{each}endobj\n"
    table = "".join(f"{position:010} 00000 n \n" for position in positions)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(file)}\n%%EOF\n"
    return f"{file}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def count_pixels(picture, colour):
    """The number of pixels of a colour in a picture without transparency."""
    script = ("import sys, gi; gi.require_version('GdkPixbuf', '2.0'); from gi.repository import GdkPixbuf; "
              "pixels = GdkPixbuf.Pixbuf.new_from_file(sys.argv[1]).add_alpha(False, 0, 0, 0).get_pixels(); "
              "print(pixels.count(bytes([*map(int, sys.argv[2:]), 255])))")
    done = subprocess.run(["/usr/bin/python3", "-c", script, picture, *map(str, colour)], capture_output=True, text=True)
    return int(done.stdout or 0)


@unittest.skipIf(missing_tools("Xvfb", "xdotool", "dbus-daemon"), "Xvfb, xdotool or dbus-daemon is not installed")
class Window(NotesCase):
    def make_display(self, folder):
        return Screen(folder)

    def show(self, *arguments):
        """Starts the window, and returns its program when it is visible and has the focus."""
        started = self.screen.start(program("searchlight-window"), *arguments, stderr=sys.stderr)
        window = self.screen.window(TITLE)
        self.screen.place(window, (0, 0), (WIDTH, HEIGHT))
        self.screen.xdotool("windowfocus", "--sync", window)
        return started

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
        self.check_drags(target, (WIDTH + 150, 150))

    def test_a_picture_of_the_window_can_be_saved(self):
        picture = self.folder / "window.png"
        started = self.screen.start(program("searchlight-window"), "--screenshot", picture, "--search", "tulip")
        self.assertEqual(started.process.wait(90), 0)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))
        self.assertGreater(picture.stat().st_size, 5000)

    def test_a_picture_that_cannot_be_written_is_an_error(self):
        done = subprocess.run(
            [program("searchlight-window"), "--screenshot", self.folder / "nowhere/window.png", "--search", "tulip"],
            env=self.screen.environment, capture_output=True, timeout=90, text=True)
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertIn("cannot be written", done.stderr)

    def test_the_first_page_of_a_pdf_is_shown(self):
        if missing_libraries("libpoppler-glib.so.8", "libwebkitgtk-6.0.so.4"):
            self.skipTest("Poppler or WebKitGTK 6 is not installed")
        documents = self.folder / "documents"
        documents.mkdir()
        (documents / "Catalogue.pdf").write_bytes(pdf(COLOUR, "Catalogue of bulbs"))
        self.install("com.searchlight.documents", ROOT / "Plugins/Content/Documents/Info.plist",
                     program("libDocuments.so"), documents)
        self.search("reindex", "com.searchlight.documents")
        picture = self.folder / "window.png"
        started = self.screen.start(program("searchlight-window"), "--screenshot", picture, "--search", "catalogue")
        self.assertEqual(started.process.wait(90), 0)
        self.assertGreater(count_pixels(picture, COLOUR), 10_000)

    def test_wrong_usage_has_a_message(self):
        for arguments in (["--nonsense"], ["--search", "a", "b"]):
            done = subprocess.run([program("searchlight-window"), *arguments], env=self.screen.environment,
                                  capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (64, ""), arguments)
            self.assertIn("Error", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
