# SPDX-License-Identifier: Apache-2.0
"""The apps use Apple's API: each type and member is in docs/API.md, and of the additions for Linux only those without which an
app cannot work here."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Additions that Apple's systems have in other places, or not at all.
NEEDED = {
    "setContinuationHandler": "the method of an app delegate",
    "onContinueUserActivity": "the modifier of a view in SwiftUI",
    "CSPagedReindexHandler": "a reindex in pages",
    "CSReindexPage": "a reindex in pages",
    "reindexPage": "a reindex in pages",
    "cursor": "a reindex in pages",
    "maximumItemCount": "a reindex in pages",
    "providePreviewOfSearchableItem": "an item without a file is previewed by its data, since a worker has no views",
    "isCancelled": "a reindex in pages, and a property of Apple's queries",
}


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = (ROOT / "docs/API.md").read_text(encoding="utf-8")
        cls.sources = {
            path: re.sub(r"//.*|\"[^\"\n]*\"", "", path.read_text(encoding="utf-8"))
            for path in (ROOT / "Examples").rglob("*.swift")
            if path.name != "Package.swift" and "import CoreSpotlight" in path.read_text(encoding="utf-8")}

    def test_each_type_is_a_type_of_apple(self):
        known = set(re.findall(r"\w+", self.page))
        for path, text in self.sources.items():
            used = set(re.findall(r"\b(?:CS[A-Z][a-z]\w+|NSUserActivity\w*|NSExtension\w*|QL[A-Z]\w+|CoreSpotlight\w+)", text))
            with self.subTest(file=str(path.relative_to(ROOT))):
                self.assertEqual(sorted(used - known), [])

    def test_additions_are_few_and_have_a_reason(self):
        additions = self.page.split("\n## Additions\n")[1]
        names = set()
        for line in additions.splitlines():
            declared = re.search(r"\| `([^`]*)` \|$", line)
            if declared:
                names.update(re.findall(r"(?:func|var|protocol|struct|enum|case) (\w+)|(\w+) page:", declared[1]))
        # Names that other declarations have too.
        names = {one or other for one, other in names} - {"searchableIndex", "description", "changed", "moved", "removed"}
        self.assertGreater(len(names), 5)
        for path, text in self.sources.items():
            used = names & set(re.findall(r"\w+", text))
            with self.subTest(file=str(path.relative_to(ROOT))):
                self.assertEqual(sorted(used - set(NEEDED)), [])


if __name__ == "__main__":
    unittest.main()
