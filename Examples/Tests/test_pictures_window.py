# SPDX-License-Identifier: Apache-2.0
"""The window of Pictures: the bus starts it for an opened picture, and it continues searches. Needs an X server without a screen
(Xvfb) and xdotool."""

import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "Desktop/Tests/Drops")]
from screen import Screen, missing_tools, program as desktop_program
from world import World, rounds


# The second tile, below the opened picture, in a window of 480 by 480.
TILE = (190, 335)


@unittest.skipIf(missing_tools("Xvfb", "xdotool"), "Xvfb or xdotool is not installed")
class PicturesWindow(World):
    folder_name = "PicturesWindow"
    identifier = "com.example.Pictures"

    def prepare(self):
        self.screen = Screen(self.root)
        self.addCleanup(self.screen.end)
        for name in ("DISPLAY", "GDK_BACKEND", "GSK_RENDERER", "GTK_A11Y", "NO_AT_BRIDGE", "GSETTINGS_BACKEND"):
            self.environment[name] = self.screen.environment[name]

    def install(self):
        # The desktop entry of the window replaces that of the program for terminals.
        super().install("Pictures", "PicturesWindow")

    @property
    def program(self):
        return self.root / "bin/pictures"

    def wait_for_title(self, title):
        """Waits for the window with a title, and returns its number."""
        return self.screen.window(f"^{title}$")

    def add_houses(self):
        files = [self.root / f"{number}.pxl" for number in range(3)]
        for number, file in enumerate(files):
            file.write_text(f"House {number}\nA roof, number{number}\n\n..RR..\n.RRRR.\n.WNNW.\n")
        self.app("add", *files)

    @rounds
    def test_the_window_opens_pictures_and_continues_searches(self, _):
        self.add_houses()
        self.lose_index()
        self.reindex()
        self.assertEqual(self.json("open", self.number("house-1"))["outcome"], "continued")
        self.wait_for_title("House 1 — Pictures")
        # The running window gets the next activities.
        self.command("open", self.number("house-2"))
        self.wait_for_title("House 2 — Pictures")
        self.command("continue", self.identifier, "number0")
        self.wait_for_title("1 for “number0” — Pictures")
        self.end_started_app()

    @unittest.skipUnless(desktop_program("DropTarget").exists(), "Scripts/swift-in Desktop build makes DropTarget")
    def test_a_picture_is_dragged_out_of_the_window(self):
        self.add_houses()
        self.command("open", self.number("house-2"))
        self.screen.place(self.wait_for_title("House 2 — Pictures"), (0, 0), (480, 480))
        target = self.screen.start(desktop_program("DropTarget"))
        target.line("ready")
        self.screen.place(self.screen.window("Drop target"), (600, 0))
        copy = self.command("drag", self.number("house-1"), "--accept", "public.png", "--output", "-", text=False)
        for media, expected in (("image/png", copy),
                                ("text/uri-list", (self.data / "pictures/house-1.pxl").as_uri().encode() + b"\r\n")):
            target.tell(media)
            target.line("accepts")
            self.screen.drag(TILE, (700, 100))
            with self.subTest(media=media):
                self.assertEqual(bytes.fromhex(target.line("got").split(" ")[-1]), expected)


if __name__ == "__main__":
    unittest.main()
