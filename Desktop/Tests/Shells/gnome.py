# SPDX-License-Identifier: Apache-2.0
"""A real GNOME Shell without a graphics card, for a test: on Wayland with a virtual monitor, or on X11 in Xvfb."""

import ast
import json

from session import RealSession, eventually
from screen import Display, Screen

NEEDS = ["gnome-shell", "dbus-daemon", "gdbus"]
SIZE = (1280, 800)

# Functions for the scripts that the shell evaluates.
TOOLS = """
const {Clutter, Meta} = imports.gi;
const view = Main.overview._overview._controls._searchController._searchResults;
const ours = () => view._providers.find((each) => each.appInfo && each.appInfo.get_id() === 'com.searchlight.Searchlight.desktop');
const middle = (actor) => {
    const [x, y] = actor.get_transformed_position(), [width, height] = actor.get_transformed_size();
    return [x + width / 2, y + height / 2];
};
global.testSeat = global.testSeat || (() => {
    const seat = Clutter.get_default_backend().get_default_seat();
    return {mouse: seat.create_virtual_device(Clutter.InputDeviceType.POINTER_DEVICE),
            keys: seat.create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE)};
})();
const now = () => Clutter.get_current_event_time() || imports.gi.GLib.get_monotonic_time() / 1000;
const click = ([x, y]) => {
    global.testSeat.mouse.notify_absolute_motion(now() * 1000, x, y);
    global.testSeat.mouse.notify_button(now() * 1000, 1, Clutter.ButtonState.PRESSED);
    global.testSeat.mouse.notify_button(now() * 1000, 1, Clutter.ButtonState.RELEASED);
};
const press = (key) => {
    global.testSeat.keys.notify_keyval(now() * 1000, key, Clutter.KeyState.PRESSED);
    global.testSeat.keys.notify_keyval(now() * 1000, key, Clutter.KeyState.RELEASED);
};
"""


class GnomeShell(RealSession):
    """The shell of a display. A subclass names its arguments."""

    def start_bus(self):
        self.prepare_session("GNOME", self.kind)
        self.start_one_bus()

    def start_shell(self):
        self.shell_log = (self.folder / "gnome-shell.log").open("w")
        self.shell = self.start("gnome-shell", "--unsafe-mode", *self.arguments, stderr=self.shell_log)
        eventually(lambda: self.is_ready(), "the shell did not start")
        self.share_variables(*self.variables)

    def is_ready(self):
        try:
            return self.evaluate("Main.layoutManager._startingUp === false") is True
        except AssertionError:
            if self.shell.process.poll() is not None:
                raise AssertionError(f"the shell ended: {(self.folder / 'gnome-shell.log').read_text()[-2000:]}") from None
            return False

    def evaluate(self, script):
        """The value of a script in the shell."""
        answer = self.call("org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell.Eval", f"{{{TOOLS}\n{script}}}")
        succeeded, text = answer.strip()[1:-1].split(", ", 1)
        value = ast.literal_eval(text)
        if succeeded != "true":
            raise AssertionError(f"{script}: {value}")
        return json.loads(value) if value else None

    def show_overview(self):
        self.evaluate("Main.overview.show();")
        eventually(lambda: self.evaluate("Main.overview.visible && !Main.overview.animationInProgress;"), "no overview")

    def type(self, text):
        """Types a text in the overview, by a virtual keyboard."""
        for letter in text:
            self.evaluate(f"press({ord(letter)});")

    def rows(self):
        """The visible rows of Searchlight: the title and the description."""
        return self.evaluate(
            "ours().display.visible ? ours().display._content.get_children().map((each) => "
            "[each.metaInfo.name, each.metaInfo.description]) : [];")

    def click(self, actor):
        """Clicks an actor that an expression finds."""
        self.evaluate(f"click(middle({actor}));")

    def titles(self):
        return self.evaluate("global.get_window_actors().map((each) => each.meta_window.title);")

    def picture(self, path):
        """Saves a picture of the screen."""
        self.call("org.gnome.Shell.Screenshot", "/org/gnome/Shell/Screenshot", "org.gnome.Shell.Screenshot.Screenshot",
                  "false", "false", str(path))

    def end(self):
        super().end()
        self.shell_log.close()


class WaylandShell(GnomeShell, Display):
    """The shell as a Wayland compositor."""

    kind = "wayland"
    variables = ["WAYLAND_DISPLAY"]
    # Programs that the bus starts get the socket's name from here.
    arguments = ["--headless", "--wayland", "--no-x11", "--wayland-display", "wayland-test",
                 "--virtual-monitor", f"{SIZE[0]}x{SIZE[1]}"]

    def __init__(self, folder):
        super().__init__(folder, GDK_BACKEND="wayland")

    def start_shell(self):
        super().start_shell()

    def is_ready(self):
        self.environment["WAYLAND_DISPLAY"] = "wayland-test"
        return super().is_ready()


class ScreenShell(GnomeShell, Screen):
    """The shell as the window manager and compositor of an X server."""

    kind = "x11"
    variables = ["DISPLAY"]
    arguments = ["--x11"]

    def __init__(self, folder):
        super().__init__(folder, size=f"{SIZE[0]}x{SIZE[1]}x24")
