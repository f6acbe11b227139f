#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The search window on Wayland, with a virtual keyboard and mouse: it searches, shows and opens notes, and notes are dragged out of
it into another window.

    python3 -B Desktop/Tests/Drops/test_wayland.py

Needs what test_window.py needs, except an X server, and sway, wtype and grim.
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from notes import NotesCase
from screen import missing_tools, program
from wayland import NEEDS, Compositor


@unittest.skipIf(missing_tools(*NEEDS, "dbus-daemon"), "sway, wtype, grim or dbus-daemon is not installed")
class Wayland(NotesCase):
    def make_display(self, folder):
        return Compositor(folder)

    def show(self, *arguments):
        """Starts the window, and returns its program when it is visible. Then it has the focus."""
        started = self.screen.start(program("searchlight-window"), *arguments, stderr=sys.stderr)
        self.screen.window("Searchlight")
        return started

    def test_typed_text_finds_and_enter_opens(self):
        window = self.show()
        self.screen.type("tulip", "-k", "Return")
        self.assertEqual(self.wait_for_opened(1), ["Tulips.md"])
        self.screen.type("-M", "ctrl", "a", "-m", "ctrl", "rose", "-k", "Return")
        self.assertEqual(self.wait_for_opened(2), ["Tulips.md", "Roses.md"])
        self.screen.type("-k", "Escape", "-s", 300, "-k", "Escape")
        self.assertEqual(window.process.wait(20), 0)

    def test_a_result_is_dragged_into_another_window(self):
        self.show("--search", "tulip")
        target = self.screen.start(program("DropTarget"))
        target.line("ready")
        self.screen.window("Drop target")
        self.check_drags(target, (1200, 300))


if __name__ == "__main__":
    unittest.main(verbosity=1)
