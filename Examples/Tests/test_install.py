# SPDX-License-Identifier: Apache-2.0
"""Examples/install before everything is built: it says what to build, and installs nothing."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

INSTALL = pathlib.Path(__file__).resolve().parents[1] / "install"
APPS = {
    "AcmeDirectory": ("acme-directory", "libAcmeIndex.so", "Examples"),
    "PicturesWindow": ("pictures-window", "libPictureIndex.so", "Examples/PicturesWindow"),
}


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.built, self.prefix = pathlib.Path(folder.name, "built"), pathlib.Path(folder.name, "prefix")
        self.built.mkdir()

    def install(self, app):
        return subprocess.run(
            [INSTALL, app, self.prefix], env={**os.environ, "BUILT": str(self.built)}, capture_output=True, text=True)

    def test_a_missing_file_is_named_with_the_package_that_builds_it(self):
        for app, (program, library, package) in APPS.items():
            files = {program: package, library: "Examples", "libCoreSpotlight.so": "Examples"}
            for file in files:
                shutil.copy("/bin/true", self.built / file)
            for file, builder in files.items():
                with self.subTest(app=app, file=file):
                    (self.built / file).rename(self.built / "elsewhere")
                    done = self.install(app)
                    (self.built / "elsewhere").rename(self.built / file)
                    self.assertEqual(done.returncode, 69)
                    self.assertIn(f"no {file} in", done.stderr)
                    self.assertTrue(done.stderr.endswith(f"Scripts/swift-in {builder} build\n"), done.stderr)
                    self.assertFalse(self.prefix.exists())
            with self.subTest(app=app):
                self.assertEqual(self.install(app).returncode, 0)
            shutil.rmtree(self.prefix)

    def test_an_unknown_app_is_rejected(self):
        self.assertEqual(self.install("Nowhere").returncode, 64)


if __name__ == "__main__":
    unittest.main()
