# SPDX-License-Identifier: Apache-2.0
"""Checks that Scripts/bench-desktop ends its service when a search fails in the loop."""

import pathlib
import subprocess
import textwrap
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "Scripts" / "bench-desktop"
# The script's interpreter, which has the system's modules dbus and gi.
INTERPRETER = SCRIPT.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")

# Runs in a process of its own, because the failure may end it.
PROGRAM = textwrap.dedent(
    """
    import importlib.machinery
    import importlib.util
    import sys

    import dbus.lowlevel
    import dbus.mainloop.glib

    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    loader = importlib.machinery.SourceFileLoader("bench_desktop", sys.argv[1])
    bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_desktop", loader))
    loader.exec_module(bench)

    class Service:
        # The bus itself has no such method, so each search fails.
        def connect(self):
            connection = dbus.bus.BusConnection(sys.argv[2])
            return connection, connection.get_object(dbus.BUS_DAEMON_NAME, dbus.BUS_DAEMON_PATH, introspect=False)

    try:
        bench.hurried(Service(), None, ["a", "ab"])
    finally:
        print("the service is ended")
    """)


class Failures(unittest.TestCase):
    def test_a_failed_search_ends_the_service(self):
        bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        try:
            address = bus.stdout.readline().strip()
            done = subprocess.run(
                [INTERPRETER, "-B", "-c", PROGRAM, SCRIPT, address], capture_output=True, text=True, timeout=60)
        finally:
            bus.terminate()
            bus.wait()
            bus.stdout.close()
        self.assertIn("the service is ended", done.stdout, done.stderr)
        self.assertIn("A search failed: ", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
