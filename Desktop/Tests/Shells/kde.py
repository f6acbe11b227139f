# SPDX-License-Identifier: Apache-2.0
"""A real KRunner with KWin, without a graphics card, for a test: on X11 in Xvfb, or on Wayland with a virtual output."""

import pathlib
import shutil
import struct
import subprocess

from session import RealSession, eventually, run
from screen import Display, Screen
from wayland import LEFT_BUTTON, InputClient

SIZE = (1280, 800)
# The key codes of Linux for the letters of a keyboard with the layout us, and for other keys.
ROWS = {16: "qwertyuiop", 30: "asdfghjkl", 44: "zxcvbnm"}
KEYS = {letter: start + place for start, letters in ROWS.items() for place, letter in enumerate(letters)}
KEYS.update({"Return": 28, "Tab": 15, "Escape": 1, "Shift": 42, " ": 57})


class FakeInput(InputClient):
    """A keyboard and a mouse by org_kde_kwin_fake_input."""

    def __init__(self, path):
        super().__init__(path, b"org_kde_kwin_fake_input", 4)
        self.write(self.MANAGER, 0, self.text(b"tests") + self.text(b"tests"))

    def key(self, name, is_down):
        self.write(self.MANAGER, 10, struct.pack("=II", KEYS[name], int(is_down)))

    def click(self, x, y):
        self.write(self.MANAGER, 9, struct.pack("=ii", x * 256, y * 256))
        for is_down in (1, 0):
            self.write(self.MANAGER, 2, struct.pack("=II", LEFT_BUTTON, is_down))


class Runner(RealSession):
    """KRunner on a display."""

    def start_bus(self):
        self.prepare_session("KDE", self.kind)
        self.start_one_bus()

    def start_shell(self):
        # The other runners would add the programs of this machine.
        others = [each.stem for each in pathlib.Path("/usr/lib").rglob("plugins/kf5/krunner/*.so")]
        others += [each.removeprefix("krunner_") for each in others]
        settings = self.folder / "config/krunnerrc"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text("[Plugins]\n" + "".join(f"{each}Enabled=false\n" for each in others))
        self.start_window_manager()
        self.start("krunner", "--daemon")
        self.wait_for_name("org.kde.krunner")

    def show(self):
        self.call("org.kde.krunner", "/App", "org.kde.krunner.App.display")


class ScreenRunner(Runner, Screen):
    """KRunner on an X server with KWin as the window manager."""

    kind = "x11"
    needs = ["krunner", "kwin_x11", "klipper", "Xvfb", "xdotool", "import"]

    def __init__(self, folder):
        super().__init__(folder, size=f"{SIZE[0]}x{SIZE[1]}x24", KWIN_COMPOSE="N")

    def start_window_manager(self):
        self.share_variables("DISPLAY")
        self.start("kwin_x11")
        self.wait_for_name("org.kde.KWin")

    def wait_for_focus(self):
        self.xdotool("search", "--sync", "--onlyvisible", "--class", "krunner")
        eventually(lambda: run(self.environment, "xdotool", "getactivewindow", check=False).strip(), "no active window")

    def type(self, text):
        self.xdotool("type", "--delay", "40", text)

    def press(self, *keys):
        self.xdotool("key", "+".join({"Shift": "shift"}.get(key, key) for key in keys))

    def click(self, position):
        self.xdotool("mousemove", *position, "sleep", "0.2", "click", 1)

    def clipboard(self):
        """The text that Klipper has."""
        return self.call("org.kde.klipper", "/klipper", "org.kde.klipper.klipper.getClipboardContents").strip()

    def titles(self):
        numbers = run(self.environment, "xdotool", "search", "--onlyvisible", "--name", ".", check=False).split()
        return [run(self.environment, "xdotool", "getwindowname", number, check=False).strip() for number in numbers]

    def picture(self, path):
        run(self.environment, "import", "-window", "root", path)


class WaylandRunner(Runner, Display):
    """KRunner on Wayland with KWin as the compositor."""

    kind = "wayland"
    needs = ["krunner", "kwin_wayland", "klipper"]

    def __init__(self, folder):
        super().__init__(folder, QT_QPA_PLATFORM="wayland", GDK_BACKEND="wayland", KWIN_WAYLAND_NO_PERMISSION_CHECKS="1",
                         KWIN_SCREENSHOT_NO_PERMISSION_CHECKS="1")

    def start_window_manager(self):
        # KWin has a capability, with which it does not start in some containers. A copy has none. KWin requires this name.
        compositor = self.folder / "bin/kwin_wayland"
        compositor.parent.mkdir()
        shutil.copyfile(shutil.which("kwin_wayland"), compositor)
        compositor.chmod(0o755)
        self.start(compositor, "--virtual", "--width", SIZE[0], "--height", SIZE[1], "--no-lockscreen", "--socket", "wayland-test")
        socket = self.folder / "wayland-test"
        eventually(socket.exists, "no compositor")
        self.environment["WAYLAND_DISPLAY"] = "wayland-test"
        self.share_variables("WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
        self.keyboard = FakeInput(socket)

    def wait_for_focus(self):
        subprocess.run(["sleep", "2"], check=True)

    def end(self):
        if hasattr(self, "keyboard"):
            self.keyboard.socket.close()
        super().end()

    def press(self, *keys):
        for key in keys:
            self.keyboard.key(key, True)
        for key in reversed(keys):
            self.keyboard.key(key, False)

    def click(self, position):
        self.keyboard.click(*position)

    def type(self, text):
        for letter in text:
            self.press(letter)
            subprocess.run(["sleep", "0.05"], check=True)

    def clipboard(self):
        return self.call("org.kde.klipper", "/klipper", "org.kde.klipper.klipper.getClipboardContents").strip()

    def picture(self, path):
        """Saves a picture of the screen: raw pixels, which ImageMagick converts."""
        script = (
            "import os, sys, threading; from gi.repository import Gio, GLib\n"
            "bus = Gio.bus_get_sync(Gio.BusType.SESSION); reader, writer = os.pipe(); files = Gio.UnixFDList.new()\n"
            "parts = []\n"
            "def read():\n"
            "    while part := os.read(reader, 1 << 20): parts.append(part)\n"
            "thread = threading.Thread(target=read); thread.start(); handle = files.append(writer); os.close(writer)\n"
            "reply, _ = bus.call_with_unix_fd_list_sync('org.kde.KWin', '/org/kde/KWin/ScreenShot2', 'org.kde.KWin.ScreenShot2',\n"
            "    'CaptureArea', GLib.Variant('(iiuua{sv}h)', (0, 0, 1280, 800, {}, handle)), None, 0, 20000, files, None)\n"
            "del files; facts = reply.unpack()[0]; thread.join(20)\n"
            "open(sys.argv[1], 'wb').write(b''.join(parts)); print(facts['width'], facts['height'])\n")
        raw = pathlib.Path(f"{path}.bgra")
        width, height = run(self.environment, "/usr/bin/python3", "-c", script, raw).split()
        run(self.environment, "convert", "-size", f"{width}x{height}", "-depth", "8", f"BGRA:{raw}", "-alpha", "off", path)
        raw.unlink()
