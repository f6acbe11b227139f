#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Apps in a real Flatpak: Searchlight starts them and continues activities in them, they reach the service through the proxy of
their sandbox, and files are dropped on them through the real document portal.

    python3 -B Desktop/Tests/Shells/test_flatpak.py

Needs flatpak, xdg-desktop-portal, Xvfb, xdotool, /dev/fuse, and the programs, libJournal.so, DropTarget and the example app friends
of a debug build. The tests make their own runtime and use no network.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from flatpak import NEEDS, Flatpaks, own_runtime_folder
from session import NAME, RealSession, eventually, run
from notes import NotesCase
from screen import ROOT, SIDE, Program, Screen, missing_tools, program

FRIENDS, EDITOR, DROPS, STRANGER = "com.example.Friends", "org.example.Editor", "org.example.Drops", "org.example.Stranger"
TALK = f"--talk-name={NAME}1"
FOLDER = pathlib.Path(__file__).resolve().parent
PORTAL = pathlib.Path("/usr/libexec/xdg-document-portal")


def setUpModule():
    problem = own_runtime_folder()
    if problem:
        raise unittest.SkipTest(problem)


class SandboxScreen(RealSession, Screen):
    """A screen with a session bus that finds the Flatpaks of the test's user."""

    kind = "x11"

    def start_bus(self):
        self.prepare_session("GNOME", self.kind)
        # Flatpak's own folders are the same in each sandbox.
        self.environment["XDG_RUNTIME_DIR"] = f"/run/user/{os.getuid()}"
        exports = self.folder / "data/flatpak/exports/share"
        self.environment["XDG_DATA_DIRS"] = f"{exports}:{self.environment['XDG_DATA_DIRS']}"
        # No reindex of the service's own: the extensions here do not see the data in the sandboxes. It waits for a processor without
        # work, and for a terabyte of free space.
        policy = self.folder / "policy.json"
        policy.write_text(json.dumps({
            "disk-floor.closes": 1 << 40, "disk-floor.opens": 1 << 40, "cpu-busy.closes": 0.01, "cpu-busy.opens": 0.01}))
        self.environment["SEARCHLIGHT_SCHEDULING"] = str(policy)
        super().start_bus()
        self.share_variables("DISPLAY")


@unittest.skipIf(missing_tools(*NEEDS, "Xvfb", "xdotool", "dbus-daemon") or not PORTAL.exists() or not os.path.exists("/dev/fuse"),
                 "flatpak, xdg-desktop-portal, Xvfb, xdotool, dbus-daemon or /dev/fuse is missing")
class FlatpakCase(NotesCase):
    """A test with a Flatpak installation. A subclass names the programs of its runtime."""

    programs = []
    runtime_files = {}

    def make_display(self, folder):
        return SandboxScreen(folder)

    def setUp(self):
        super().setUp()
        self.flatpaks = Flatpaks(self.folder, self.screen.environment)
        self.addCleanup(self.flatpaks.end)
        self.flatpaks.install_runtime(*self.programs, files=self.runtime_files)

    def install_extension(self, bundle, continues=True):
        """The extension of an app, for its rights and its continuation. It is outside the sandbox, as all extensions are."""
        folder = self.folder / "data/searchlight/extensions" / f"{bundle}.searchext"
        folder.mkdir(parents=True)
        text = (ROOT / "Examples/Friends/Packaging/Extension.plist").read_text().replace(FRIENDS, bundle)
        if not continues:
            text = text.replace("<key>CoreSpotlightContinuation</key>\n    <true/>", "")
        (folder / "Info.plist").write_text(text)
        shutil.copy(program("libFriendIndex.so"), folder)

    def in_sandbox(self, identifier, *words, check=True, variables=()):
        """Runs a program in a sandbox of an app."""
        options = [f"--env={each}" for each in variables]
        return run(self.screen.environment, "flatpak", "run", f"--command={words[0]}", *options, identifier, *words[1:], check=check)

    def command(self, *arguments, status=0):
        done = subprocess.run([program("searchlight"), *arguments], env=self.screen.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout} {done.stderr}")
        return done.stdout

    def open(self, *arguments):
        return json.loads(self.command(*arguments, "--json"))

    def install_editor(self, *variables, entry=""):
        """An app that writes down what it opens, and some of its variables."""
        script = '#!/bin/sh\n{ echo "$1"; cat "${1#file://}"; ' + "".join(f'echo "{each}=${each}"; ' for each in variables)
        self.flatpaks.install_app(
            EDITOR, f"Name=Editor\nExec=editor %u\nMimeType=text/markdown;x-scheme-handler/tel;\n{entry}",
            texts={"bin/editor": script + '} >>"$XDG_DATA_HOME/opened" 2>/dev/null\nexit 0\n'}, service="/app/bin/editor" if entry else None)

    def own_file(self, identifier, name):
        """A file below the home folder of a sandbox."""
        return self.folder / ".var/app" / identifier / name

    def lines(self, path):
        return path.read_text().splitlines() if path.exists() else []


class Opening(FlatpakCase):
    programs = [program("friends"), program("TestApp")]

    def setUp(self):
        super().setUp()
        self.start_service()
        entry = "Name={}\nExec={}\nDBusActivatable=true\nTerminal=false\n"
        files = {"bin/friends": program("friends"), "bin/Info.plist": ROOT / "Examples/Friends/Packaging/App.plist",
                 "bin/libCoreSpotlight.so": program("libCoreSpotlight.so")}
        self.flatpaks.install_app(FRIENDS, entry.format("Friends", "friends"), files=files, permissions=[TALK],
                                  service="/app/bin/friends --gapplication-service")
        self.install_extension(FRIENDS)

    def start_service(self):
        self.screen.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName", f"{NAME}1", "0")
        self.screen.wait_for_name(f"{NAME}1")

    def shown(self):
        file = self.own_file(FRIENDS, f"data/{FRIENDS}/shown.json")
        return json.loads(file.read_text()) if file.exists() else []

    def number(self, text):
        return eventually(lambda: self.command("search", "--numbers", text).split(), f"no item for {text}", 20)[0]

    def test_an_activatable_app_continues_items_and_searches(self):
        """The bus starts “flatpak run”, and the app fetches the activity through the proxy."""
        self.in_sandbox(FRIENDS, "friends", "add", "Anna", "Alder", "--phone", "123")
        number = self.number("alder")
        plan = self.open("open", number, "--dry-run")
        self.assertEqual((plan["way"], plan["delivery"]), ("busActivation", "activity"))
        opened = self.open("open", number)
        self.assertEqual((opened["way"], opened["outcome"]), ("busActivation", "continued"))
        eventually(lambda: "friend anna-alder" in self.shown(), lambda: f"only {self.shown()}")
        self.assertIn(FRIENDS, run(self.screen.environment, "flatpak", "ps", "--columns=application"))
        # The app runs now.
        again = self.open("continue", FRIENDS, "alder")
        self.assertEqual((again["way"], again["outcome"]), ("runningApp", "continued"))
        eventually(lambda: "search alder: anna-alder" in self.shown(), lambda: f"only {self.shown()}")

    def test_a_plain_app_continues_items_and_searches(self):
        """The command of the exported entry starts the app."""
        script = '#!/bin/sh\nexec /usr/bin/TestApp continue "$XDG_DATA_HOME/log"\n'
        self.flatpaks.install_app(STRANGER, "Name=Plain\nExec=plain %u\n", texts={"bin/plain": script}, permissions=[TALK])
        self.install_extension(STRANGER)
        self.in_sandbox(STRANGER, "TestApp", "donate", "2")
        opened = self.open("open", self.number("item 1"))
        log = self.own_file(STRANGER, "data/log")
        self.assertEqual((opened["way"], opened["outcome"]), ("desktopEntry", "continued"), opened)
        self.assertEqual(opened["entry"], f"{STRANGER}.desktop")
        self.assertEqual(self.open("continue", STRANGER, "two words")["outcome"], "continued")
        self.assertEqual(self.lines(log), [
            "com.apple.corespotlightitem kCSSearchableItemActivityIdentifier item 1",
            "com.apple.corespotlightquery kCSSearchQueryString two words"])

    def make_default(self, *types):
        (self.folder / "config/mimeapps.list").write_text(
            "[Default Applications]\n" + "".join(f"{each}={EDITOR}.desktop\n" for each in types))

    def test_a_file_is_opened_through_the_document_portal(self):
        for entry in ("", "DBusActivatable=true\n"):
            with self.subTest(entry=entry):
                self.install_editor(entry=entry)
                self.make_default("text/markdown", "text/plain")
                opened = self.open("open", self.number("tulip"))
                self.assertEqual((opened["way"], opened["entry"]), ("defaultHandler", f"{EDITOR}.desktop"))
                file = self.own_file(EDITOR, "data/opened")
                lines = eventually(lambda: len(self.lines(file)) == 4 and self.lines(file), lambda: f"only {self.lines(file)}")
                # The sandbox sees the file only in the folder of the portal.
                self.assertRegex(lines[0], r"/doc/[0-9a-f]+/Tulips\.md$")
                self.assertEqual(lines[1:], (self.notes / "Tulips.md").read_text().splitlines())
                file.unlink()

    def test_an_address_is_opened_by_a_default_app_in_a_flatpak(self):
        self.install_editor()
        self.make_default("x-scheme-handler/tel")
        self.in_sandbox(FRIENDS, "friends", "add", "Berta", "--phone", "123")
        number = self.number("berta")
        self.screen.call(f"{NAME}1", "/com/searchlight", "com.searchlight.Search1.Open", number.removeprefix("@"), "{'action': <'call'>}")
        file = self.own_file(EDITOR, "data/opened")
        self.assertEqual(eventually(lambda: self.lines(file), "nothing was opened"), ["tel:123"])
        self.assertIn(f"{EDITOR}.desktop", run(self.screen.environment, "gio", "mime", "x-scheme-handler/tel"))

    # Rights

    def test_an_app_acts_only_for_its_own_bundle(self):
        self.in_sandbox(FRIENDS, "friends", "add", "Anna")
        donated = self.in_sandbox(FRIENDS, "TestApp", "donate", "2")
        self.assertIn("acknowledged 1\nstate 1\n", donated)
        listed = [item["uniqueIdentifier"] for item in self.open("list", "--bundle", FRIENDS)["items"]]
        self.assertLessEqual({"item 0", "item 1"}, set(listed))
        lie = self.in_sandbox(FRIENDS, "TestApp", "donate", "1", variables=["SEARCHLIGHT_BUNDLE_IDENTIFIER=com.searchlight.journal"])
        self.assertRegex(lie, f"error.*{FRIENDS}")
        # Only the app's own items, although the notes are in the index too.
        self.assertEqual(self.in_sandbox(FRIENDS, "TestApp", "query", "title == '*'").strip(), f"found {len(listed)}")
        self.assertEqual(len(json.loads(self.command("search", "tulip", "--json"))["items"]), 1)

    def test_launchers_interfaces_are_refused(self):
        for method, *arguments in (
                ("com.searchlight.Search1.Search", "tulip", "{}"), ("com.searchlight.Search1.Get", "1"),
                ("com.searchlight.Search1.Open", "1", "{}"),
                ("org.gnome.Shell.SearchProvider2.GetInitialResultSet", "['tulip']"), ("org.kde.krunner1.Match", "tulip")):
            done = subprocess.run(
                ["flatpak", "run", "--command=gdbus", FRIENDS, "call", "--session", "--dest", f"{NAME}1", "--object-path",
                 "/com/searchlight", "--method", method, *arguments], env=self.screen.environment, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0, method)
            self.assertNotIn("Tulip", done.stdout + done.stderr)
            self.assertRegex(done.stderr, r"AccessDenied|Refused", method)

    def test_without_the_permission_the_service_is_out_of_reach(self):
        self.flatpaks.install_app(STRANGER, "Name=Plain\nExec=plain\n", texts={"bin/plain": "#!/bin/sh\n"})
        self.assertEqual(self.in_sandbox(STRANGER, "TestApp", "available").strip(), "false")
        self.assertIn("error", self.in_sandbox(STRANGER, "TestApp", "donate", "1"))


class UnderSystemd(FlatpakCase):
    """The service has the restrictions of its unit, and was started before the desktop. A mock of systemd starts the apps."""

    def make_display(self, folder):
        display = super().make_display(folder)
        programs = folder / "manager"
        programs.mkdir()
        (programs / "systemd-run").symlink_to(FOLDER / "service_manager.py")
        display.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
        display.environment["SERVICE_MANAGER"] = str(folder / "manager.socket")
        return display

    def test_a_flatpak_and_the_default_apps_of_the_desktop_are_used(self):
        self.install_editor("SESSION_MARK")
        (self.folder / "config/mimeapps.list").unlink()
        (self.folder / "config/gnome-mimeapps.list").write_text(
            f"[Default Applications]\ntext/markdown={EDITOR}.desktop\ntext/plain={EDITOR}.desktop\n")
        number = self.search("search", "--numbers", "tulip").decode().split()[0].removeprefix("@")
        service = {name: value for name, value in self.screen.environment.items() if name not in ("DISPLAY", "XDG_CURRENT_DESKTOP")}
        manager = Program(
            ["/usr/bin/python3", "-B", FOLDER / "service_manager.py", service["SERVICE_MANAGER"], "SESSION_MARK=session",
             f"DISPLAY={self.screen.environment['DISPLAY']}", "XDG_CURRENT_DESKTOP=GNOME"], service, stderr=sys.stderr)
        self.screen.programs.append(manager)
        manager.line("ready")
        daemon = Program(["/usr/bin/python3", "-B", FOLDER / "confined.py", program("searchlightd")], service, stderr=sys.stderr)
        self.screen.programs.append(daemon)
        self.screen.wait_for_name(f"{NAME}1")
        # As GNOME Shell calls it, without variables.
        self.screen.call(f"{NAME}1", "/com/searchlight", "org.gnome.Shell.SearchProvider2.ActivateResult", f"item:{number}",
                         "['tulip']", "0")
        file = self.own_file(EDITOR, "data/opened")
        lines = eventually(lambda: len(self.lines(file)) == 5 and self.lines(file), lambda: f"only {self.lines(file)}", 20)
        self.assertRegex(lines[0], r"/doc/[0-9a-f]+/Tulips\.md$")
        self.assertEqual(lines[-1], "SESSION_MARK=session")
        unit = json.loads(manager.line("unit").removeprefix("unit "))
        self.assertTrue(unit[0].endswith("/flatpak"), unit)


class Dropping(FlatpakCase):
    programs = [program("DropTarget")]
    runtime_files = {
        "share/fonts/truetype/dejavu": "/usr/share/fonts/truetype/dejavu", "share/glib-2.0/schemas": "/usr/share/glib-2.0/schemas"}

    def test_a_file_is_dropped_through_the_real_portal(self):
        """The window offers a key, and the target in the sandbox gets the file for it."""
        self.flatpaks.install_app(DROPS, "Name=Drops\nExec=DropTarget\n", texts={"bin/unused": ""},
                                  permissions=["--socket=x11", "--share=ipc"])
        self.screen.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName",
                         "org.freedesktop.portal.Documents", "0")
        self.screen.start(program("searchlight-window"), "--search", "tulip", stderr=sys.stderr)
        self.screen.place(self.screen.window("^Searchlight$"), (0, 0), (800, 600))
        target = self.screen.start("flatpak", "run", "--command=DropTarget", DROPS, stderr=sys.stderr)
        target.line("ready")
        self.screen.place(self.screen.window("Drop target"), (850, 0))
        target.tell("files")
        target.line("accepts")
        line = self.dropped(target, (850 + SIDE // 2, SIDE // 2))
        _, _, path, data = line.split(" ")
        self.assertRegex(path, r"/doc/[0-9a-f]+/Tulips\.md$")
        self.assertEqual(bytes.fromhex(data), (self.notes / "Tulips.md").read_bytes())
        # The key itself, and what the portal gives for it inside the sandbox.
        target.tell("application/vnd.portal.filetransfer")
        target.line("accepts")
        key = bytes.fromhex(self.dropped(target, (850 + SIDE // 2, SIDE // 2)).split(" ")[-1]).rstrip(b"\0").decode()
        answer = self.in_sandbox(
            DROPS, "gdbus", "call", "--session", "--dest", "org.freedesktop.portal.Documents", "--object-path",
            "/org/freedesktop/portal/documents", "--method", "org.freedesktop.portal.FileTransfer.RetrieveFiles", key, "{}")
        self.assertIn("/Tulips.md", answer)
        self.assertNotIn(str(self.notes), answer)
        inside = answer.split("'")[1]
        self.assertEqual(self.in_sandbox(DROPS, "cat", inside), (self.notes / "Tulips.md").read_text())
        # The note itself stays invisible.
        self.assertNotIn("Plant", self.in_sandbox(DROPS, "cat", str(self.notes / "Tulips.md"), check=False))


if __name__ == "__main__":
    unittest.main(verbosity=1)
