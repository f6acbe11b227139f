# SPDX-License-Identifier: Apache-2.0
"""The C headers against the one of revision 1 (Scripts/header-changes), and their comments."""

import importlib.machinery
import importlib.util
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(name):
    """Imports a script whose name has no ending."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "Scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


TOOL = script("header-changes")

SMALL = """
#include <stdint.h>
#define SEARCHLIGHT_ABI_MAJOR 1u
#define SEARCHLIGHT_LIMIT 10
#define SEARCHLIGHT_NAME "a"
typedef int32_t status;
typedef struct opaque opaque;
typedef struct table {
    uint32_t size;
    uint32_t reserved;
    void (*ask)(opaque *object, const char *text);
    status (*tell)(opaque *object, double number);
} table;
status start(const table *table);
"""


FOLDER = TOOL.PRESENT
HEADERS = {name: (FOLDER / name).read_text() for name in TOOL.headers(FOLDER)}
# The owners of functions, which need no words at each of them.
OWNERS = {"host", "extension", "batch", "item", "stream"}
TAG = re.compile(r"\[(?:request-thread|thread-safe|host-thread|load-thread|one thread at a time)[^\]]*\]")


def tables(text):
    """Yields the name and the body of each struct of a header."""
    for struct in re.finditer(r"^typedef struct (\w+) \{\n(.*?)\n\} \1;", text, flags=re.M | re.S):
        yield struct[1], struct[2]


def functions(text):
    """Yields the name, the comment and the parameters of each function that a header declares."""
    text = re.sub(r"\n\s*\* ?", " ", text)
    for name, body in tables(text):
        for comment, function, parameters in re.findall(r"/\*((?:(?!\*/).)*)\*/\s*[\w ]+\**\(\*(\w+)\)\(([^;]*)\);", body, flags=re.S):
            yield f"{name}.{function}", comment, parameters
    for comment, function, parameters in re.findall(r"/\*((?:(?!\*/).)*)\*/\s*typedef [\w ]+\**\(\*(\w+)\)\(([^;]*)\);", text, flags=re.S):
        yield function, comment, parameters


class PresentHeaders(unittest.TestCase):
    def test_nothing_breaks_what_was_built_with_revision_1(self):
        breaks, _, _, _, _ = TOOL.compare(TOOL.KEPT, FOLDER)
        self.assertEqual(breaks, [])

    def test_everything_is_read(self):
        """A reader that skips declarations would find no changes."""
        stable = {name: text for name, text in HEADERS.items() if not name.startswith(TOOL.DRAFTS)}
        text = "\n".join(stable.values())
        present = TOOL.read(FOLDER / TOOL.ALL)
        self.assertEqual({name for name, fields in present.structs.items() if fields is not None},
                         {name for name, _ in tables(text)})
        for name in re.findall(r"^ *#define (SEARCHLIGHT_\w+) \S", text, flags=re.M):
            if not TOOL.IGNORED.match(name):
                self.assertIn(name, present.constants)
        for name in re.findall(r"^    (SEARCHLIGHT_\w+) = \d", text, flags=re.M):
            self.assertIn(name, present.constants)
        found = sum(kind.count("(*)") for fields in present.structs.values() for _, kind in fields or [])
        self.assertEqual(found, sum("." in name for name, _, _ in functions(text)))

    def test_every_header_is_included_by_the_common_one_unless_it_is_a_draft(self):
        included = set(re.findall(r'^#include "(.*)"', HEADERS[TOOL.ALL], flags=re.M))
        self.assertEqual(included, {name for name in HEADERS if name != TOOL.ALL and not name.startswith(TOOL.DRAFTS)})

    def test_every_interface_has_a_header_of_its_name(self):
        for name, text in HEADERS.items():
            for side in ("host", "extension"):
                path = re.fullmatch(rf"searchlight/{side}/(\w+)\.h", name)
                if path:
                    with self.subTest(header=name):
                        self.assertIn(f"typedef struct searchlight_{side}_{path[1]} {{", text)
                        identifier = f'SEARCHLIGHT_{side.upper()}_{path[1].upper()} "searchlight.{path[1].replace("_", "-")}/'
                        self.assertEqual(len(re.findall(rf"^#define {re.escape(identifier)}\d+\"$", text, flags=re.M)), 1)

    def test_every_function_states_its_threads_times_and_pointers(self):
        """By a tag, by “Time:” or “Time limit:”, and by “NAME:” for each pointer that is not the owner."""
        found = [each for text in HEADERS.values() for each in functions(text)]
        self.assertGreater(len(found), 50)
        for name, comment, parameters in found:
            with self.subTest(function=name):
                self.assertRegex(comment, TAG)
                self.assertRegex(comment, r"\bTime(?: limit)?: ")
                self.assertFalse(comment.strip().startswith("The same"), "states its own rules")
                for parameter in parameters.split(","):
                    pointer = re.search(r"\*\s*(\w+)$", parameter.strip()) or re.search(r"(?:completion|handler) (\w+)$", parameter.strip())
                    if pointer and pointer[1] not in OWNERS:
                        self.assertRegex(comment, rf"\b{pointer[1]}(?:, \w+)*:", f"says nothing of {pointer[1]}")

    def test_samples_and_kits_check_every_status(self):
        """No call of a function with a status is a statement of its own."""
        text = "\n".join(HEADERS.values())
        checked = "|".join(sorted(set(re.findall(r"searchlight_status \(\*(\w+)\)", text)) - {"create"}))
        self.assertIn("set_string", checked)
        ignored = re.compile(rf"(?:^|[;{{}})]|\belse)\s*(?:[\w.]+(?:->|\.))+(?:{checked})\(", flags=re.S)
        self.assertTrue(ignored.search("int x; self->items->set_string(item, 1);"))
        places = ("docs/examples/*.c", "Sources/searchlight/Templates/*.c*", "Plugins/Bookmarks/src/*.c", "Sources/SearchlightExtension/**/*.[ch]*")
        paths = [path for place in places for path in ROOT.glob(place)]
        self.assertGreater(len(paths), 20)
        for path in paths:
            code = re.sub(r"/\*.*?\*/|//[^\n]*|(?m:^#.*$)", "", path.read_text(), flags=re.S)
            found = ignored.search(code)
            self.assertIsNone(found, f"{path.relative_to(ROOT)} ignores a status: {found and found[0]}")

    def test_old_names_are_aliases(self):
        """Each table of the extension had a name without “extension” in revision 1."""
        present = TOOL.read(FOLDER / TOOL.ALL)
        for name in TOOL.read(TOOL.KEPT).structs:
            if name not in present.structs:
                self.assertEqual(present.aliases[name], name.replace("searchlight_", "searchlight_extension_"))


class Comparison(unittest.TestCase):
    def compare(self, *replacements):
        """Returns what breaks and what is added if texts of a small header are replaced."""
        changed = SMALL
        for old, new in replacements:
            self.assertIn(old, changed)
            changed = changed.replace(old, new)
        return self.compare_texts(SMALL, changed)

    def compare_texts(self, old, new):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("old.h", "new.h")]
            for path, text in zip(paths, (old, new)):
                path.write_text(text)
            return TOOL.changes(*map(TOOL.read, paths))

    def test_comments_and_names_of_parameters_are_no_change(self):
        self.assertEqual(self.compare(("const char *text", "const char *name /* a name */"), ("10", "0xAu")), ([], []))

    def test_a_changed_struct_breaks(self):
        for old, new, words in (
            ("    uint32_t reserved;\n", "", "no field reserved"),
            ("uint32_t reserved", "uint64_t reserved", "reserved was uint32_t, and is uint64_t"),
            ("} table;", "    void (*more)(void);\n} table;", "new field more"),
            ("double number", "float number", "tell was"),
        ):
            breaks, adds = self.compare((old, new))
            self.assertEqual((len(breaks), adds), (1, []), breaks)
            self.assertIn(words, breaks[0])
        breaks, _ = self.compare(("(*ask)", "(*other)"), ("(*tell)", "(*ask)"), ("(*other)", "(*tell)"))
        self.assertIn("another order: size, reserved, tell, ask", " ".join(breaks))

    def test_a_removed_or_changed_declaration_breaks(self):
        for old, new in (
            ("#define SEARCHLIGHT_LIMIT 10\n", ""), ("_LIMIT 10", "_LIMIT 11"), ('"a"', '"b"'), ("int32_t status", "int status"),
            ("status start(const table *table);\n", ""), ("status start", "void start"),
        ):
            breaks, adds = self.compare((old, new))
            self.assertEqual((len(breaks), adds), (1, []), f"{old}: {breaks}")

    def test_a_macro_may_become_a_case_of_an_enumeration(self):
        case = "enum limits { SEARCHLIGHT_LIMIT = 10, SEARCHLIGHT_NEXT };\n"
        self.assertEqual(self.compare(("#define SEARCHLIGHT_LIMIT 10\n", case)), ([], ["SEARCHLIGHT_NEXT"]))

    def test_a_type_may_get_another_name(self):
        """As an alias, or as the name of a number's type."""
        renamed = [("table {", "table_of_host {"), ("} table;", "} table_of_host;"), ("const table *table", "const table_of_host *table")]
        breaks, _ = self.compare(*[(old, new.replace("table_of_host", "searchlight_other")) for old, new in renamed])
        self.assertIn("struct table is gone", breaks)
        named = ("double number", "measure number"), ("typedef int32_t status;", "typedef int32_t status;\ntypedef double measure;")
        self.assertEqual(self.compare(*named), ([], ["type measure"]))
        other = ("double number", "measure number"), ("typedef int32_t status;", "typedef int32_t status;\ntypedef float measure;")
        breaks, _ = self.compare(*other)
        self.assertEqual(len(breaks), 1, breaks)

    def test_an_alias_keeps_the_old_name(self):
        old = SMALL.replace("table", "searchlight_table")
        new = old.replace("searchlight_table", "searchlight_host_table")
        alias = "#define searchlight_table searchlight_host_table\n"
        self.assertEqual(self.compare_texts(old, new + alias), ([], []))
        breaks, _ = self.compare_texts(new + alias, new)
        self.assertEqual(breaks, ["searchlight_table, another name of searchlight_host_table, is gone"])
        self.assertIn("struct searchlight_table is gone", self.compare_texts(old, new)[0])

    def test_a_new_interface_is_an_addition(self):
        more = "typedef struct more { uint32_t size; } more;\n#define SEARCHLIGHT_MORE 1\nstatus start"
        self.assertEqual(self.compare(("status start", more)), ([], ["struct more", "SEARCHLIGHT_MORE"]))

    def test_a_header_that_does_not_compile_is_reported(self):
        with self.assertRaises(TOOL.Unreadable):
            self.compare(("typedef int32_t status;", "typedef missing status;"))


class SeveralHeaders(unittest.TestCase):
    """Folders of headers."""

    FILES = {
        "searchlight_extension.h": '#include "searchlight/items.h"\n#include "searchlight/log.h"\n',
        "searchlight/basics.h": "#include <stdint.h>\n#define SEARCHLIGHT_ABI_MAJOR 1u\ntypedef int32_t status;\n",
        "searchlight/items.h": '#include "basics.h"\ntypedef struct items { status (*add)(int32_t one); } items;\n',
        "searchlight/log.h": '#include "basics.h"\ntypedef struct log_table { void (*log)(int32_t level); } log_table;\n',
        "searchlight/draft/more.h": '#include "../basics.h"\ntypedef struct more { void (*ask)(void); } more;\n',
    }

    def compare(self, **changed):
        """Compares the folder with one in which files are replaced, added, or (None) missing."""
        new = {**self.FILES, **{name.replace("__", "/") + ".h": text for name, text in changed.items()}}
        with tempfile.TemporaryDirectory() as folder:
            folders = [pathlib.Path(folder) / name for name in ("old", "new")]
            for place, files in zip(folders, (self.FILES, new)):
                for name, text in files.items():
                    if text is not None:
                        (place / name).parent.mkdir(parents=True, exist_ok=True)
                        (place / name).write_text("#pragma once\n" + text)
            return TOOL.compare(*folders)[:3]

    def test_equal_folders_have_no_changes(self):
        self.assertEqual(self.compare(), ([], [], []))

    def test_a_declaration_may_move_to_a_header_that_the_old_one_includes(self):
        moved = self.compare(
            searchlight__items='#include "items_table.h"\n', searchlight__items_table=self.FILES["searchlight/items.h"])
        self.assertEqual(moved, ([], ["searchlight/items_table.h"], []))

    def test_a_declaration_that_a_header_alone_lacks_breaks(self):
        breaks, _, _ = self.compare(
            searchlight__items='#include "basics.h"\n',
            searchlight__log=self.FILES["searchlight/log.h"] + self.FILES["searchlight/items.h"].split("\n")[1])
        self.assertEqual(sorted(breaks), ["searchlight/items.h: struct items is gone", "searchlight/items.h: type items is gone"])

    def test_a_change_is_named_once(self):
        breaks, _, _ = self.compare(searchlight__items=self.FILES["searchlight/items.h"].replace("int32_t one", "int64_t one"))
        self.assertEqual(len(breaks), 1, breaks)

    def test_a_header_that_is_gone_breaks(self):
        breaks, _, _ = self.compare(searchlight__log=None, searchlight_extension='#include "searchlight/items.h"\n')
        self.assertIn("searchlight/log.h is gone", breaks)

    def test_drafts_may_change(self):
        breaks, adds, drafts = self.compare(
            searchlight__draft__more='#include "../basics.h"\ntypedef struct other { void (*ask)(void); } other;\n')
        self.assertEqual((breaks, adds), ([], []))
        self.assertIn("searchlight/draft/more.h: struct more is gone", drafts)
        self.assertEqual(self.compare(searchlight__draft__more=None)[2], ["searchlight/draft/more.h is gone"])


if __name__ == "__main__":
    unittest.main()
