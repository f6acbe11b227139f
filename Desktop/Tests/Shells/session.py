# SPDX-License-Identifier: Apache-2.0
"""The files of an installed Searchlight, and a session whose shell is a real one, for tests with the shells of desktops."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Drops"))
from screen import ROOT, program

NAME = "com.searchlight.Searchlight"
PATIENCE = 60.0


def install(share):
    """Installs what a desktop looks for. The programs stay in the build folder."""
    desktop = ROOT / "Packaging/desktop"
    for name, place in (("search-provider.ini", "gnome-shell/search-providers"), ("svg", "icons/hicolor/scalable/apps"),
                        ("krunner.desktop", "krunner/dbusplugins")):
        (share / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(desktop / f"{NAME}.{name}", share / place)
    # The file has this name in an installation (Scripts/release).
    (share / f"krunner/dbusplugins/{NAME}.krunner.desktop").rename(share / f"krunner/dbusplugins/{NAME}.desktop")
    for template, place in ((desktop / f"{NAME}.desktop.in", f"applications/{NAME}.desktop"),
                            (ROOT / f"Packaging/{NAME}1.service.in", f"dbus-1/services/{NAME}1.service")):
        text = template.read_text().replace("@BINDIR@", str(program("").absolute()))
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        # No systemd runs here, so the bus starts the service itself.
        lines = [line for line in text.splitlines() if not line.startswith("SystemdService=")]
        (share / place).write_text("\n".join(lines) + "\n")


def eventually(check, message, patience=PATIENCE):
    """The first true result of a check that is repeated. The message may be a function."""
    end = time.monotonic() + patience
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"{message() if callable(message) else message} within {patience} s")
        time.sleep(0.1)


def run(environment, *arguments, check=True, **options):
    """Runs a program to its end, and returns its output."""
    done = subprocess.run(
        [str(each) for each in arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE, **options)
    if check and done.returncode:
        raise AssertionError(f"{arguments}: {done.stdout} {done.stderr}")
    return done.stdout


def processes_of(home):
    """The processes with a home folder in their environment, except this one."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"HOME={home}".encode() in variables and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def end_processes_of(home):
    """Ends the programs that a test's bus, shell and service started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + 5
        while found := processes_of(home):
            for process in found:
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    pass
            if time.monotonic() > end:
                break
            time.sleep(0.1)


class RealSession:
    """The common part of displays with a real shell. It is mixed into a Display, whose environment it extends."""

    def prepare_session(self, desktop, kind):
        share = self.folder / "share"
        install(share)
        for name in ("GTK_A11Y", "GTK_USE_PORTAL"):
            self.environment.pop(name, None)
        self.environment.update(
            XDG_DATA_DIRS=f"{share}:/usr/local/share:/usr/share", XDG_CURRENT_DESKTOP=desktop, XDG_SESSION_TYPE=kind,
            LIBGL_ALWAYS_SOFTWARE="1", GTK_A11Y="none", QT_QUICK_BACKEND="software", KDE_FULL_SESSION="true",
            PATH=self.environment.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin")
        if desktop != "KDE":
            del self.environment["KDE_FULL_SESSION"]

    def start_one_bus(self):
        """Starts a bus that is also the system bus, where shells look for logind and others. Their names are missing."""
        super().start_bus()
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = self.environment["DBUS_SESSION_BUS_ADDRESS"]

    def share_variables(self, *names):
        """Gives variables to the programs that the bus starts, as the session managers of the desktops do."""
        run(self.environment, "dbus-update-activation-environment", *names)

    def call(self, destination, path, method, *arguments):
        return run(self.environment, "gdbus", "call", "--session", "--timeout", "30", "--dest", destination,
                   "--object-path", path, "--method", method, *arguments)

    def wait_for_name(self, name):
        run(self.environment, "gdbus", "wait", "--session", "--timeout", "60", name)

    def end(self):
        # The bus passes its output on to the programs that it starts, so they are ended first.
        end_processes_of(self.folder)
        super().end()


class Pages:
    """An item with an address, and a default browser that writes down what it opens. It is mixed into a NotesCase."""

    ADDRESS = "https://example.org/magnolia?a=1&b=%20$HOME"

    def add_page(self, desktop):
        """Makes the browser the default of a desktop only, and not of others."""
        (self.folder / "data/applications/browser.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Browser\nExec={self.folder / 'browse'} %u\nMimeType=x-scheme-handler/https;\n")
        script = self.folder / "browse"
        script.write_text(f'#!/bin/sh\necho "$1" >>"{self.opened}"\n')
        script.chmod(0o755)
        (self.folder / f"config/{desktop.lower()}-mimeapps.list").write_text(
            "[Default Applications]\nx-scheme-handler/https=browser.desktop\n")
        line = json.dumps({"uniqueIdentifier": "page", "attributes": {"title": "Magnolia page", "url": self.ADDRESS}})
        run(self.screen.environment, program("searchlight"), "donate", "--bundle", "com.example.pages", "-", input=line)
        # GIO chooses the same app.
        self.assertIn("browser.desktop", run(self.screen.environment, "gio", "mime", "x-scheme-handler/https").splitlines()[0])

    def check_page(self):
        eventually(self.opened.exists, "nothing was opened")
        self.assertEqual(self.opened.read_text().splitlines(), [self.ADDRESS])
