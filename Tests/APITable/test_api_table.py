# SPDX-License-Identifier: Apache-2.0
"""Checks the declarations that Scripts/api-table accepts as equal, and those that it rejects."""

import importlib.machinery
import importlib.util
import json
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "Scripts" / "api-table"
loader = importlib.machinery.SourceFileLoader("api_table", str(SCRIPT))
table = importlib.util.module_from_spec(importlib.util.spec_from_loader("api_table", loader))
loader.exec_module(table)

HANDLER = "func load(completionHandler: (((any Error)?) -> Void)? = nil)"


def symbol(path, declaration, kind="swift.method", comment=()):
    return {
        "kind": {"identifier": kind},
        "identifier": {"precise": "/".join(path) + declaration},
        "pathComponents": path,
        "declarationFragments": [{"spelling": declaration}],
        "docComment": {"lines": [{"text": line} for line in comment]},
    }


class Declarations(unittest.TestCase):
    def same(self, first, second, owner="A"):
        self.assertEqual(table.key(first, owner), table.key(second, owner))

    def different(self, first, second):
        self.assertNotEqual(table.key(first, "A"), table.key(second, "A"))

    def test_attributes_access_and_inner_names_do_not_matter(self):
        self.same(HANDLER, "@preconcurrency open func load(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil)")
        self.same("func a(of item: Int)", "override func a(of other: Int)")
        self.same("class func `default`() -> Self", "static func `default`() -> A")
        self.same("func a() async throws", "nonisolated(nonsending) func a() async throws(E)")
        self.same("let a: Int", "var a: Int { get }")

    def test_labels_types_effects_and_defaults_matter(self):
        self.different("func a(of item: Int)", "func a(for item: Int)")
        self.different("func a(_ item: Int)", "func a(item: Int)")
        self.different("func a(of item: Int)", "func a(of item: Int?)")
        self.different("func a()", "func a() async")
        self.different("func a() async", "func a() async throws")
        self.different("init(a: Int)", "init?(a: Int)")
        self.different("func a(b: Int = 0)", "func a(b: Int)")
        self.different("var a: Int", "static var a: Int")


class Notes(unittest.TestCase):
    def state(self, *lines):
        complaints = []
        return table.state(lines, "A.b", complaints), complaints

    def test_a_note_may_have_several_lines(self):
        lines = ("Does a thing.", "", "- Note: Differs on Linux: it is", "  slower.", "", "More.")
        self.assertEqual(self.state(*lines), (("works, differs", "it is slower."), []))

    def test_no_note_means_that_it_works(self):
        self.assertEqual(self.state("Does a thing, on Linux as well."), (("works", ""), []))

    def test_a_note_without_text_is_refused(self):
        for kind in ("Differs", "Unused", "Fails"):
            self.assertEqual(len(self.state(f"- Note: {kind} on Linux:")[1]), 1)

    def test_a_note_of_another_form_is_refused(self):
        self.assertEqual(len(self.state("- Note: On Linux this does nothing.")[1]), 1)


class Answers(unittest.TestCase):
    def complaints(self, facts, symbols, relationships=()):
        complaints = []
        with tempfile.TemporaryDirectory() as scratch:
            graph = {"symbols": symbols, "relationships": list(relationships)}
            pathlib.Path(scratch, "CoreSpotlight.symbols.json").write_text(json.dumps(graph), encoding="utf-8")
            found = table.symbols(pathlib.Path(scratch), complaints)
        answers = [table.answer(table.Fact(*fact, "iOS 9", None, 1), *found, complaints) for fact in facts]
        return [answer is not None for answer in answers], complaints

    def test_a_member_of_another_type_answers_nothing(self):
        answers, _ = self.complaints([("A", "func b()")], [symbol(["C", "b()"], "func b()")])
        self.assertEqual(answers, [False])

    def test_members_are_inherited(self):
        classes = [symbol([name], f"class {name}", "swift.class") for name in ("A", "B")]
        inherits = {"kind": "inheritsFrom", "source": "Aclass A", "target": "Bclass B"}
        answers, _ = self.complaints([("A", "func b()")], [*classes, symbol(["B", "b()"], "func b()")], [inherits])
        self.assertEqual(answers, [True])

    def test_what_apple_lets_set_must_be_settable(self):
        property = symbol(["A", "b"], "var b: Int { get }", "swift.property")
        self.assertEqual(self.complaints([("A", "var b: Int { get }")], [property]), ([True], []))
        self.assertEqual(len(self.complaints([("A", "var b: Int")], [property])[1]), 1)

    def test_kinds_and_conformances_are_compared(self):
        type = symbol(["A"], "struct A", "swift.struct")
        self.assertEqual(len(self.complaints([("", "class A")], [type])[1]), 1)
        self.assertEqual(len(self.complaints([("", "struct A: Sendable")], [type])[1]), 1)
        conforms = {"kind": "conformsTo", "source": "Astruct A", "target": "", "targetFallback": "Swift.Sendable"}
        self.assertEqual(self.complaints([("", "struct A: Sendable")], [type], [conforms]), ([True], []))


if __name__ == "__main__":
    unittest.main()
