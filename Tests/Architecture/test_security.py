# SPDX-License-Identifier: Apache-2.0
"""Holds the promises of docs/SECURITY.md against the tests that it names."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "SECURITY.md"
# A row of a table: a promise, and the tests that show it.
ROW = re.compile(r"^\| (?!Promise|Who|-)(.*) \| (.*) \|$")
NAME = re.compile(r"`(\w+Tests)(?:/(\w+))?`")


def suites():
    """The functions with tests of each suite."""
    found = {}
    for path in sorted([*(ROOT / "Tests").rglob("*.swift"), *(ROOT / "Desktop" / "Tests").rglob("*.swift")]):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^(?:extension|(?:private )?(?:struct|final class)) (\w+Tests)\b", text, re.MULTILINE):
            body = text[match.end() :]
            end = re.search(r"^}", body, re.MULTILINE)
            names = re.findall(r"^    func (\w+)\(", body[: end.start() if end else None], re.MULTILINE)
            found.setdefault(match[1], set()).update(names)
    return found


class Promises(unittest.TestCase):
    def test_each_names_a_test_that_there_is(self):
        known = suites()
        text = PAGE.read_text(encoding="utf-8")
        promises = text[text.index("## An extension") :]
        rows = [match for match in map(ROW.match, promises.splitlines()) if match]
        self.assertGreater(len(rows), 30)
        for row in rows:
            with self.subTest(promise=row[1]):
                names = NAME.findall(row[2])
                self.assertTrue(names, "no test is named")
                for suite, function in names:
                    self.assertIn(suite, known)
                    if function:
                        self.assertIn(function, known[suite], f"{suite} has no such test")
