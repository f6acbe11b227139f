#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A real KRunner with KWin, on X11 and on Wayland: it finds items, Return opens one, and its buttons copy and show the file.

    python3 -B Desktop/Tests/Shells/test_krunner.py
    PICTURES=FOLDER python3 -B Desktop/Tests/Shells/test_krunner.py      also saves pictures

Needs plasma-workspace, kwin-x11, kwin-wayland, qtwayland5, imagemagick, Xvfb, xdotool, and the programs and libJournal.so of a debug
build.
"""

import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kde import ScreenRunner, WaylandRunner
from session import Pages, eventually
from notes import NotesCase
from screen import missing_tools

# The position of the second button of the first row.
SECOND_BUTTON = (878, 57)
FOLDER = pathlib.Path(__file__).resolve().parent


class Launcher(Pages):
    """The tests of both displays."""

    def setUp(self):
        super().setUp()
        self.screen.start_shell()

    def search_for(self, text):
        self.screen.show()
        self.screen.wait_for_focus()
        self.screen.type(text)
        # KRunner waits for the runners of the last letter.
        time.sleep(3)

    def save_picture(self, name):
        if folder := os.environ.get("PICTURES"):
            self.screen.picture(pathlib.Path(folder) / f"krunner-{self.screen.kind}-{name}.png")

    def test_return_opens_a_result(self):
        self.search_for("tulip")
        self.save_picture("results")
        self.screen.press("Return")
        self.assertEqual(self.wait_for_opened(1), ["Tulips.md"])

    def test_an_address_is_opened_in_the_default_browser(self):
        self.add_page("KDE")
        self.search_for("magnolia")
        self.screen.press("Return")
        self.check_page()

    def test_the_first_button_copies_the_path(self):
        self.screen.start("klipper")
        self.screen.wait_for_name("org.kde.klipper")
        self.search_for("tulip")
        self.screen.press("Shift", "Return")
        eventually(lambda: "Tulips.md" in self.screen.clipboard(), lambda: f"the clipboard has {self.screen.clipboard()}")
        self.assertIn(str(self.notes / "Tulips.md"), self.screen.clipboard())

    def test_the_second_button_shows_the_file_in_the_file_manager(self):
        manager = self.screen.start("/usr/bin/python3", "-B", FOLDER / "file_manager.py")
        manager.line("ready")
        self.search_for("tulip")
        self.screen.click(SECOND_BUTTON)
        self.assertEqual(manager.line("shown"), f"shown {(self.notes / 'Tulips.md').as_uri()}")


@unittest.skipIf(missing_tools(*ScreenRunner.needs, "dbus-daemon"), f"one of {', '.join(ScreenRunner.needs)} is not installed")
class OnX11(Launcher, NotesCase):
    def make_display(self, folder):
        return ScreenRunner(folder)


@unittest.skipIf(missing_tools(*WaylandRunner.needs, "dbus-daemon"), f"one of {', '.join(WaylandRunner.needs)} is not installed")
class OnWayland(Launcher, NotesCase):
    def make_display(self, folder):
        return WaylandRunner(folder)


if __name__ == "__main__":
    unittest.main(verbosity=1)
