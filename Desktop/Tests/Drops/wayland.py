# SPDX-License-Identifier: Apache-2.0
"""A Wayland display of its own for a test: sway without a graphics card, with a virtual keyboard and mouse."""

import os
import socket
import struct
import subprocess
import time

from screen import PATIENCE, Display

NEEDS = ["sway", "swaymsg", "wtype", "grim"]
LEFT_BUTTON = 0x110


class InputClient:
    """A client with one virtual input device. Debian has no program for some protocols, so this class writes the messages itself."""

    DISPLAY, REGISTRY, DONE, MANAGER = 1, 2, 3, 4

    def __init__(self, path, interface, version=1):
        self.interface = interface + b"\0"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self.send(self.DISPLAY, 1, self.REGISTRY)
        self.send(self.DISPLAY, 0, self.DONE)
        name = self.find()
        self.write(self.REGISTRY, 0, struct.pack("=I", name) + self.text(interface) + struct.pack("=II", version, self.MANAGER))

    @staticmethod
    def text(value):
        """A text as an argument of a message."""
        body = value + b"\0"
        return struct.pack("=I", len(body)) + body + b"\0" * (-len(body) % 4)

    def write(self, target, code, body):
        self.socket.sendall(struct.pack("=II", target, (8 + len(body)) << 16 | code) + body)

    def send(self, target, code, *numbers):
        self.write(target, code, struct.pack(f"={len(numbers)}I", *numbers))

    def receive(self, length):
        found = b""
        while len(found) < length:
            piece = self.socket.recv(length - len(found))
            if not piece:
                raise AssertionError("the compositor closed the connection")
            found += piece
        return found

    def find(self):
        """The number of the interface in the compositor's registry."""
        number = None
        while True:
            source, length = struct.unpack("=II", self.receive(8))
            body = self.receive((length >> 16) - 8)
            if source == self.REGISTRY and self.interface in body:
                number = struct.unpack_from("=I", body)[0]
            if source == self.DONE:
                if number is None:
                    raise AssertionError(f"the compositor has no {self.interface.decode()}")
                return number


class Mouse(InputClient):
    """A mouse by wlr-virtual-pointer-unstable-v1."""

    POINTER = 5

    def __init__(self, path, size):
        self.size = size
        super().__init__(path, b"zwlr_virtual_pointer_manager_v1")
        self.send(self.MANAGER, 0, 0, self.POINTER)

    def time(self):
        return int(time.monotonic() * 1000) & 0xFFFFFFFF

    def move(self, x, y):
        self.send(self.POINTER, 1, self.time(), round(x), round(y), *self.size)
        self.send(self.POINTER, 4)

    def press(self, is_down):
        self.send(self.POINTER, 2, self.time(), LEFT_BUTTON, int(is_down))
        self.send(self.POINTER, 4)


class Compositor(Display):
    """A Wayland compositor with its programs. Its windows are side by side, in the order of their start."""

    def __init__(self, folder, size=(1600, 640), **variables):
        super().__init__(folder, GDK_BACKEND="wayland", **variables)
        name = self.folder / "wayland-name"
        settings = self.folder / "sway.conf"
        settings.write_text(
            f"xwayland disable\noutput HEADLESS-1 resolution {size[0]}x{size[1]} position 0 0\ndefault_border none\n"
            f'exec echo "$WAYLAND_DISPLAY $SWAYSOCK" >"{name}"\n')
        # sway does not start as root.
        user = ["unshare", "--user", "--map-user=1000"] if os.geteuid() == 0 else []
        self.server = subprocess.Popen(
            [*user, "sway", "--config", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**self.environment, "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"})
        self.wait(lambda: name.exists() and name.read_text().endswith("\n"), "no compositor")
        self.environment["WAYLAND_DISPLAY"], self.environment["SWAYSOCK"] = name.read_text().split()
        self.mouse = Mouse(self.folder / self.environment["WAYLAND_DISPLAY"], size)
        # A keyboard that stays, so that windows keep the focus of the keyboard between two calls of type().
        self.start("wtype", "-s", 10_000_000)

    def wait(self, is_true, problem):
        end = time.monotonic() + PATIENCE
        while not is_true():
            if time.monotonic() > end or self.server.poll() is not None:
                raise AssertionError(problem)
            time.sleep(0.05)

    def run(self, *arguments):
        done = subprocess.run(
            list(map(str, arguments)), env=self.environment, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return done.stdout

    def window(self, title):
        """Waits for a visible window."""
        self.wait(lambda: f'"name": "{title}"' in self.run("swaymsg", "-t", "get_tree"), f"no window {title}")

    def type(self, *arguments):
        """Types by the arguments of wtype."""
        self.run("wtype", "-s", 200, *arguments, "-s", 200)

    def drag(self, start, end, steps=8):
        """Moves the mouse with the button down."""
        def move(x, y):
            self.mouse.move(x, y)
            time.sleep(0.03)
        move(*start)
        self.mouse.press(True)
        time.sleep(0.03)
        move(start[0] + 12, start[1] + 12)
        for step in range(1, steps + 1):
            move(*(one + (other - one) * step / steps for one, other in zip(start, end)))
        self.mouse.press(False)

    def picture(self, path):
        """Saves a picture of the display."""
        self.run("grim", path)

    def end(self):
        self.mouse.socket.close()
        super().end()
