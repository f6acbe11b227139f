# SPDX-License-Identifier: Apache-2.0
"""The C header against the one of revision 1 (Scripts/header-changes), and its comments."""

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


class PresentHeader(unittest.TestCase):
    def test_nothing_breaks_what_was_built_with_revision_1(self):
        breaks, _ = TOOL.changes(TOOL.read(TOOL.KEPT), TOOL.read(TOOL.PRESENT))
        self.assertEqual(breaks, [])

    def test_everything_is_read(self):
        """A reader that skips declarations would find no changes."""
        text = TOOL.PRESENT.read_text()
        present = TOOL.read(TOOL.PRESENT)
        self.assertEqual({name for name, fields in present.structs.items() if fields is not None},
                         set(re.findall(r"^typedef struct (\w+) \{$", text, flags=re.M)))
        for name in re.findall(r"^#define (SEARCHLIGHT_\w+) \S", text, flags=re.M):
            if not TOOL.IGNORED.match(name):
                self.assertIn(name, present.constants)
        functions = sum(kind.count("(*)") for fields in present.structs.values() for _, kind in fields or [])
        self.assertEqual(functions, len(re.findall(r"\(\*\w+\)\(", re.sub(r"typedef [^{;]*;", "", text))))

    def test_every_function_states_its_threads(self):
        """By a tag in its comment, beside it, or in the comment of its struct, for all functions."""
        text = TOOL.PRESENT.read_text()
        tag = re.compile(r"\[(?:request-thread|thread-safe|load-thread|one thread at a time)[^\]]*\]")
        end = 0
        for struct in re.finditer(r"^typedef struct (\w+) \{\n(.*?)\n\} \1;", text, flags=re.M | re.S):
            before, name, body = text[end:struct.start()], struct[1], struct[2]
            end = struct.end()
            if re.search(r"All[\s*]+\[", before):
                continue
            for entry in re.findall(r"((?:/\*(?:(?!\*/).)*\*/\s*)?[\w ]+\**\(\*\w+\)\([^;]*;(?: /\*[^\n]*)?)", body, flags=re.S):
                function = re.search(r"\(\*(\w+)\)", entry)[1]
                with self.subTest(function=f"{name}.{function}"):
                    self.assertRegex(entry, tag)


class Comparison(unittest.TestCase):
    def compare(self, *replacements):
        """Returns what breaks and what is added if texts of a small header are replaced."""
        changed = SMALL
        for old, new in replacements:
            self.assertIn(old, changed)
            changed = changed.replace(old, new)
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("old.h", "new.h")]
            for path, text in zip(paths, (SMALL, changed)):
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

    def test_a_new_interface_is_an_addition(self):
        more = "typedef struct more { uint32_t size; } more;\n#define SEARCHLIGHT_MORE 1\nstatus start"
        self.assertEqual(self.compare(("status start", more)), ([], ["struct more", "SEARCHLIGHT_MORE"]))

    def test_a_header_that_does_not_compile_is_reported(self):
        with self.assertRaises(TOOL.Unreadable):
            self.compare(("typedef int32_t status;", "typedef missing status;"))


if __name__ == "__main__":
    unittest.main()
