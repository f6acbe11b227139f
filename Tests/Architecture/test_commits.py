# SPDX-License-Identifier: Apache-2.0
"""Checks what Scripts/commit-check accepts and refuses."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

PATH = pathlib.Path(__file__).resolve().parent.parent.parent / "Scripts" / "commit-check"


def load():
    loader = importlib.machinery.SourceFileLoader("commit_check", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Messages(unittest.TestCase):
    def setUp(self):
        self.problems = load().problems

    def test_good_messages(self):
        for message in [
            "Search: dates in words\n\nA person types them.\n",
            "SearchIndex and Files: one clock\n\nWhy.\n# a comment of git\n",
            "Merge branch 'main'\n",
            "Revert \"Search: dates in words\"\n",
            "Docs: links\n\nSee https://example.org/" + "a" * 120 + "\n",
        ]:
            with self.subTest(message=message):
                self.assertEqual(list(self.problems(message)), [])

    def test_bad_messages(self):
        for message, word in [
            ("fixes\n\nWhy.", "Area"), ("search: small letter\n\nWhy.", "Area"), ("A b c d e: x\n\nWhy.", "Area"),
            ("Search: " + "a" * 65 + "\n\nWhy.", "characters"), ("Search: x.\n\nWhy.", "full stop"),
            ("Search: x\nwhy\n\nWhy.", "second line"), ("Search: x\n", "no body"), ("Search: x\n\n# only comments", "no body"),
            ("Search: x\n\n" + "a b " * 30, "wrap"),
        ]:
            with self.subTest(message=message):
                self.assertEqual([word in problem for problem in self.problems(message)], [True])


if __name__ == "__main__":
    unittest.main()
