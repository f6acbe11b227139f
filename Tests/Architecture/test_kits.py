# SPDX-License-Identifier: Apache-2.0
"""The kits against the C header: the structs of the kits for Rust and Zig, and the numbers and names in each language."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "SearchlightExtension"
HEADERS = "\n".join(path.read_text() for path in sorted((ROOT / "include").rglob("*.h")))

# The struct of the header that a struct of the crate, or of the kit for Zig, declares.
STRUCTS = {
    "RawHost": "searchlight_host",
    "RawAttachment": "searchlight_attachment",
    "RawPreview": "searchlight_preview_reply",
    "HostRequest": "searchlight_host_request",
    "HostCancel": "searchlight_host_cancel",
    "HostProgress": "searchlight_host_progress",
    "HostItems": "searchlight_host_items",
    "HostCustomKeys": "searchlight_host_custom_keys",
    "HostBatch": "searchlight_host_batch",
    "HostRename": "searchlight_host_rename",
    "HostListing": "searchlight_host_listing",
    "HostProtection": "searchlight_host_protection",
    "HostLog": "searchlight_host_log",
    "HostLeftOut": "searchlight_host_left_out",
    "HostContent": "searchlight_host_content",
    "ReindexTable": "searchlight_extension_reindex",
    "EncryptedItemsTable": "searchlight_extension_encrypted_items",
    "RawPage": "searchlight_page",
    "PagingTable": "searchlight_extension_paging",
    "RawChange": "searchlight_change",
    "ChangesTable": "searchlight_extension_changes",
    "PromisesTable": "searchlight_extension_promises",
    "PreviewTable": "searchlight_extension_preview",
    "RawThrottle": "searchlight_throttle_notice",
    "ThrottleTable": "searchlight_extension_throttle",
    "Entry": "searchlight_extension_entry",
}

# The kinds of a C type and a Rust type that have the same size.
C_KINDS = {"uint32_t": 4, "int32_t": 4, "uint64_t": 8, "double": 8, "size_t": 8}
# Names of such types.
C_KINDS |= {name: C_KINDS[kind] for kind, name in re.findall(r"^typedef (u?int\d+_t) (searchlight_\w+);", HEADERS, flags=re.M)}
RUST_KINDS = {"u32": 4, "i32": 4, "u64": 8, "f64": 8, "usize": 8}


def c_fields(body):
    """Returns the names and sizes of the fields of a struct of the header."""
    fields = []
    for statement in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";"):
        statement = " ".join(statement.split())
        if not statement:
            continue
        function = re.search(r"\(\*(\w+)\)", statement)
        if function:
            fields.append((function[1], 8))
            continue
        kind, name = re.fullmatch(r"(.+?)\s*(\w+)", statement).groups()
        fields.append((name, 8 if "*" in kind else C_KINDS[kind]))
    return fields


def rust_fields(body):
    """Returns the names and sizes of the fields of a struct of the crate."""
    fields = []
    for name, kind in re.findall(r"pub (\w+):\s*(unsafe extern \"C\" fn|\*|[\w]+)", body):
        fields.append((name, RUST_KINDS.get(kind, 8)))
    return fields


ZIG_KINDS = {"u32": 4, "i32": 4, "u64": 8, "f64": 8, "usize": 8}


def zig_fields(body):
    """Returns the names and sizes of the fields of a struct of the kit for Zig."""
    return [(name, ZIG_KINDS.get(kind, 8)) for name, kind in re.findall(r"(?m)^    (\w+): ([\w]+|[*?])", body)]


class ZigKit(unittest.TestCase):
    def setUp(self):
        self.header = "".join(path.read_text() for path in sorted((ROOT / "include").rglob("*.h")))
        self.raw = (ROOT / "zig" / "raw.zig").read_text()
        self.kit = (ROOT / "zig" / "searchlight.zig").read_text()

    def test_every_struct_has_the_fields_of_the_header(self):
        c_structs = dict(re.findall(r"typedef struct (\w+) \{\n(.*?)\n\} \1;", self.header, flags=re.S))
        zig_structs = dict(re.findall(r"pub const (\w+) = extern struct \{\n(.*?)\n\};", self.raw, flags=re.S))
        self.assertEqual(set(zig_structs), set(STRUCTS))
        for zig, c in STRUCTS.items():
            self.assertEqual(zig_fields(zig_structs[zig]), c_fields(c_structs[c]), zig)

    def test_every_interface_has_a_name_of_the_header(self):
        names = set(re.findall(r'"(searchlight\.[a-z-]+/\d+)"', self.header))
        used = set(re.findall(r'"(searchlight\.[a-z-]+/\d+)"', self.kit))
        self.assertEqual(used - names, set())
        self.assertGreater(len(used), 10)

    def test_errors_are_in_the_order_of_the_statuses(self):
        order = re.findall(r"error\.(\w+),", re.search(r"const errors = \[_\]Error\{(.*?)\};", self.kit, flags=re.S)[1])
        for number, name in enumerate(order, start=1):
            upper = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
            self.assertEqual(int(re.search(rf"\bSEARCHLIGHT_{upper}(?: =)? (\d+)", self.header)[1]), number, name)
        self.assertEqual(len(order), 8)


class RustCrate(unittest.TestCase):
    def setUp(self):
        self.header = HEADERS
        self.crate = (ROOT / "rust" / "src" / "raw.rs").read_text()

    def test_every_struct_has_the_fields_of_the_header(self):
        c_structs = dict(re.findall(r"typedef struct (\w+) \{\n(.*?)\n\} \1;", self.header, flags=re.S))
        rust_structs = dict(re.findall(r"#\[repr\(C\)\]\npub struct (\w+) \{\n(.*?)\n\}", self.crate, flags=re.S))
        rust_structs.pop("Opaque")
        self.assertEqual(set(rust_structs), set(STRUCTS))
        for rust, c in STRUCTS.items():
            self.assertEqual(rust_fields(rust_structs[rust]), c_fields(c_structs[c]), rust)

    def test_every_interface_has_a_name_of_the_header(self):
        names = set(re.findall(r'"(searchlight\.[a-z-]+/\d+)"', self.header))
        sources = [path.read_text() for path in (ROOT / "rust" / "src").glob("*.rs")]
        used = {name for text in sources for name in re.findall(r'b"(searchlight\.[a-z-]+/\d+)(?:\\0)?"', text)}
        self.assertEqual(used - names, set())
        self.assertGreater(len(used), 10)

    def test_numbers_are_those_of_the_header(self):
        for name in ("OK", "FAILED", "UNSUPPORTED", "NOT_FOUND", "CANCELLED", "INVALID_ARGUMENT", "UNAVAILABLE",
                     "TOO_LARGE", "REFUSED"):
            number = int(re.search(rf"\bSEARCHLIGHT_{name} = (\d+)", self.header)[1])
            if name == "OK":
                self.assertIn(f"pub const OK: Status = {number};", self.crate)
                continue
            case = name.title().replace("_", "")
            self.assertIn(f"{case} = {number},", (ROOT / "rust" / "src" / "lib.rs").read_text())

class Numbers(unittest.TestCase):
    """The numbers that the kits for Go and Python write again, since their authors do not see the header."""

    # The names in the header, in Go, and in Python.
    NAMES = (
        ("FAILED", "Failed", "FAILED"),
        ("UNSUPPORTED", "Unsupported", "UNSUPPORTED"),
        ("NOT_FOUND", "NotFound", "NOT_FOUND"),
        ("CANCELLED", "Cancelled", "CANCELLED"),
        ("INVALID_ARGUMENT", "InvalidArgument", "INVALID_ARGUMENT"),
        ("UNAVAILABLE", "Unavailable", "UNAVAILABLE"),
        ("TOO_LARGE", "TooLarge", "TOO_LARGE"),
        ("REFUSED", "Refused", "REFUSED"),
        ("CHANGED", "FileChanged", "CHANGED"),
        ("MOVED", "FileMoved", "MOVED"),
        ("REMOVED", "FileRemoved", "REMOVED"),
        ("KEY_SEARCHABLE", "Searchable", "SEARCHABLE"),
        ("KEY_SEARCHABLE_BY_DEFAULT", "SearchableByDefault", "SEARCHABLE_BY_DEFAULT"),
        ("CLASS_NONE", "ClassNone", "CLASS_NONE"),
        ("CLASS_COMPLETE_UNLESS_OPEN", "ClassCompleteUnlessOpen", "CLASS_COMPLETE_UNLESS_OPEN"),
        ("CLASS_COMPLETE", "ClassComplete", "CLASS_COMPLETE"),
        ("LISTING_MAX", "MaximumListing", "MAXIMUM_LISTING"),
    )

    def test_numbers_are_those_of_the_header(self):
        go = "".join(path.read_text() for path in (ROOT / "go").glob("*.go"))
        python = (ROOT / "python" / "searchlight.py").read_text()
        for c_name, go_name, python_name in self.NAMES:
            with self.subTest(name=c_name):
                number = re.search(rf"\bSEARCHLIGHT_{c_name} (?:= )?(\d+)", HEADERS)[1]
                self.assertRegex(go, rf"\b{go_name}\s+(?:\w+\s+)?= {number}\b")
                self.assertRegex(python, rf"(?m)^{python_name} = {number}\b")


class Installation(unittest.TestCase):
    def test_all_files_of_the_kits_are_installed(self):
        release = (ROOT.parents[1] / "Scripts" / "release").read_text()
        self.assertIn("Sources/SearchlightExtension/include -type f", release)
        for kit in ("go", "python", "rust", "zig"):
            installed = re.search(rf'for name in ([^\n]*); do\n    put 644 "Sources/SearchlightExtension/{kit}/', release)
            names = {str(path.relative_to(ROOT / kit)) for path in (ROOT / kit).rglob("*")
                     if path.is_file() and path.suffix in (".c", ".h", ".go", ".mod", ".py", ".rs", ".zig") or path.name == "Cargo.toml"}
            self.assertEqual(set(installed[1].split()), names, kit)


if __name__ == "__main__":
    unittest.main()
