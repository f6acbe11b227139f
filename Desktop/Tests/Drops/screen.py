# SPDX-License-Identifier: Apache-2.0
"""A display of its own for a test: programs whose output is read line by line with a time limit, and an X server, which is Xvfb
without a window manager, with a synthetic mouse and keyboard. wayland.py has the Wayland compositor."""

import os
import pathlib
import queue
import shutil
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE = 20.0
# The size of each window of a test, and the positions of the two windows.
SIDE, SOURCE, TARGET = 300, (0, 0), (400, 0)


def missing_tools(*names):
    """The programs that are not installed."""
    return [name for name in names if not shutil.which(name)]


def program(name):
    """The path of a built program. SEARCHLIGHT_BIN names another folder than .build/debug."""
    return pathlib.Path(os.environ.get("SEARCHLIGHT_BIN", ROOT / ".build" / "debug")) / name


class Program:
    """A running program with its lines of output."""

    def __init__(self, arguments, environment, **options):
        self.process = subprocess.Popen(
            [str(argument) for argument in arguments], env=environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=options.pop("stderr", subprocess.DEVNULL), bufsize=1, **options)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def line(self, *starts, patience=PATIENCE):
        """The next line with one of these starts; fails if the program ends or stays silent."""
        end = time.monotonic() + patience
        seen = []
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no line {starts} within {patience} s, only {seen}") from None
            if line is None:
                raise AssertionError(f"the program ended with {self.process.wait()}; its lines were {seen}")
            if line.startswith(starts):
                return line
            seen.append(line)

    def drain(self):
        """The lines so far."""
        found = []
        while True:
            try:
                line = self.lines.get_nowait()
            except queue.Empty:
                return found
            if line is not None:
                found.append(line)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Display:
    """A display with its programs. A subclass starts its server."""

    def __init__(self, folder, **variables):
        self.folder = pathlib.Path(folder)
        self.programs = []
        self.server = None
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("DBUS_", "DISPLAY", "WAYLAND_", "XDG_", "GTK_", "GDK_", "SEARCHLIGHT_", "SWAY", "WLR_"))}
        self.environment.update(
            GSK_RENDERER="cairo", GTK_A11Y="none", NO_AT_BRIDGE="1",
            GSETTINGS_BACKEND="memory", GTK_USE_PORTAL="0", ADW_DISABLE_PORTAL="1",
            DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent", HOME=str(self.folder), XDG_RUNTIME_DIR=str(self.folder),
            XDG_CACHE_HOME=str(self.folder / "cache"), XDG_DATA_HOME=str(self.folder / "data"),
            XDG_CONFIG_HOME=str(self.folder / "config"), LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
        if os.geteuid() == 0:
            # As root, WebKit's sandbox leaves a /.flatpak-info behind, with which no client of the service can be identified.
            self.environment["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
        self.environment.update(variables)

    def start(self, *arguments, **options):
        started = Program(arguments, self.environment, **options)
        self.programs.append(started)
        return started

    def start_bus(self):
        """Starts a session bus for the programs that follow."""
        bus = self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1",
                         f"--address=unix:path={self.folder}/bus")
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.line("unix:")

    def end(self):
        for each in self.programs:
            each.end()
        if self.server:
            self.server.terminate()
            self.server.wait()


class Screen(Display):
    """An X server with its programs."""

    def __init__(self, folder, size="1280x800x24", **variables):
        super().__init__(folder, GDK_BACKEND="x11", QT_QPA_PLATFORM="xcb", **variables)
        reader, writer = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-nolisten", "tcp", "-noreset"], pass_fds=[writer],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as numbers:
            self.environment["DISPLAY"] = f":{numbers.readline().strip()}"

    def xdotool(self, *arguments):
        done = subprocess.run(
            ["xdotool", *map(str, arguments)], env=self.environment, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(f"xdotool {arguments}: {done.stderr}")
        return done.stdout

    def window(self, title):
        """The number of a visible window."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            done = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", title], env=self.environment, capture_output=True, text=True)
            if done.stdout.strip():
                return done.stdout.split()[0]
            time.sleep(0.05)
        raise AssertionError(f"no window {title}")

    def place(self, window, position, size=(SIDE, SIDE)):
        self.xdotool("windowmove", "--sync", window, *position)
        self.xdotool("windowsize", window, *size)

    def drag(self, start, end, steps=8):
        """Moves the mouse with the button down. Returns the moment before the button was released."""
        moves = []
        for step in range(1, steps + 1):
            place = [round(one + (other - one) * step / steps) for one, other in zip(start, end)]
            moves += ["mousemove", *place, "sleep", "0.015"]
        self.xdotool("mousemove", *start, "sleep", "0.03", "mousedown", 1, "sleep", "0.03",
                     "mousemove", start[0] + 12, start[1] + 12, "sleep", "0.03", *moves, "sleep", "0.05")
        moment = time.monotonic()
        self.xdotool("mouseup", 1)
        return moment

    def picture(self, path):
        """Saves a picture of the screen."""
        script = ("import sys, gi; gi.require_version('Gdk', '3.0'); from gi.repository import Gdk; "
                  "root = Gdk.get_default_root_window(); "
                  "Gdk.pixbuf_get_from_window(root, 0, 0, root.get_width(), root.get_height()).savev(sys.argv[1], 'png', [], [])")
        subprocess.run(["/usr/bin/python3", "-c", script, path], env=self.environment, check=True, timeout=60)
