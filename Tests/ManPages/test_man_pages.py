# SPDX-License-Identifier: Apache-2.0
"""The generator of the manual pages, on commands that are made up."""

import datetime
import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("man_pages", str(ROOT / "Scripts" / "man-pages"))
man_pages = importlib.util.module_from_spec(importlib.util.spec_from_loader("man_pages", loader))
loader.exec_module(man_pages)

LIMIT = {
    "kind": "option", "abstract": "At most so many.", "discussion": "0 is none. 'Many' is not.", "isOptional": True,
    "names": [{"kind": "short", "name": "l"}, {"kind": "long", "name": "limit"}],
    "preferredName": {"kind": "long", "name": "limit"}, "valueName": "number", "defaultValue": "20",
    "shouldDisplay": True,
}
WORDS = {"kind": "positional", "abstract": "The words.", "isRepeating": True, "valueName": "words", "shouldDisplay": True}
HIDDEN = {"kind": "positional", "valueName": "rest", "shouldDisplay": False}


def command(**changes):
    find = {"commandName": "find", "abstract": "Find what is there.", "arguments": [WORDS, LIMIT, HIDDEN]}
    find.update(changes)
    return {"commandName": "searchlight", "abstract": "Do it.", "arguments": [], "subcommands": [find, {
        "commandName": "help", "arguments": [{"kind": "positional", "valueName": "subcommands"}]}]}


def made(**changes):
    return man_pages.pages(command(**changes), "1.2.3", datetime.date(2026, 1, 2), ".Sh FILES\nNone.\n")


class ManPages(unittest.TestCase):
    def test_each_command_has_a_page_and_the_program_lists_it(self):
        pages = made()
        self.assertEqual(sorted(pages), ["man1/searchlight-find.1", "man1/searchlight.1"])
        self.assertIn('.It Cm "find"\nFind what is there.', pages["man1/searchlight.1"])
        self.assertTrue(pages["man1/searchlight.1"].endswith(".Sh FILES\nNone.\n"))

    def test_options_come_with_all_their_names_and_their_default(self):
        page = made()["man1/searchlight-find.1"]
        self.assertIn('.It Fl "l" Ar "number" , Fl "\\-limit" Ar "number"', page)
        self.assertIn("Default: 20.", page)
        self.assertIn('.Ar "words" ...', page)
        self.assertNotIn("rest", page)

    def test_what_roff_would_act_on_is_made_harmless(self):
        self.assertEqual(man_pages.lines(".Sh NAME"), ["\\&.Sh NAME"])
        self.assertEqual(man_pages.lines("'tis a\\b -- “é”"), ["\\(aqtis a\\eb \\-\\- \\(lq\\[u00E9]\\(rq"])

    def test_a_sentence_begins_a_line(self):
        self.assertEqual(man_pages.lines("One. Two."), ["One.", "Two."])

    def test_a_command_or_option_without_help_is_refused(self):
        for changes in ({"abstract": ""}, {"arguments": [{**LIMIT, "abstract": None}]}):
            with self.assertRaises(man_pages.Undocumented):
                made(**changes)

    def test_the_version_is_the_newest_of_the_change_log(self):
        text = "# Changes\n\n## [0.2.0] - 2027-03-04\n\n## [0.1.0] - 2026-01-02\n"
        self.assertEqual(man_pages.release(text), ("0.2.0", datetime.date(2027, 3, 4)))
        with self.assertRaises(ValueError):
            man_pages.release("# Changes\n")


if __name__ == "__main__":
    unittest.main()
