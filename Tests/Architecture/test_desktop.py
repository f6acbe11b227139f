# SPDX-License-Identifier: Apache-2.0
"""Holds the files by which desktops find Searchlight against each other, the service and the validators of the desktop."""

import configparser
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "Packaging" / "desktop"
NAME = "com.searchlight.Searchlight"


def group(path, name):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser[name]


class DesktopFiles(unittest.TestCase):
    def setUp(self):
        swift = (ROOT / "Sources/BusTransport/MessageBus.swift").read_text(encoding="utf-8")
        self.bus_name = re.search(r'serviceName = "(.*)"', swift)[1]
        target = (ROOT / "Sources/BusTransport/BusTarget.swift").read_text(encoding="utf-8")
        self.path = re.search(r'searchlightPath = "(.*)"', target)[1]

    def test_providers_name_the_service(self):
        """GNOME Shell and KRunner call the name and the object that the service has."""
        shell = group(FOLDER / f"{NAME}.search-provider.ini", "Shell Search Provider")
        self.assertEqual((shell["BusName"], shell["ObjectPath"], shell["Version"]), (self.bus_name, self.path, "2"))
        # The shell ignores a provider without an installed desktop entry.
        self.assertTrue((FOLDER / (shell["DesktopId"] + ".in")).exists())
        runner = group(FOLDER / f"{NAME}.krunner.desktop", "Desktop Entry")
        self.assertEqual(runner["X-Plasma-DBusRunner-Service"], self.bus_name)
        self.assertEqual(runner["X-Plasma-DBusRunner-Path"], self.path)
        # DBus2 would have KRunner call Config, which the service does not have.
        self.assertEqual(runner["X-Plasma-API"], "DBus")
        activation = group(ROOT / "Packaging" / f"{self.bus_name}.service.in", "D-BUS Service")
        self.assertEqual(activation["Name"], self.bus_name)

    def test_files_are_installed(self):
        """The scripts install each file, and the test of the installation looks for it."""
        scripts = {name: (ROOT / "Scripts" / name).read_text(encoding="utf-8") for name in ("install", "release")}
        wanted = (ROOT / "Scripts" / "test-install").read_text(encoding="utf-8")
        for path in FOLDER.iterdir():
            name = path.name.removesuffix(".in")
            script = scripts["install" if path.suffix == ".in" else "release"].replace("$desktop", NAME)
            self.assertIn(name, script)
            self.assertIn(name.replace(".krunner", ""), wanted)

    def test_entry_and_metainfo(self):
        entry = (FOLDER / f"{NAME}.desktop.in").read_text(encoding="utf-8").replace("@BINDIR@", "/usr/bin")
        metainfo = FOLDER / f"{NAME}.metainfo.xml"
        root = xml.etree.ElementTree.parse(metainfo).getroot()
        self.assertEqual(root.findtext("launchable"), f"{NAME}.desktop")
        self.assertEqual(root.find("provides").findtext("dbus"), self.bus_name)
        icon = xml.etree.ElementTree.parse(FOLDER / f"{NAME}.svg").getroot()
        self.assertTrue(icon.tag.endswith("svg"))
        self.assertIn(f"Icon={NAME}\n", entry)
        if shutil.which("desktop-file-validate"):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / f"{NAME}.desktop"
                file.write_text(entry, encoding="utf-8")
                checked = subprocess.run(["desktop-file-validate", file], capture_output=True, text=True)
            self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
        if shutil.which("appstreamcli"):
            checked = subprocess.run(["appstreamcli", "validate", "--no-net", metainfo], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == "__main__":
    unittest.main()
