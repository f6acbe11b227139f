# SPDX-License-Identifier: Apache-2.0
"""Holds docs/ARCHITECTURE.md, the manifests, what each file imports and how long the files are against each other."""

import itertools
import json
import pathlib
import re
import statistics
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "ARCHITECTURE.md"
# Comes with the toolchain, so no manifest declares it. The page says who uses Foundation, which is a choice.
TOOLCHAIN = {"Foundation", "FoundationNetworking", "FoundationXML", "Glibc", "Dispatch", "Synchronization", "Testing"}
# Dependencies that nobody imports, and why they are declared.
BUILT_ALONG = {
    ("CRecordCompression", "CZstd"): "C includes the header of the library itself",
    ("CoreSpotlightTests", "PortedSourcesInSwift6"): "that it compiles is the test",
    ("CDesktop", "CAdwaita"): "tells where the library and its headers are",
    ("DropTarget", "CAdwaita"): "tells where the library and its headers are",
    ("PageProbe", "CAdwaita"): "tells where the library and its headers are",
    ("CMarkup", "CLibXML2"): "tells where the library and its headers are",
    ("CMailReader", "CGMime"): "tells where the library and its headers are",
    ("CMailReader", "CLibXML2"): "tells where the library and its headers are",
}
# The other modules of products of other projects.
FOREIGN_MODULES = {"Yams": {"CYaml"}}
# Modules that are pure, or nearly: they and their tests reach no library of the system. Scripts/test-alone shows it.
ALONE = [
    "IdleScheduling", "ItemRecord", "JSONText", "MetadataQuery", "SchedulerSimulation", "SemanticEmbedding",
    "WriteAheadLog",
]
LONGEST, LONGEST_MEDIAN = 800, 219
# The packages beside the main one.
PACKAGES = ["Benchmarks", "Desktop", "Examples", "Examples/PicturesWindow", "Plugins", "Plugins/Content", "Torture"]

IMPORT = re.compile(
    r"(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?"
    r"import\s+(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?(\w+)"
)
INCLUDE = re.compile(r'\s*#\s*include\s+[<"]([^>"]+)[>"]')


def swift_imports(text):
    """Returns the modules that Swift source imports, without those in string literals and comments."""
    text = re.sub(r'(#*)"""\n.*?"""\1|/\*.*?\*/', "", text, flags=re.DOTALL)
    return {match[1] for match in map(IMPORT.match, map(str.strip, text.splitlines())) if match}


class Target:
    def __init__(self, described, root, products):
        self.name, self.kind = described["name"], described["type"]
        folder = "Tests" if self.kind == "test" else "Sources"
        self.folder = root / (described.get("path") or f"{folder}/{self.name}")
        # The modules of each dependency: a product of this project's own has several.
        self.modules = {}
        for dependency in described["dependencies"]:
            (names,) = dependency.values()
            self.modules[names[0]] = set(products.get(names[0], [])) | FOREIGN_MODULES.get(names[0], set()) | {names[0]}
        self.dependencies = set(self.modules)
        self.reachable = set().union(*self.modules.values())

    def files(self, *endings):
        return sorted(path for path in self.folder.rglob("*") if path.suffix in endings)

    def headers(self):
        return {path.name for path in self.files(".h")}

    def imports(self, owners):
        """The modules that it uses: a name for each, and a file in which it stands."""
        found = {}
        for path in self.files(".swift"):
            for name in swift_imports(path.read_text(encoding="utf-8")):
                found.setdefault(name, path)
        for path in self.files(".c", ".h"):
            for line in path.read_text(encoding="utf-8").splitlines():
                match = INCLUDE.match(line)
                owner = match and owners.get(match[1])
                if owner and match[1] not in self.headers():
                    found.setdefault(owner, path)
        return found


class Project:
    """All packages, as their manifests describe them."""

    def __init__(self):
        main = self.described(ROOT)
        self.products = {each["name"]: each["targets"] for each in main["products"] if "library" in each["type"]}
        self.main = [Target(each, ROOT, {}) for each in main["targets"]]
        self.others = {
            name: [Target(each, ROOT / name, self.products) for each in self.described(ROOT / name)["targets"]]
            for name in PACKAGES
        }
        self.targets = self.main + [target for targets in self.others.values() for target in targets]
        self.kinds = {target.name: target.kind for target in self.targets}
        self.owners = {header: target.name for target in self.targets for header in target.headers()}
        self.written_in_swift = {target.name for target in self.targets if target.files(".swift")}

    @staticmethod
    def described(package):
        command = ["swift", "package", "--package-path", str(package), "dump-package"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def rows(page):
    """The map: each module with what it imports, in the order of the page."""
    found = {}
    for line in page.splitlines():
        match = re.match(r"\| `([\w-]+)` \|([^|]*)\|", line)
        if match:
            found[match[1]] = set(re.findall(r"`([\w-]+)`", match[2]))
    return found


def sections(page):
    """The sections about modules: the names in a heading, and the text below it."""
    below = page.split("\n## The modules\n")[1].split("\n## ")[0]
    for part in below.split("\n### ")[1:]:
        heading, text = part.split("\n", 1)
        yield re.split(r", | and ", heading), text


def upwards(arrows):
    """Arrows from a module to one that stands behind it, or to itself."""
    order = {name: place for place, name in enumerate(arrows)}
    return [(name, other) for name, others in arrows.items() for other in sorted(others)
            if order.get(other, -1) >= order[name]]


def reachable(name, arrows):
    """Everything that a module depends on, itself included."""
    found, pending = set(), [name]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += arrows.get(name, [])
    return found


def undocumented(text):
    """The cases of public enumerations and the requirements of public protocols without a comment; the formatter's rule
    asks for one of all other public declarations."""
    text = re.sub(r'(#*)"""\n.*?"""\1', lambda match: '""' + "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    inside, next_kind, has_comment = [], None, False
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if line.startswith("///"):
            has_comment = True
            continue
        if line.startswith(("@", "//", "#")):
            continue
        kind = inside[-1] if inside else None
        if not has_comment and (
            kind == "enum" and re.match(r"(indirect )?case ", line)
            or kind == "protocol" and re.match(r"((static|mutating) )*(func|var|init|subscript|associatedtype)\b", line)
        ):
            yield number, line
        code = re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)
        match = re.match(r"(?:\w+ )*public (?:\w+ )*?(enum|protocol) ", code)
        next_kind = match[1] if match else next_kind
        for brace in re.findall(r"[{}]", code):
            if brace == "{":
                inside.append(next_kind)
                next_kind = None
            elif inside:
                inside.pop()
        has_comment = False


def undocumented_in_header(text):
    """Returns the types and functions of a C header in paragraphs without a comment."""
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines()]
        declared = [line for line in lines if re.match(r"typedef |[\w ]+\*?\(\*\w+\)\(", line)]
        if declared and "/*" not in paragraph:
            yield from declared


TYPE = re.compile(
    r"(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|open|final|indirect|nonisolated) )*"
    r"(?:struct|class|enum|actor|protocol|typealias) (\w+)"
)


def shared_names(sources):
    """Returns the names of types that several sources declare, without private and nested types."""
    found = {}
    for path, text in sources:
        text = re.sub(r'(#*)""".*?"""\1|/\*.*?\*/', "", text, flags=re.DOTALL)
        for name in {match[1] for match in map(TYPE.match, text.splitlines()) if match}:
            found.setdefault(name, []).append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def listed_files():
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = [ROOT / name for name in names if name.endswith((".swift", ".c", ".h"))]
    return [path for path in paths if path.is_file()]


class Arrows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.project = Project()
        cls.map = rows(PAGE.read_text(encoding="utf-8"))

    def test_what_is_imported_is_declared(self):
        project = self.project
        for target in project.targets:
            for name, path in sorted(target.imports(project.owners).items()):
                with self.subTest(target=target.name, imports=name):
                    if name not in TOOLCHAIN | target.reachable:
                        self.fail(f"{path.relative_to(ROOT)} imports {name}, which {target.name} does not declare: it is "
                                  "there by chance, through another module. Declare it in the manifest, or do without.")

    def test_what_is_declared_is_imported(self):
        project = self.project
        for target in (each for each in project.targets if each.kind != "system"):
            imported = set(target.imports(project.owners))
            for name in sorted(target.dependencies - imported):
                # C declares a function of a Swift module by itself; there is nothing to include.
                linked = not target.files(".swift") and name in project.written_in_swift
                with self.subTest(target=target.name, declares=name):
                    if not linked and not target.modules[name] & imported and (target.name, name) not in BUILT_ALONG:
                        self.fail(f"{target.name} declares {name}, and none of its files imports it. "
                                  "Take it out of the manifest.")

    def test_modules_for_other_packages_are_used_there(self):
        project = self.project
        targets = project.others["Benchmarks"] + project.others["Desktop"] + project.others["Torture"]
        used = {name for target in targets for name in target.imports(project.owners)}
        self.assertEqual(sorted(set(project.products["SearchlightInternals"]) - used), [],
                         "Nobody uses these. Take them out of the product SearchlightInternals.")

    def test_pure_modules_reach_no_library_of_the_system(self):
        targets = {target.name: target for target in self.project.main}
        for name in itertools.chain.from_iterable((module, module + "Tests") for module in ALONE):
            reached = reachable(name, {each.name: each.dependencies for each in targets.values()})
            with self.subTest(target=name):
                system = sorted(each for each in reached if each not in targets or targets[each].kind == "system")
                self.assertEqual(system, [], f"{name} reaches libraries of the system, or other packages.")

    def test_the_page_has_the_arrows_of_the_code(self):
        project = self.project
        for target in project.main:
            if not target.folder.is_relative_to(ROOT / "Sources"):
                continue
            with self.subTest(target=target.name):
                self.assertIn(target.name, self.map, "docs/ARCHITECTURE.md has no row for it; add one to its table.")
            imports = set(target.imports(project.owners)) | target.dependencies
            code = imports - (TOOLCHAIN - {"Foundation"}) - {target.name}
            for name in sorted(code ^ self.map.get(target.name, code)):
                with self.subTest(target=target.name, imports=name):
                    says = "lacks this arrow, which the code has" if name in code else "has an arrow that the code has not"
                    self.fail(f"{target.name} -> {name}: the table of docs/ARCHITECTURE.md {says}.")

    def test_the_page_has_no_row_for_what_is_not_there(self):
        gone = sorted(set(self.map) - {target.name for target in self.project.main})
        self.assertEqual(gone, [], "docs/ARCHITECTURE.md has rows for modules that are not there.")

    def test_arrows_go_to_what_stands_further_up_on_the_page(self):
        for name, other in upwards(self.map):
            with self.subTest(target=name, imports=other):
                self.fail(f"{name} imports {other}, which comes later in the reading order of docs/ARCHITECTURE.md. A module "
                          "imports only what is explained before it: move the code, or the row if it is no circle.")


class Page(unittest.TestCase):
    def setUp(self):
        self.page = PAGE.read_text(encoding="utf-8")

    def test_sections_stand_in_the_order_of_the_table(self):
        names = list(itertools.chain.from_iterable(names for names, _ in sections(self.page)))
        self.assertEqual(names, list(rows(self.page)))

    def test_each_section_says_what_a_module_is_not_for_its_limits_and_its_threads(self):
        for names, text in sections(self.page):
            for word in ("*Not for*:", "*Limits*:", "*Threads*:"):
                with self.subTest(section=names, word=word):
                    self.assertTrue(word in text, "docs/ARCHITECTURE.md does not say it.")

    def test_files_that_the_page_names_are_there(self):
        files = {path.name for path in listed_files()}
        named = re.findall(r"`(?:[\w-]+/)*([\w+-]+\.(?:swift|c|h))`", self.page)
        self.assertEqual(sorted(set(named) - files), [])

    def test_names_of_code_that_the_page_uses_are_there(self):
        code = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in listed_files()
                         if path.is_relative_to(ROOT / "Sources") or path.is_relative_to(ROOT / "Tests" / "TestSupport")
                         or path.is_relative_to(ROOT / "Benchmarks") or path.is_relative_to(ROOT / "Torture")
                         or path.is_relative_to(ROOT / "Desktop"))
        words = set(re.findall(r"\w+", code))
        # A name with a capital after a small letter is a name of code.
        named = set(re.findall(r"`(\w*[a-z]\w*[A-Z]\w*)(?:\.\w+|\+\w+|\(\))?`", self.page))
        self.assertEqual(sorted(named - words - set(rows(self.page))), [])

    def test_folders_that_the_page_names_are_there(self):
        trees = ["Sources", "Tests"] + PACKAGES
        folders = {path.name for tree in trees for path in (ROOT / tree).glob("**") if path.is_dir()}
        named = re.findall(r"`(?:[\w-]+/)*([\w-]+)/`", self.page)
        self.assertEqual(sorted(set(named) - folders - set(trees)), [])


class Files(unittest.TestCase):
    def test_no_file_is_longer_than_a_reader_bears(self):
        for path in listed_files():
            count = len(path.read_text(encoding="utf-8").splitlines())
            with self.subTest(file=str(path.relative_to(ROOT))):
                self.assertLessEqual(count, LONGEST, f"{count} lines; cut it where it has a seam.")

    def test_most_files_are_short(self):
        for tree in ["Sources", "Tests"] + PACKAGES:
            counts = [len(path.read_text(encoding="utf-8").splitlines()) for path in listed_files()
                      if path.is_relative_to(ROOT / tree)]
            self.assertLessEqual(statistics.median(counts), LONGEST_MEDIAN, f"half of the files below {tree} are longer")


class Names(unittest.TestCase):
    def test_no_two_types_have_one_name(self):
        sources = [path for path in listed_files() if path.suffix == ".swift" and path.is_relative_to(ROOT / "Sources")]
        for name, paths in sorted(shared_names((path, path.read_text(encoding="utf-8")) for path in sources).items()):
            with self.subTest(type=name):
                self.fail(f"{name} is declared in {' and '.join(str(path.relative_to(ROOT)) for path in paths)}. "
                          "Name each after what it is.")


class Calls(unittest.TestCase):
    def test_the_service_knows_every_call_that_is_declared(self):
        declared, known = set(), set()
        for path in sorted((ROOT / "Sources/SearchlightEngine").rglob("*.swift")):
            text = path.read_text()
            declared |= set(re.findall(r"struct (\w+): (?:EngineCall|ClientCall)\b", text))
            if path.name == "ClientCallHandler.swift":
                known = set(re.findall(r"\b(\w+)\.self\b", text.split("static let calls")[1].split("]\n")[0]))
        self.assertTrue(declared)
        self.assertEqual(declared, known)


class Notices(unittest.TestCase):
    def test_what_is_linked_is_named_with_its_licence(self):
        manifest = (ROOT / "Package.swift").read_text(encoding="utf-8")
        pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("NOTICE", "Packaging/debian/copyright")]
        dependencies = re.findall(r'\.package\(url: "[^"]*/([^"/]+?)(?:\.swift)?"', manifest)
        self.assertGreaterEqual(len(dependencies), 2)
        for name in dependencies:
            for page in pages:
                with self.subTest(dependency=name):
                    self.assertIn(re.sub("[- ]", "", name).lower(), re.sub(r"[-\s]", "", page).lower())
        # The text that the MIT licence requires in all copies.
        for page in pages:
            self.assertIn("Permission is hereby granted, free of charge, to any person", page)


class Comments(unittest.TestCase):
    def test_cases_and_requirements_that_are_public_have_one(self):
        for path in listed_files():
            if path.is_relative_to(ROOT / "Sources") and path.suffix == ".swift":
                for number, line in undocumented(path.read_text(encoding="utf-8")):
                    with self.subTest(place=f"{path.relative_to(ROOT)}:{number}"):
                        self.fail(f"“{line}” has no comment; say what it means.")

    def test_types_and_functions_of_the_header_have_one(self):
        for header in (ROOT / "Sources" / "SearchlightExtension" / "include").rglob("*.h"):
            with self.subTest(header=header.name):
                self.assertEqual(list(undocumented_in_header(header.read_text(encoding="utf-8"))), [])


class Reading(unittest.TestCase):
    """Checks the recognition of imports, rows, and dependencies on higher modules."""

    def test_imports_of_every_form(self):
        source = "@testable import A\n@preconcurrency public import B\nimport struct C.D\n@_exported import E\n  import F\n"
        self.assertEqual(swift_imports(source), {"A", "B", "C", "E", "F"})

    def test_texts_and_comments_import_nothing(self):
        self.assertEqual(swift_imports('// import A\n/* \nimport B\n*/\nlet a = #"""\n  import C\n  """#\nimportant()\n'), set())

    def test_arrows_upwards_and_circles(self):
        self.assertEqual(upwards({"A": set(), "B": {"A", "GRDB"}}), [])
        self.assertEqual(upwards({"A": {"B"}, "B": set(), "C": {"C"}}), [("A", "B"), ("C", "C")])

    def test_everything_that_a_module_depends_on(self):
        arrows = {"A": {"B"}, "B": {"C"}, "C": {"B"}, "D": {"A"}}
        self.assertEqual(reachable("A", arrows), {"A", "B", "C"})

    def test_missing_comments_of_cases_and_requirements(self):
        source = """
        /// A.
        public enum A: Error {
            case one, two
            /// With one.
            case three
            var text: String { switch self { case .one: "}" default: "" } }
        }
        enum B { case inner }
        public protocol C {
            /// With one.
            @discardableResult
            func a()
            var b: Int { get }
        }
        """
        self.assertEqual([line for _, line in undocumented(source)], ["case one, two", "var b: Int { get }"])
        header = "/* A. */\ntypedef int a;\n\ntypedef int b;\n\n    void (*c)(int); /* C. */\n"
        self.assertEqual(list(undocumented_in_header(header)), ["typedef int b;"])

    def test_types_with_one_name(self):
        one = "public final class A<B> {\n    struct C {}\n}\nprivate enum D {}\n@MainActor struct E {}\n"
        two = "struct A {}\nextension E {}\nstruct C {}\nenum D {}\n/* struct E */\n"
        self.assertEqual(shared_names([("1", one), ("2", two)]), {"A": ["1", "2"]})

    def test_rows(self):
        self.assertEqual(rows("| `A-b` | `C`, `D` | For `E`. |\n| Module | Imports |\n"), {"A-b": {"C", "D"}})


if __name__ == "__main__":
    unittest.main()
