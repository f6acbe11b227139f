#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A real GNOME Shell, on Wayland and on X11: its overview shows items, a click on a row opens the item, and a click on the heading
opens the window.

    python3 -B Desktop/Tests/Shells/test_gnome_shell.py
    PICTURES=FOLDER python3 -B Desktop/Tests/Shells/test_gnome_shell.py      also saves pictures

Needs gnome-shell, Xvfb, and the programs and libJournal.so of a debug build.
"""

import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from gnome import NEEDS, ScreenShell, WaylandShell
from session import Pages, eventually
from notes import NotesCase
from screen import missing_tools


class Overview(Pages):
    """The tests of both displays."""

    def setUp(self):
        super().setUp()
        self.screen.start_shell()

    def search_for(self, text):
        self.screen.show_overview()
        self.screen.type(text)

    def settled_rows(self):
        """The rows, when they do not change any more. The shell removes them for a moment after each letter."""
        def settled():
            rows = self.screen.rows()
            time.sleep(1)
            return rows == self.screen.rows() and rows
        return eventually(settled, lambda: f"no row; the shell has {self.screen.titles()}")

    def save_picture(self, name):
        if folder := os.environ.get("PICTURES"):
            self.screen.picture(pathlib.Path(folder) / f"gnome-{self.screen.kind}-{name}.png")

    def test_rows_are_shown_and_opened(self):
        self.search_for("tulip")
        rows = self.settled_rows()
        self.assertEqual([row[0] for row in rows], ["Tulips"])
        self.assertIn("bulbs", rows[0][1])
        self.save_picture("results")
        self.screen.click("ours().display._content.get_children()[0]")
        self.assertEqual(self.wait_for_opened(1), ["Tulips.md"])
        eventually(lambda: not self.screen.evaluate("Main.overview.visible;"), "the overview stayed")

    def test_the_heading_opens_the_window(self):
        self.search_for("tulip")
        self.settled_rows()
        self.screen.click("ours().display.providerInfo")
        eventually(lambda: "Searchlight" in self.screen.titles(), lambda: f"no window, only {self.screen.titles()}")
        time.sleep(3)
        self.save_picture("window")

    def test_an_address_is_opened_in_the_default_browser(self):
        self.add_page("GNOME")
        self.search_for("magnolia")
        self.settled_rows()
        self.screen.click("ours().display._content.get_children()[0]")
        self.check_page()

    def test_a_search_goes_on_while_the_user_types(self):
        """Each letter refines the search, and the rows are those of the whole text at the end."""
        self.search_for("ros")
        self.screen.type("es")
        eventually(lambda: [row[0] for row in self.screen.rows()] == ["Roses"], lambda: f"only {self.screen.rows()}")
        self.screen.type("xyz")
        eventually(lambda: not self.screen.rows(), lambda: f"still {self.screen.rows()}")


@unittest.skipIf(missing_tools(*NEEDS), "gnome-shell, dbus-daemon or gdbus is not installed")
class OnWayland(Overview, NotesCase):
    def make_display(self, folder):
        return WaylandShell(folder)


@unittest.skipIf(missing_tools(*NEEDS, "Xvfb"), "gnome-shell, Xvfb, dbus-daemon or gdbus is not installed")
class OnX11(Overview, NotesCase):
    def make_display(self, folder):
        return ScreenShell(folder)


if __name__ == "__main__":
    unittest.main(verbosity=1)
