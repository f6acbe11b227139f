# SPDX-License-Identifier: Apache-2.0
"""Holds the promises of docs/SECURITY.md against the tests that it names."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "SECURITY.md"
# A row of a table: a promise, and the tests that show it.
ROW = re.compile(r"^\| (?!Promise|Who|-)(.*) \| (.*) \|$")
NAME = re.compile(r"`(\w+Tests|Fuzz(?=/)|test_\w+\.py)(?:/(\w+))?`")
TEST = re.compile(r"^    @Test\b(?s:.*?)\bfunc (\w+)\(", re.MULTILINE)
DECLARATION = re.compile(r"^(?:@Suite\b|(?:(?:private|fileprivate) )?(?:struct|final class|enum|extension|actor) )", re.MULTILINE)
# The sections that promise nothing.
WITHOUT_PROMISES = {"Threat model", "Reporting a problem"}


def suites():
    """The tests of each suite."""
    found = {}
    for path in sorted(path for folder in ROOT.glob("**/Tests") if ".build" not in folder.parts
                       for path in folder.rglob("*.swift")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^(?:extension|(?:private )?(?:struct|final class)) (\w+Tests)\b", text, re.MULTILINE):
            body = text[match.end() :]
            end = DECLARATION.search(body)
            found.setdefault(match[1], set()).update(TEST.findall(body[: end.start() if end else None]))
    for path in (ROOT / "Desktop/Tests").rglob("test_*.py"):
        found[path.name] = set(re.findall(r"^    def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))
    targets = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "Tests/Fuzz").glob("FuzzTarget+*.swift"))
    found["Fuzz"] = set(re.findall(r'(?:FuzzTarget\(\s*name: |\btext\(\s*)"(\w+)"', targets))
    return found


class Promises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.known = suites()
        cls.text = PAGE.read_text(encoding="utf-8")

    def test_each_named_test_exists(self):
        names = NAME.findall(self.text)
        self.assertGreater(len(names), 200)
        for suite, function in names:
            with self.subTest(suite=suite, test=function):
                self.assertTrue(self.known.get(suite), "no such suite has tests")
                if function:
                    self.assertIn(function, self.known[suite])

    def test_each_fuzz_target_is_named(self):
        self.assertEqual(self.known["Fuzz"], {function for suite, function in NAME.findall(self.text) if suite == "Fuzz"})

    def test_each_promise_names_a_test(self):
        sections = re.split(r"^## (.*)\n", self.text, flags=re.MULTILINE)[1:]
        for title, section in zip(sections[::2], sections[1::2]):
            if title in WITHOUT_PROMISES:
                continue
            rows = [match for match in map(ROW.match, section.splitlines()) if match]
            with self.subTest(section=title):
                self.assertTrue(rows, "the section has no table of promises")
            for row in rows:
                with self.subTest(promise=row[1]):
                    self.assertTrue(NAME.findall(row[2]), "no test is named")
