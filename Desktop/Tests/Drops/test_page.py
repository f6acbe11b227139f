#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page view of the window, with pages that no sanitiser has seen: scripts, media and the network stay off.

    python3 -B Desktop/Tests/Drops/test_page.py

Needs Xvfb, WebKitGTK 6, and PageProbe of a debug build.
"""

import pathlib
import socket
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from screen import Screen, missing_tools, program

PAGE = """<!DOCTYPE html><html><head><title>still</title>
<link rel="stylesheet" href="{0}style.css"><link rel="prefetch" href="{0}prefetch"><link rel="dns-prefetch" href="{0}">
<style>@import url({0}import.css); @font-face {{ font-family: f; src: url({0}font) }} p {{ background: url({0}p); font-family: f }}
</style><script>document.title = "script"; fetch("{0}fetch"); localStorage.setItem("a", "b")</script>
<script src="{0}script.js"></script></head>
<body onload="document.title = 'onload'"><p>text<img src="{0}picture.png" onerror="document.title = 'onerror'">
<video autoplay src="{0}video"></video><audio autoplay src="{0}audio"></audio><iframe src="{0}frame"></iframe>
<object data="{0}object"></object><embed src="{0}embed"><form id=f action="{0}form"><button autofocus>b</button></form>
<a id=a href="{0}link" ping="{0}ping">link</a><svg onload="document.title = 'svg'"><image href="{0}svg"/></svg>
<meta http-equiv="refresh" content="0; url={0}refresh"></body></html>
"""


class Listener:
    """A server on this machine that counts connections."""

    def __init__(self):
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        threading.Thread(target=self.count, daemon=True).start()

    def count(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()


@unittest.skipIf(missing_tools("Xvfb"), "Xvfb is not installed")
class Page(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.screen = Screen(self.folder)
        self.addCleanup(self.screen.end)
        self.listener = Listener()
        self.addCleanup(self.listener.socket.close)

    def test_scripts_media_and_the_network_are_off(self):
        file = self.folder / "page.html"
        file.write_text(PAGE.format(self.listener.address))
        probe = self.screen.start(program("PageProbe"), file)
        line = probe.line("title ", "missing", patience=60)
        if line == "missing":
            self.skipTest("WebKitGTK 6 is not installed")
        self.assertEqual(line, "title still")
        self.assertEqual(probe.process.wait(60), 0)
        self.assertEqual(probe.drain(), [])
        self.assertEqual(self.listener.connections, 0)


if __name__ == "__main__":
    unittest.main()
