#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Drops on real apps by a synthetic mouse, from GTK's drag source of the window and from the search window: text editors, file
managers, image viewers and office programs.

    python3 -B Desktop/Tests/Shells/test_apps.py

Needs Xvfb, xdotool, a built DragSource, and for drags out of the window its programs and libJournal.so of a debug build. Tests of
apps that are not installed are skipped.
"""

import base64
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Drops"))
from notes import ROW, NotesCase
from screen import SIDE, SOURCE, Screen, missing_tools, program
from session import end_processes_of, eventually
from test_drops import content

PICTURE = pathlib.Path(__file__).resolve().parents[1] / "Drops/sample.png"
WINDOW = "^Searchlight$"
SIZE = (700, 600)
# A document in which the office programs keep text and pictures readable.
OPEN_DOCUMENT = (
    '<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2" '
    'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text/></office:body></office:document>')


def setUpModule():
    missing = missing_tools("Xvfb", "xdotool", "dbus-daemon")
    if missing:
        raise unittest.SkipTest(f"{missing} is not installed")


class AppScreen(Screen):
    """A screen with an app. Its windows have no manager, so each is placed and gets the focus here."""

    def start_app(self, title, place, *command):
        if missing_tools(str(command[0])):
            raise unittest.SkipTest(f"{command[0]} is not installed")
        self.start(*command)
        self.app, self.app_place = self.window(title), place
        # The content follows its window.
        self.xdotool("sleep", 6 if command[0] == "soffice" else 2)
        self.place(self.app, place, SIZE)
        self.xdotool("sleep", 0.5)

    def middle(self):
        return self.app_place[0] + SIZE[0] // 2, self.app_place[1] + SIZE[1] // 2

    def keys(self, *names):
        self.xdotool("windowfocus", "--sync", self.app, "key", "--delay", 100, *names)

    def wait_for_title(self, part):
        self.window(re.escape(part))

    def end(self):
        end_processes_of(self.folder)
        super().end()


class AppCase(unittest.TestCase):
    """A drag source, and an app beside it."""

    # The last lines of the source after a drop that the app accepted.
    ends = ["dropped"]
    original_name, original_content = "An original.bin", content(5000, 3)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.original = self.folder / self.original_name
        self.original.write_bytes(self.original_content)
        self.target = self.folder / "Target"
        self.target.mkdir()
        self.screen = AppScreen(self.folder, ORIGINAL=str(self.original), PICTURE=str(PICTURE))
        self.addCleanup(self.screen.end)
        self.screen.start_bus()
        self.source = self.screen.start(program("DragSource"), self.folder / "drops", stderr=sys.stderr)
        self.source.line("ready")
        self.screen.place(self.screen.window("Drag source"), SOURCE)

    def start(self, title, *command):
        self.screen.start_app(title, (400, 0), *command)

    def drop(self, sample, size=100, seed=1, menu=False):
        """Drops a sample on the app. Returns the lines of the source up to the end of the drag."""
        self.source.drain()
        self.source.tell(f"{sample} {size} {seed}")
        self.source.line("chosen")
        place = self.screen.middle()
        self.screen.drag((SOURCE[0] + SIDE // 2, SOURCE[1] + SIDE // 2), place)
        if menu:
            # The first entry of the menu that asks what to do.
            self.screen.xdotool("sleep", 1, "mousemove", place[0] + 40, place[1] + 12, "click", 1)
        lines = []
        while not lines or not lines[-1].startswith(("dropped", "ended")):
            lines.append(self.source.line("asked", "failed", "dropped", "ended"))
        return lines

    def check_dropped(self, sample, asked, **options):
        *lines, end = self.drop(sample, **options)
        self.assertEqual(lines, [f"asked {asked}"])
        self.assertIn(end, self.ends)

    def promised(self, name):
        """The file that was made for the drop."""
        return next((self.folder / "drops").rglob(name))


class Editors:
    """Tests of an app that edits texts."""

    def start_editor(self):
        self.document = self.folder / "Letter.txt"
        self.document.write_text("")
        self.start("Letter", *self.command, self.document)

    def saved(self, path, expected):
        """Saves, and checks the file. Some editors add the end of the line."""
        self.screen.keys("ctrl+s")
        eventually(lambda: path.read_bytes().rstrip(b"\n") == expected, lambda: f"only {path.read_bytes()[:200]} is saved", 10)

    def test_a_text_is_inserted(self):
        self.start_editor()
        self.check_dropped("text", "public.utf8-plain-text", size=2000, seed=5)
        self.saved(self.document, content(2000, 5))

    def test_a_promised_file_is_opened(self):
        self.start_editor()
        self.check_dropped("file", "com.example.binary", size=200, seed=7)
        self.screen.wait_for_title("Promised file.bin")
        self.edit(self.promised("Promised file.bin"), content(200, 7))
        self.assertEqual(self.document.read_bytes(), b"")

    def test_an_original_is_opened_in_place(self):
        self.start_editor()
        self.check_dropped("original", "com.example.binary")
        self.screen.wait_for_title(self.original_name)
        self.edit(self.original, self.original_content)

    def edit(self, path, expected):
        """The whole content is in the editor: it is written again with a change."""
        self.screen.keys("ctrl+End", "x")
        self.saved(path, expected + b"x")

    def test_a_refused_promise_inserts_nothing(self):
        self.start_editor()
        lines = self.drop("refused")
        self.assertEqual(lines, ["asked public.utf8-plain-text", "failed refused The app denied it.", "ended"])
        self.screen.keys("x")
        self.saved(self.document, b"x")


class Mousepad(Editors, AppCase):
    command = ["mousepad"]


class GnomeTextEditor(Editors, AppCase):
    command = ["gnome-text-editor"]


class FeatherPad(Editors, AppCase):
    command = ["featherpad", "--standalone"]


class FileManagers:
    """Tests of an app that shows a folder."""

    menu = False

    def start_manager(self):
        self.start("^Target", *self.command, self.target)

    def check_copy(self, sample, asked, name, expected, **options):
        self.start_manager()
        self.check_dropped(sample, asked, menu=self.menu, **options)
        copy = self.target / name
        eventually(lambda: copy.exists() and copy.read_bytes() == expected, lambda: f"only {list(self.target.iterdir())}", 10)
        self.assertEqual(len(list(self.target.iterdir())), 1)

    def test_a_promised_file_is_copied(self):
        self.check_copy("file", "com.example.binary", "Promised file.bin", content(200_000, 7), size=200_000, seed=7)

    def test_an_original_is_copied_and_stays(self):
        self.check_copy("original", "com.example.binary", self.original_name, self.original_content)
        self.assertEqual(self.original.read_bytes(), self.original_content)

    def test_a_picture_becomes_a_file(self):
        self.check_copy("picture", "public.png", "Promised picture.png", PICTURE.read_bytes())

    def test_a_text_is_not_accepted(self):
        self.start_manager()
        self.assertEqual(self.drop("text"), ["ended"])
        self.assertEqual(list(self.target.iterdir()), [])


class PCManFM(FileManagers, AppCase):
    command = ["pcmanfm", "--no-desktop"]


class Thunar(FileManagers, AppCase):
    command = ["thunar"]


class PCManFMQt(FileManagers, AppCase):
    command = ["pcmanfm-qt"]
    menu = True


class Nautilus(FileManagers, AppCase):
    command = ["nautilus", "--new-window"]

    test_a_text_is_not_accepted = None

    def test_a_text_becomes_a_file(self):
        self.check_copy("text", "public.utf8-plain-text", "Dropped Text.txt", content(2000, 5), size=2000, seed=5)


class Viewers:
    """Tests of an app that shows a picture."""

    original_name, original_content = "An original.png", PICTURE.read_bytes()

    def start_viewer(self):
        """A picture of one point."""
        first = self.folder / "First.png"
        first.write_bytes(base64.b64decode(
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC"))
        self.start("First", *self.command, first)

    def test_a_promised_picture_is_shown(self):
        self.start_viewer()
        self.check_dropped("picture", "public.png")
        self.screen.wait_for_title("Promised picture.png")
        self.assertEqual(self.promised("Promised picture.png").read_bytes(), PICTURE.read_bytes())

    def test_an_original_is_shown(self):
        self.start_viewer()
        self.check_dropped("original", "com.example.binary")
        self.screen.wait_for_title(self.original_name)


class EyeOfGnome(Viewers, AppCase):
    command = ["eog"]


class GPicView(Viewers, AppCase):
    command = ["gpicview"]


class Offices:
    """Tests of an app that edits documents with pictures."""

    original_name, original_content = "An original.png", PICTURE.read_bytes()

    def start_office(self):
        self.document = self.folder / f"Letter.{self.extension}"
        self.document.write_text(self.empty)
        self.start("Letter", *self.command, self.document)

    def check_saved(self, expected):
        """Saves, and checks what is inside the document, without the ends of lines."""
        self.screen.keys("ctrl+s")
        found = lambda: expected in re.sub(r"\s", "", self.document.read_text())
        eventually(found, lambda: f"only {self.document.read_text()[-500:]} is saved", 20)

    def test_a_text_is_inserted(self):
        self.start_office()
        self.check_dropped("text", "public.utf8-plain-text", size=300, seed=5)
        self.check_saved(content(300, 5).decode())

    def test_a_promised_picture_is_inserted(self):
        self.start_office()
        self.check_dropped("picture", "public.png")
        self.check_saved(self.inside(PICTURE))

    def test_an_original_picture_is_inserted(self):
        self.start_office()
        self.check_dropped("original", "com.example.binary")
        self.check_saved(self.inside(self.original))

    def inside(self, picture):
        """The whole picture inside a document."""
        return base64.b64encode(picture.read_bytes()).decode()


class AbiWord(Offices, AppCase):
    """It also asks for a type that nobody offers, and finishes the drop when that is refused, often before the content arrives."""

    ends = ["dropped", "ended"]
    command, extension = ["abiword"], "abw"
    empty = ('<?xml version="1.0"?>\n<!DOCTYPE abiword>\n<abiword template="false" xmlns="http://www.abisource.com/awml.dtd">'
             '<section><p></p></section></abiword>')


class LibreOffice(Offices, AppCase):
    command, extension, empty = ["soffice", "--nologo", "--norestore", "--nolockcheck", "--writer"], "fodt", OPEN_DOCUMENT

    def test_html_is_inserted(self):
        self.start_office()
        self.check_dropped("html", "public.html", size=300, seed=6)
        self.check_saved(content(300, 6).decode())


class FromTheWindow(NotesCase):
    """A note, which is a file in place with text and HTML, is dragged out of the search window."""

    def make_display(self, folder):
        return AppScreen(folder, size="1600x800x24")

    def drop(self, title, *command, is_gone=False):
        self.screen.start(program("searchlight-window"), "--search", "tulip", stderr=sys.stderr)
        self.screen.place(self.screen.window(WINDOW), (0, 0), (800, 600))
        self.screen.start_app(title, (850, 0), *command)
        self.note = self.notes / "Tulips.md"
        self.text = self.note.read_bytes()
        if is_gone:
            self.note.unlink()
        self.screen.drag(ROW, self.screen.middle())

    def check_editor(self, *command):
        (self.folder / "Letter.txt").write_text("")
        self.drop("Letter", *command, self.folder / "Letter.txt")
        self.screen.wait_for_title("Tulips.md")
        self.screen.keys("ctrl+Home", "x", "ctrl+s")
        eventually(lambda: self.note.read_bytes() == b"x" + self.text, lambda: f"only {self.note.read_bytes()} is saved", 10)

    def check_manager(self, *command):
        target = self.folder / "Target"
        target.mkdir()
        self.drop("^Target", *command, target)
        copy = target / "Tulips.md"
        eventually(lambda: copy.exists() and copy.read_bytes() == self.text, lambda: f"only {list(target.iterdir())}", 10)
        self.assertEqual(self.note.read_bytes(), self.text)

    def test_mousepad_opens_the_note(self):
        self.check_editor("mousepad")

    def test_gnome_text_editor_opens_the_note(self):
        self.check_editor("gnome-text-editor")

    def test_featherpad_opens_the_note(self):
        self.check_editor("featherpad", "--standalone")

    def test_pcmanfm_copies_the_note(self):
        self.check_manager("pcmanfm", "--no-desktop")

    def test_a_note_that_is_gone_does_no_harm_in_pcmanfm(self):
        """GTK sends an empty property instead of a refusal, and PCManFM 1.3 crashes at an empty list."""
        target = self.folder / "Target"
        target.mkdir()
        self.drop("^Target", "pcmanfm", "--no-desktop", target, is_gone=True)
        self.screen.xdotool("sleep", 1)
        self.assertEqual(list(target.iterdir()), [])
        self.assertIsNone(self.screen.programs[-1].process.poll())

    def test_thunar_copies_the_note(self):
        self.check_manager("thunar")

    def test_nautilus_copies_the_note(self):
        self.check_manager("nautilus", "--new-window")


if __name__ == "__main__":
    unittest.main(verbosity=1)
