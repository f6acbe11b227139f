# SPDX-License-Identifier: Apache-2.0
"""Checks that pages and comments refer to files, headings, sections and symbols that exist, and that the decisions are complete."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DECISIONS = ROOT / "docs" / "decisions"
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
# The pages that a comment can mention by name.
PAGE_NAME = re.compile(r"\b(?:docs/)?((?:decisions/[\w-]+|[A-Z][A-Z-]+)\.md)(?:#([\w-]+))?")
SYMBOL = re.compile(r"``([^`\n]+)``")


def tracked(*endings):
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [ROOT / name for name in names if name.endswith(endings) and (ROOT / name).exists()]


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def anchors(page):
    """The anchors of a page; a repeated heading has a number."""
    found = set()
    counts = {}
    for line in without_code(page).splitlines():
        match = re.match(r"#{1,6}\s+(.*)", line)
        if match:
            name = slug(match[1])
            counts[name] = counts.get(name, -1) + 1
            found.add(name if counts[name] == 0 else f"{name}-{counts[name]}")
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', page))


def without_code(page):
    return re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)


def dangling_links(path, page):
    """The links of a page that lead to no file or heading of the repository."""
    for groups in LINK.findall(without_code(page)):
        target = groups[0] or groups[1]
        if re.match(r"[a-z][a-z+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        if not other.exists():
            yield target
        elif anchor and other.suffix == ".md" and anchor not in anchors(other.read_text(encoding="utf-8")):
            yield target


def comments(text):
    """The comment lines of Swift or C source, with their numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*(?:///?|/?\*+)(.*)", line)
        if match:
            yield number, match[1]


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for path in tracked(".md"):
            with self.subTest(page=str(path.relative_to(ROOT))):
                self.assertEqual(list(dangling_links(path, path.read_text(encoding="utf-8"))), [])


class Pictures(unittest.TestCase):
    FOLDER = ROOT / "docs" / "pictures"
    LARGEST = 120 * 1024

    def shown(self):
        """The pictures of the folder that pages show, with each text for readers who do not see them."""
        found = {}
        for path in tracked(".md"):
            for text, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", without_code(path.read_text(encoding="utf-8"))):
                picture = (path.parent / target).resolve()
                if picture.is_relative_to(self.FOLDER):
                    found.setdefault(picture, []).append(text)
        return found

    def test_each_is_shown_and_described_on_a_page(self):
        pictures = [path for path in tracked(".png", ".svg") if path.is_relative_to(self.FOLDER)]
        self.assertEqual(sorted(self.shown()), sorted(pictures))
        for picture, texts in self.shown().items():
            with self.subTest(picture=picture.name):
                self.assertTrue(all(len(text.split()) >= 5 for text in texts), "Describe what the picture shows.")

    def test_each_is_small(self):
        for picture in self.shown():
            with self.subTest(picture=picture.name):
                self.assertLessEqual(picture.stat().st_size, self.LARGEST)

    def test_none_names_a_folder_or_user_of_the_machine(self):
        for picture in self.shown():
            if picture.suffix == ".svg":
                with self.subTest(picture=picture.name):
                    self.assertNotRegex(picture.read_text(encoding="utf-8"), r"/(?:tmp|root|home|work)/|root@")


class Comments(unittest.TestCase):
    def setUp(self):
        self.sources = [path for path in tracked(".swift", ".c", ".h", ".md") if "Fixtures" not in path.parts]

    def test_pages_that_are_mentioned_exist(self):
        pages = {str(path.relative_to(ROOT / "docs")): path for path in (ROOT / "docs").rglob("*.md")}
        pages |= {path.name: path for path in ROOT.glob("*.md")}
        for path in self.sources:
            if path.suffix == ".md":
                continue
            for number, text in comments(path.read_text(encoding="utf-8")):
                for name, anchor in PAGE_NAME.findall(text):
                    with self.subTest(place=f"{path.relative_to(ROOT)}:{number}", page=name):
                        self.assertIn(name, pages)
                        if anchor:
                            self.assertIn(anchor, anchors(pages[name].read_text(encoding="utf-8")))

    def test_sections_of_other_pages_are_not_cited_by_number(self):
        for path in self.sources:
            text = path.read_text(encoding="utf-8")
            lines = comments(text) if path.suffix != ".md" else enumerate(text.splitlines(), 1)
            for number, line in lines:
                with self.subTest(place=f"{path.relative_to(ROOT)}:{number}"):
                    self.assertNotRegex(line, r"\bDESIGN(?:\.md)?\b|\bissue #?\d+\b")

    def test_symbols_that_are_linked_exist(self):
        words = set()
        for path in tracked(".swift", ".h", ".c"):
            words |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        for path in tracked(".swift"):
            for number, text in comments(path.read_text(encoding="utf-8")):
                for symbol in SYMBOL.findall(text):
                    with self.subTest(place=f"{path.relative_to(ROOT)}:{number}", symbol=symbol):
                        self.assertEqual(sorted(set(re.findall(r"[A-Za-z_]\w*", symbol)) - words - {"_"}), [])


class Decisions(unittest.TestCase):
    def test_each_has_its_number_its_parts_and_its_row(self):
        page = (DECISIONS / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d+) \| \[([^\n]*)\]\(([\w-]+\.md)\) \|$", page, flags=re.MULTILINE)
        files = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
        self.assertEqual([name for _, _, name in rows], files)
        self.assertEqual([int(number) for number, _, _ in rows], list(range(1, len(files) + 1)))
        for number, title, name in rows:
            with self.subTest(decision=name):
                text = (DECISIONS / name).read_text(encoding="utf-8")
                self.assertTrue(text.startswith(f"# {number}. {title}\n\nStatus: "), "Its title is not that of the table.")
                self.assertTrue(name.startswith(f"{int(number):04d}-"))
                headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
                self.assertEqual(headings, ["Context", "Decision", "Consequences"])


class Reading(unittest.TestCase):
    """The forms that these tests recognise."""

    def test_anchors(self):
        self.assertEqual(
            anchors("# A `b` c: d\n```\n# no\n```\n## Two, words\n## Two, words\n"), {"a-b-c-d", "two-words", "two-words-1"})

    def test_links(self):
        page = "[a](test_pages.py) [b](gone.md) ![c](gone.png) [d](https://example.org/x) [e](#there) [f](#gone)\n# There\n"
        self.assertEqual(
            list(dangling_links(pathlib.Path(__file__).with_suffix(".md").with_name("test_pages.py"), page)),
            ["gone.md", "gone.png"])

    def test_comments(self):
        self.assertEqual(
            list(comments("/// a\nlet b = 1\n    // c\n/* d\n * e\n */")),
            [(1, " a"), (3, " c"), (4, " d"), (5, " e"), (6, "/")])


if __name__ == "__main__":
    unittest.main()
