# SPDX-License-Identifier: Apache-2.0
"""A home with notes, their extension and an app that opens them, for tests of the search window on a display."""

import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from screen import ROOT, program

BUNDLE = "com.searchlight.journal"
# A row of the only result: below the header, the suggestions and the heading of the group.
ROW = (200, 150)


class NotesCase(unittest.TestCase):
    """A test on a display, which make_display makes, with an index of notes."""

    def make_display(self, folder):
        raise NotImplementedError

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.notes = self.folder / "notes"
        self.notes.mkdir()
        for name, text in [("Tulips", "Plant the bulbs in autumn."), ("Roses", "Prune them in spring.")]:
            (self.notes / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
        self.install(BUNDLE, ROOT / "Plugins/Journal/Info.plist", program("libJournal.so"), self.notes)
        self.make_app()
        self.screen = self.make_display(self.folder)
        self.addCleanup(self.screen.end)
        self.screen.start_bus()
        self.search("reindex", BUNDLE)

    def install(self, identifier, manifest, library, folder):
        """Installs an extension that reads one folder."""
        bundle = self.folder / "data/searchlight/extensions" / f"{identifier}.searchext"
        bundle.mkdir(parents=True)
        for file in (manifest, library):
            shutil.copy(file, bundle / file.name)
        folders = self.folder / "config" / identifier / "folders"
        folders.parent.mkdir(parents=True)
        folders.write_text(f"{folder}\n")

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

    def wait_for_opened(self, count):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            lines = self.opened.read_text().splitlines() if self.opened.exists() else []
            if len(lines) >= count:
                return [pathlib.Path(line).name for line in lines]
            time.sleep(0.05)
        self.screen.picture(ROOT / ".build" / "window-test.png")
        self.fail("nothing was opened; .build/window-test.png shows the screen")

    def check_drags(self, target, place):
        """Drags the only result, of the search for tulips, to a place in a drop target, once for each type."""
        number = self.search("search", "--numbers", "tulip").decode().split()[0]
        address = ((self.notes / "Tulips.md").as_uri() + "\r\n").encode()
        for media, accepted in (("text/html", "public.html"), ("text/plain;charset=utf-8", "public.plain-text"),
                                ("text/uri-list", None)):
            with self.subTest(media=media):
                expected = self.search("drag", number, "--accept", accepted, "--output", "-") if accepted else address
                target.tell(media)
                target.line("accepts")
                line = self.dropped(target, place)
                self.assertEqual(bytes.fromhex(line.split(" ")[-1]), expected)

    def dropped(self, target, place):
        """Drags the row, again if it is not shown yet. Returns the line of the target."""
        for _ in range(4):
            self.screen.drag(ROW, place)
            try:
                return target.line("got", patience=5)
            except AssertionError as error:
                problem = error
        self.screen.picture(ROOT / ".build" / "window-test.png")
        raise problem
