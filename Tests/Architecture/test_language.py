# SPDX-License-Identifier: Apache-2.0
"""Checks the language of comments, pages, messages and names of tests, and the documentation of public declarations."""

import itertools
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = (".swift", ".c", ".h", ".cpp")
SCRIPTS = ("Makefile", ".plist", ".py", ".sh", ".yml")

# Words with a plainer term. Each entry: the pattern, and the term to write.
WORDS = {
    r"owed|owes|owing": "pending",
    r"told": "reported, logged, notified",
    r"mend(?:s|ed|ing)?": "repair data, fix code",
    r"anew": "again",
    r"for ever": "indefinitely",
    r"so many": "N",
    r"whoever": "the caller, the user",
    r"meanwhile|under way": "during X, in progress",
    r"set aside": "skip-listed",
    r"stands? still": "paused",
    r"a person": "the user",
    r"desk|shelf|voice(?! assistant)|seat|deeds?|fates?|wear": "handler, pool, subscription, action, disposition",
    r"the former|the latter": "the noun itself",
    r"lends?|lent|lending|loan": "exclusive access",
    r"stands? in": "is in, see",
    r"begins? so": "begins with X",
    r"somebody|anybody|whom": "a user, a process, a client",
    r"(?:to be|was|were) said": "reported",
}
# Files in which such a word is a term of its own: people as values of attributes, and seats of logind.
TERMS = {
    "a person": (
        "CSPerson.swift", "AttributeValue.swift", "AttributeBinding.swift", "SEARCH.md", "DonateCommand.swift",
        "DonatedAttributes.swift", "SuggestCommand.swift"),
    "seat": ("LogindSensor.swift",),
}
WORD = re.compile(r"\b(?:" + "|".join(f"(?:{each})" for each in WORDS) + r")\b", re.IGNORECASE)

# The first words of a comment that has a relative clause as its subject. "When" and "Where" can begin a condition.
CLAUSE = re.compile(r"(?:- (?:Parameter )?\w+: )?(?:What|Whether|How|Who|Whoever|Whom|Whose|Which|Why|One that|Those)\b(?![^.]*\?)")

# The display name of a test or suite.
NAME = re.compile(r'@(?:Test|Suite)\(\s*"((?:\\.|[^"\\])*)"')

DECLARATION = re.compile(
    r"\s*(?:@[\w.]+(?:\([^)]*\))? )*(?:public|open) "
    r"(?:(?:static|final|class|indirect|nonisolated|mutating|convenience|required|isolated|weak|unowned|lazy"
    r"|(?:private|internal|package)\(set\)) )*"
    r"(func|var|let|init|struct|class|enum|actor|protocol|typealias|subscript)\b ?(.*)")
# Members that fulfil a protocol of the standard library or of Foundation.
CONFORMANCE = re.compile(
    r"encode\(to|hash\(into|(?:==|<) ?\(|description\b|debugDescription\b|errorDescription\b|error(?:Code|UserInfo|Domain)\b"
    r"|errorDescription\b|(?:\(from decoder)")


def tracked(*endings):
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [ROOT / name for name in names if name.endswith(endings) and (ROOT / name).exists()]


def is_ours(path):
    """Texts of users and foreign sources are fixtures."""
    return "Fixtures" not in path.parts and "PortedSources" not in path.parts


def swift_comments(text):
    """The comments of a Swift file: (line number, text, whether it is the first line of its comment)."""
    last = None
    in_text = False
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        match = None if in_text else re.match(r"\s*(///?) ?(.*)$", line) or re.search(r"[;{}),\w] +(//) (.*)$", line)
        if not match:
            if line.count('"""') % 2:
                in_text = not in_text
            fenced = False
            continue
        if match[2].strip().startswith("```"):
            fenced = not fenced
        if not fenced:
            yield number, match[2], last != number - 1
        last = number


def c_comments(text):
    """The lines of a C file's block comments."""
    for match in re.finditer(r"/\*(.*?)\*/", text, re.DOTALL):
        first = text.count("\n", 0, match.start()) + 1
        for offset, line in enumerate(match[1].split("\n")):
            yield first + offset, line.strip().removeprefix("*").strip(), offset == 0


def hash_comments(text):
    """The lines that begin with a number sign, of scripts and Makefiles."""
    last = None
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*# (.*)$", line)
        if match:
            yield number, match[1], last != number - 1
            last = number


def document_strings(text):
    """The lines of the document strings of Python."""
    for match in re.finditer(r'^ *"""(.*?)"""', text, re.DOTALL | re.MULTILINE):
        first = text.count("\n", 0, match.start()) + 1
        for offset, line in enumerate(match[1].split("\n")):
            yield first + offset, line.strip(), offset == 0


def markup_comments(text):
    """The lines of comments in XML."""
    for match in re.finditer(r"<!--(.*?)-->", text, re.DOTALL):
        first = text.count("\n", 0, match.start()) + 1
        for offset, line in enumerate(match[1].split("\n")):
            yield first + offset, line.strip(), offset == 0


def without_interpolations(line):
    """Replaces interpolated code by a space."""
    while (start := line.find("\\(")) >= 0:
        end, depth = start + 2, 1
        while end < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        line = line[:start] + " " + line[end:]
    return line


def messages(text):
    """The texts of string literals with several words, which may be printed: (line number, text)."""
    in_text = False
    for number, line in enumerate(text.split("\n"), 1):
        line = without_interpolations(line)
        if line.count('"""') % 2:
            in_text = not in_text
        elif in_text:
            yield number, line
        elif not re.match(r"\s*(?://|/?\*)", line):
            for match in re.finditer(r'"((?:\\.|[^"\\])*)"', line):
                if " " in match[1].strip():
                    yield number, match[1]


def comments(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".swift":
        return swift_comments(text)
    if path.suffix in SOURCES:
        return itertools.chain(c_comments(text), swift_comments(text))
    if path.suffix == ".plist":
        return markup_comments(text)
    is_python = path.suffix == ".py" or text.startswith("#!/usr/bin/env python3")
    return itertools.chain(hash_comments(text), document_strings(text) if is_python else ())


def scripts():
    """Scripts, Makefiles and manifests, but not this file, which has the words."""
    folders = (ROOT / "Scripts", ROOT / ".ci")
    return [
        path for path in tracked("")
        if path.is_file() and is_ours(path) and path != pathlib.Path(__file__).resolve()
        and (path.name.endswith(SCRIPTS) or path.parent in folders)
    ]


def without_quotations(text):
    """Removes code and quoted texts: a message or a title is cited as it is."""
    return re.sub(r"``[^`]*``|`[^`]*`|“[^”]*”|\"[^\"]*\"|\]\([^)]*\)", " ", text)


def faults(text, is_first, file=""):
    plain = without_quotations(text)
    for match in WORD.finditer(plain):
        if file in TERMS.get(match[0].lower(), ()):
            continue
        better = next(term for pattern, term in WORDS.items() if re.fullmatch(pattern, match[0], re.IGNORECASE))
        yield f"“{match[0]}”: write {better}"
    if is_first and CLAUSE.match(plain.strip()) or re.match(r"- (?:Parameter )?\w+: ", plain.strip()) and CLAUSE.match(plain.strip()):
        yield "a clause is the subject: begin with a noun or a verb"


class Language(unittest.TestCase):
    def test_comments_use_the_words_of_the_field(self):
        found = []
        for path in [*filter(is_ours, tracked(*SOURCES)), *scripts()]:
            for number, text, is_first in comments(path):
                found += [f"{path.relative_to(ROOT)}:{number}: {fault}" for fault in faults(text, is_first, path.name)]
        self.assertEqual([], found, "\n" + "\n".join(found))

    def test_pages_use_the_words_of_the_field(self):
        found = []
        for path in tracked(".md"):
            if not is_ours(path):
                continue
            fenced = False
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                fenced ^= line.strip().startswith("```")
                if not fenced and not line.startswith("    "):
                    found += [f"{path.relative_to(ROOT)}:{number}: {fault}" for fault in faults(line, False, path.name)]
        self.assertEqual([], found, "\n" + "\n".join(found))

    def test_messages_use_the_words_of_the_field(self):
        found = []
        for path in filter(is_ours, tracked(*SOURCES)):
            folders = path.relative_to(ROOT).parts[:-1]
            if "Tests" in folders or "tests" in folders:
                continue
            for number, text in messages(path.read_text(encoding="utf-8", errors="replace")):
                found += [f"{path.relative_to(ROOT)}:{number}: {fault}" for fault in faults(text, False, path.name)]
        self.assertEqual([], found, "\n" + "\n".join(found))

    def test_names_of_tests_use_the_words_of_the_field(self):
        found = []
        for path in filter(is_ours, tracked(".swift")):
            text = path.read_text(encoding="utf-8")
            for match in NAME.finditer(text):
                place = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
                found += [f"{place}: {fault}" for fault in faults(match[1], True, path.name)]
        self.assertEqual([], found, "\n" + "\n".join(found))

    def test_the_check_finds_what_it_is_for(self):
        self.assertTrue(list(faults("The job is owed.", True)))
        self.assertTrue(list(faults("Whether it is gone.", True)))
        self.assertTrue(list(faults("- Returns: How many there are.", False)))
        self.assertFalse(list(faults("The message is “Owed: a reindex”.", True)))
        self.assertFalse(list(faults("When the timer fires, the job starts.", True)))
        self.assertEqual([(1, "a   b")], list(messages('print("a \\(told(x)) b") // owed')))


class Declarations(unittest.TestCase):
    def test_public_declarations_have_documentation(self):
        found = []
        count = 0
        for path in tracked(".swift"):
            if ROOT / "Sources" not in path.parents:
                continue
            lines = path.read_text(encoding="utf-8").split("\n")
            for number, line in enumerate(lines):
                match = DECLARATION.match(line)
                if not match or CONFORMANCE.match(match[2]):
                    continue
                count += 1
                above = number - 1
                while above >= 0 and re.match(r"\s*(?:@|#if)", lines[above]):
                    above -= 1
                if above < 0 or not lines[above].strip().startswith("///"):
                    found.append(f"{path.relative_to(ROOT)}:{number + 1}: {line.strip()}")
        self.assertGreater(count, 1000)
        self.assertEqual([], found, "\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
