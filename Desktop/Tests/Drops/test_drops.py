#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Drops of promises by a synthetic mouse, from GTK's drag source of the window into windows of GTK 3, GTK 4 and Qt 5.

    python3 -B Desktop/Tests/Drops/test_drops.py              some drops of each kind into each target
    DROPS=500 python3 -B Desktop/Tests/Drops/test_drops.py    500 random drops

Needs Xvfb, xdotool, and Python with GTK and PyQt 5 (Scripts/setup --desktop), and a built DragSource (Scripts/swift-in Desktop
build).
"""

import os
import pathlib
import random
import statistics
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from screen import SIDE, SOURCE, TARGET, Screen, missing_tools, program

FOLDER = pathlib.Path(__file__).resolve().parent
TARGETS = ["gtk3", "gtk4", "gtk4-typed", "qt5"]
# The kind of a promise, and the kind that the target accepts.
KINDS = {"text": "text", "html": "html", "picture": "picture", "file": "uris", "original": "uris", "url": "text"}
MEDIA = {"text": "text/plain;charset=utf-8", "html": "text/html", "picture": "image/png", "uris": "text/uri-list"}
# The bar for the time from the release of the button to the content, in seconds.
LATENCY_BAR = 0.050


def content(size, seed):
    """The bytes of a sample; the same as in DragSource/Samples.swift."""
    found = bytearray()
    for _ in range(size):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        found.append(ord("a") + (seed >> 60))
    return bytes(found)


@unittest.skipIf(missing_tools("Xvfb", "xdotool"), "Xvfb or xdotool is not installed")
class Drops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.original = cls.folder / "An original.bin"
        cls.original.write_bytes(content(5000, 3))
        cls.picture = next(pathlib.Path(FOLDER).glob("*.png"))
        cls.screen = Screen(cls.folder, ORIGINAL=str(cls.original), PICTURE=str(cls.picture))
        cls.source = cls.screen.start(program("DragSource"), cls.folder / "drops", stderr=sys.stderr)
        cls.source.line("ready")
        cls.screen.place(cls.screen.window("Drag source"), SOURCE)
        cls.targets = {}

    @classmethod
    def tearDownClass(cls):
        cls.screen.end()
        cls.temporary.cleanup()

    def target(self, name):
        """Shows the window of a target above those of the others."""
        if name not in self.targets:
            started = ([program("DropTarget")] if name == "gtk4"
                       else ["/usr/bin/python3", "-B", FOLDER / "target.py", name])
            target = self.screen.start(*started, stderr=sys.stderr)
            target.line("ready")
            windows = {number for _, number in self.targets.values()}
            number = self.new_window(windows)
            self.targets[name] = (target, number)
        target, number = self.targets[name]
        for other, (_, window) in self.targets.items():
            self.screen.place(window, TARGET if other == name else (TARGET[0], TARGET[1] + SIDE + 50))
        self.screen.xdotool("windowraise", number)
        return target

    def accepting(self, name, kind):
        """A target that accepts a kind."""
        target = self.target(name)
        target.tell(MEDIA[kind] if name == "gtk4" else kind)
        target.line("accepts")
        target.drain()
        return target

    def new_window(self, known):
        for _ in range(200):
            found = self.screen.xdotool("search", "--onlyvisible", "--name", "Drop target").split()
            new = [number for number in found if number not in known]
            if new:
                return new[0]
            self.screen.xdotool("sleep", "0.05")
        raise AssertionError("the target has no window")

    def drop(self, name, sample, size=100, seed=1, accepts=None):
        """Drops a sample on a target. Returns the type, the bytes and the time that it took, and what the source reported."""
        target = self.accepting(name, accepts or KINDS[sample])
        self.source.drain()
        self.source.tell(f"{sample} {size} {seed}")
        self.source.line("chosen")
        middle = SIDE // 2
        released = self.screen.drag(
            (SOURCE[0] + middle, SOURCE[1] + middle), (TARGET[0] + middle, TARGET[1] + middle))
        line = target.line("got")
        _, moment, *kind, data = line.split(" ")
        end = self.source.line("dropped", "ended", "failed")
        return " ".join(kind), bytes.fromhex(data) if data != "nothing" else None, float(moment) - released, end

    def check(self, name, sample, size, seed):
        """Drops a sample, and compares what arrived with what was promised. Returns the time."""
        kind, data, elapsed, end = self.drop(name, sample, size, seed)
        self.assertEqual(end, "dropped", (name, sample))
        if sample in ("file", "original", "url"):
            address = data.decode().strip()
            if sample == "url":
                self.assertEqual(address, f"https://example.org/{seed}")
                return elapsed
            path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(address).path))
            if sample == "original":
                self.assertEqual(path, self.original)
            else:
                self.assertEqual(path.name, "Promised file.bin")
                self.assertEqual(path.read_bytes(), content(size, seed))
                self.assertTrue(path.is_relative_to(self.folder / "drops"))
        elif sample == "picture":
            expected = b"64x64" if kind == "texture" else self.picture.read_bytes()
            self.assertEqual(data, expected)
        else:
            self.assertEqual(data, content(size, seed), (name, sample))
        return elapsed

    def test_each_kind_into_each_target(self):
        """The bytes are right, whatever the toolkit."""
        for name in TARGETS:
            for sample in KINDS:
                # GTK has no type of its own for HTML.
                if (name, sample) != ("gtk4-typed", "html"):
                    with self.subTest(target=name, sample=sample):
                        self.check(name, sample, 2000, 5)

    def test_large_texts_arrive_whole(self):
        """A text that needs many transfers arrives byte for byte."""
        for name in ("gtk3", "gtk4", "qt5"):
            with self.subTest(target=name):
                self.check(name, "text", 3_000_000, 9)

    def test_refused_and_broken_promises_deliver_nothing(self):
        """The receiver gets no bytes, and the source says why."""
        for name in ("gtk3", "gtk4"):
            for sample, reason in (("refused", "failed refused The app denied it."), ("broken", "failed crashed")):
                with self.subTest(target=name, sample=sample):
                    _, data, _, end = self.drop(name, sample, 5000, accepts="text")
                    self.assertFalse(data)
                    self.assertTrue(end.startswith(reason), end)
                    self.assertEqual([path for path in (self.folder / "drops").rglob("*") if path.is_file()
                                      and path.stat().st_size < 5000 and "broken" in path.name], [])

    def test_a_slow_promise_is_told_and_arrives(self):
        target = self.accepting("gtk4", "text")
        self.source.drain()
        self.source.tell("slow 100 4")
        self.source.line("chosen")
        middle = SIDE // 2
        self.screen.drag((SOURCE[0] + middle, SOURCE[1] + middle), (TARGET[0] + middle, TARGET[1] + middle))
        self.source.line("preparing")
        self.assertEqual(bytes.fromhex(target.line("got").split(" ")[-1]), content(100, 4))

    def test_a_drop_on_nothing_asks_for_nothing_and_leaves_no_file(self):
        self.source.drain()
        self.source.tell("file 100 1")
        self.source.line("chosen")
        middle = SIDE // 2
        before = set((self.folder / "drops").rglob("*"))
        self.screen.drag((SOURCE[0] + middle, SOURCE[1] + middle), (SOURCE[0] + middle, SOURCE[1] + SIDE + 200))
        self.source.line("ended")
        self.assertFalse([line for line in self.source.drain() if line.startswith("asked")])
        self.assertEqual(set((self.folder / "drops").rglob("*")), before)

    @unittest.skipUnless(os.environ.get("DROPS"), "DROPS is the number of random drops")
    def test_random_drops(self):
        chance = random.Random(int(os.environ.get("SEED", "1")))
        times = []
        for number in range(int(os.environ["DROPS"])):
            name = chance.choice(TARGETS)
            sample = chance.choice([each for each in KINDS if (name, each) != ("gtk4-typed", "html")])
            with self.subTest(number=number, target=name, sample=sample):
                times.append(self.check(name, sample, chance.choice([1, 100, 5000, 200_000]), chance.randrange(1 << 32)))
        times.sort()
        print(f"\n{len(times)} drops: median {statistics.median(times) * 1000:.0f} ms, "
              f"p95 {times[int(len(times) * 0.95)] * 1000:.0f} ms, largest {times[-1] * 1000:.0f} ms")
        self.assertEqual(len(times), int(os.environ["DROPS"]))
        self.assertLessEqual(times[int(len(times) * 0.95)], LATENCY_BAR)


@unittest.skipIf(missing_tools("Xvfb", "xdotool", "dbus-daemon"), "Xvfb, xdotool or dbus-daemon is not installed")
class Transfers(unittest.TestCase):
    """Drops with a file-transfer portal on the session bus."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.original = self.folder / "An original.bin"
        self.original.write_bytes(content(5000, 3))
        self.screen = Screen(self.folder, ORIGINAL=str(self.original))
        self.addCleanup(self.screen.end)
        self.screen.start_bus()
        self.portal = self.screen.start("/usr/bin/python3", "-B", FOLDER / "portal.py", stderr=sys.stderr)
        self.portal.line("ready")
        self.source = self.screen.start(program("DragSource"), self.folder / "drops", stderr=sys.stderr)
        self.source.line("ready")
        self.screen.place(self.screen.window("Drag source"), SOURCE)

    def start(self, *arguments):
        target = self.screen.start(*arguments, stderr=sys.stderr)
        target.line("ready")
        self.screen.place(self.screen.window("Drop target"), TARGET)
        return target

    def drop(self, target, kind, sample):
        """Drops a sample. Returns the bytes that arrived."""
        target.tell(kind)
        target.line("accepts")
        self.source.drain()
        self.source.tell(f"{sample} 2000 5")
        self.source.line("chosen")
        self.assertEqual(self.portal.drain(), [])
        middle = SIDE // 2
        self.screen.drag((SOURCE[0] + middle, SOURCE[1] + middle), (TARGET[0] + middle, TARGET[1] + middle))
        return bytes.fromhex(target.line("got").split(" ")[-1])

    def test_a_receiver_of_keys_gets_the_key_of_the_promised_file(self):
        target = self.start(program("DropTarget"))
        for media in ("application/vnd.portal.filetransfer", "application/vnd.portal.files"):
            for sample in ("file", "original"):
                with self.subTest(media=media, sample=sample):
                    key = self.drop(target, media, sample).rstrip(b"\0").decode()
                    added = self.portal.line("added")
                    self.assertTrue(added.startswith(f"added {key} "), (key, added))
                    path = pathlib.Path(added.removeprefix(f"added {key} "))
                    if sample == "original":
                        self.assertEqual(path, self.original)
                    else:
                        self.assertEqual(path.read_bytes(), content(2000, 5))

    def test_gtk_reads_the_file_through_the_portal(self):
        target = self.start("/usr/bin/python3", "-B", FOLDER / "target.py", "gtk4-typed")
        address = self.drop(target, "uris", "original").decode().strip()
        self.assertEqual(address, self.original.as_uri())
        self.portal.line("retrieved")


if __name__ == "__main__":
    unittest.main(verbosity=1)
