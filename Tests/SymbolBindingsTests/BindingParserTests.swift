// SPDX-License-Identifier: Apache-2.0
import SymbolBindings
import Testing

@Suite("Reading bindings")
struct BindingParserTests {
    @Test(
        "A call of type( ) is found in any spelling, and only there",
        arguments: [
            ("type(\"a.md\")", true), ("type (\"a.md\")", true), ("type\n(\"a.md\")", true), ("name(\"type(\")", false),
        ])
    func usesTypes(value: String, uses: Bool) throws {
        let text = "serve throttle\nlibrary \"l\"\ncall f(a: text = \(value))"
        #expect(try SymbolBinding(parsing: text).usesTypes == uses)
    }

    @Test(
        "A call of type( ) in a callback and in an explanation is found",
        arguments: [
            "serve files \"~/D\"\nlibrary \"l\"\ncall f(fn: donate(file: text) when type (file) == \"a.b\" { identifier = file })",
            "serve throttle\nlibrary \"l\"\ncall f() -> s: int succeeds s == 0 otherwise g(a: text = type (\"a.md\")) -> why: borrowed text",
        ])
    func usesTypesInside(text: String) throws { #expect(try SymbolBinding(parsing: text).usesTypes) }

    @Test("A printed binding is unchanged after it is read again", arguments: ExampleBindings.all)
    func roundTrip(text: String) throws {
        let binding = try SymbolBinding(parsing: text)
        let again = try SymbolBinding(parsing: binding.description)
        #expect(again == binding)
        #expect(again.description == binding.description)
    }

    @Test("The Markdown binding in all its parts")
    func parts() throws {
        let binding = try SymbolBinding(parsing: ExampleBindings.markdown)
        #expect(binding.purpose == .data(type: "public.html", of: ["net.daringfireball.markdown"]))
        #expect(binding.libraries == ["libcmark-gfm.so.0.29.0.gfm.6", "libcmark-gfm.so"])
        let call = try #require(binding.calls.first)
        #expect(call.symbol == "cmark_markdown_to_html")
        #expect(
            call.parameters.map(\.form) == [
                .bytes(.source(.contents)), .scalar(.u64, .function(.length, .name("text"))),
                .scalar(.i32, .integer(0)),
            ])
        #expect(call.returned?.form == .pointed(try pointer(of: call)))
        #expect(try pointer(of: call).freedBy == "free")
        #expect(binding.result == .name("html"))
    }

    private func pointer(of call: BoundCall) throws -> BoundPointer {
        guard case .pointed(let pointer) = try #require(call.returned).form else {
            throw BindingTestError(reason: "no pointer")
        }
        return pointer
    }

    @Test("Computations have the precedence of C, and keep needed parentheses")
    func arithmetic() throws {
        func printed(_ value: String) throws -> String {
            let text = "serve throttle\nlibrary \"l\"\ncall f(a: i64 = \(value))"
            let lines = try SymbolBinding(parsing: text).description.split(separator: "\n")
            return String(try #require(lines.last).dropFirst("call f(a: ".count).dropLast())
        }
        #expect(try printed("1+2*3") == "i64 = 1 + 2 * 3")
        #expect(try printed("(1+2)*3") == "i64 = (1 + 2) * 3")
        #expect(try printed("1-(2-3)") == "i64 = 1 - (2 - 3)")
        #expect(try printed("(1-2)-3") == "i64 = 1 - 2 - 3")
        #expect(try printed("1 - -3") == "i64 = 1 - -3")
        #expect(try printed("8/(2*2)") == "i64 = 8 / (2 * 2)")
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        var text: String
        var line: Int
        var column: Int
        var says: String
        var testDescription: String { says }
    }

    /// Returns a binding with one parameter list, which is at line 3.
    private static func call(_ rest: String, serve: String = "data public.html of public.text") -> String {
        "serve \(serve)\nlibrary \"l.so\"\ncall f\(rest)"
    }

    static let mistakes: [Mistake] = [
        Mistake(text: "", line: 1, column: 1, says: "Found the end of the binding. Expected “serve”"),
        Mistake(text: "serve html", line: 1, column: 7, says: "A binding cannot serve “html”"),
        Mistake(text: "serve data html", line: 1, column: 12, says: "a uniform type identifier such as public.html"),
        Mistake(text: "serve data public.html", line: 1, column: 23, says: "“of” and the types of the items"),
        Mistake(
            text: "serve preview public.zip of public.text", line: 1, column: 7, says: "A preview cannot be of type"),
        Mistake(text: "serve throttle\ncall f()", line: 2, column: 1, says: "“library” and its name in quotes"),
        Mistake(text: "serve throttle library \"/lib/libc.so\"", line: 1, column: 24, says: "is not a library name"),
        Mistake(text: "serve throttle library \"../x.so\"", line: 1, column: 24, says: "is not a library name"),
        Mistake(text: "serve throttle library \"x", line: 1, column: 24, says: "A text is not closed"),
        Mistake(text: "serve throttle library \"l\"", line: 1, column: 27, says: "“call” and a function"),
        Mistake(text: call("(a: chars = item.path)"), line: 3, column: 11, says: "“chars” is not a type"),
        Mistake(text: call("(a: int = item.path)"), line: 3, column: 17, says: "A is text. Expected a whole number"),
        Mistake(text: call("(a: u8 = 256)"), line: 3, column: 16, says: "256 does not fit into u8. It holds 0 to 255"),
        Mistake(text: call("(a: u8 = 99999999999999999999999)"), line: 3, column: 16, says: "is not a number"),
        Mistake(
            text: call("(a: bytes = item.contents)"), line: 3, column: 8,
            says: "The function does not get the length of a. Pass length(a) too"),
        Mistake(text: call("(a: buffer[2 * length(item.path)])"), line: 3, column: 8, says: "the length of a"),
        Mistake(text: call("(a: buffer[0])"), line: 3, column: 18, says: "A buffer has 0 bytes"),
        Mistake(
            text: call("() -> s: text result s"), line: 3, column: 16,
            says: "The owner of the text is missing. Write borrowed text, or owned(FUNCTION) text"),
        Mistake(
            text: call("(n: out int) -> s: borrowed text\nresult s"), line: 3, column: 8,
            says: "The value “n” is never used"),
        Mistake(text: call("() -> n: int\nresult n"), line: 4, column: 8, says: "The result is a whole number"),
        Mistake(text: call("()"), line: 3, column: 9, says: "“result” and the answer to the request"),
        Mistake(text: call("() result html"), line: 3, column: 17, says: "There is no “html” here"),
        Mistake(
            text: call("() -> p: {x: int, y: int} result p"), line: 3, column: 40,
            says: "Name one of its fields: p.x, p.y"),
        Mistake(text: call("(a: int = 1, a: int = 2)"), line: 3, column: 20, says: "“a” is defined twice"),
        Mistake(text: call("(item: int = 1)"), line: 3, column: 8, says: "“item” is reserved"),
        Mistake(
            text: call("(a: text = request.query)"), line: 3, column: 18, says: "request.query is not available"
        ),
        Mistake(text: call("(a: int = \"x\" + 1)"), line: 3, column: 17, says: "“+” cannot be used with text"),
        Mistake(text: call("(a: int = upper(1))"), line: 3, column: 17, says: "There is no function “upper”"),
        Mistake(text: call("(a: text = item.attribute(\"x\", 1))"), line: 3, column: 38, says: "is not text"),
        Mistake(text: call("(a: acknowledge())"), line: 3, column: 11, says: "“acknowledge” is not available"),
        Mistake(
            text: call("(a: acknowledge(), b: acknowledge())", serve: "reindexAll"), line: 3, column: 29,
            says: "Two callbacks acknowledge"),
        Mistake(
            text: call("(n: int = 1, a: donate(i: int) when n == 1 {identifier = \"x\"})", serve: "reindexAll"),
            line: 3,
            column: 43, says: "There is no “n” here"),
        Mistake(
            text: call("(a: donate() {title = \"x\"})", serve: "reindexAll"), line: 3, column: 21,
            says: "identifier is not set"),
        Mistake(
            text: call("(a: donate() -> f64 = 1 {identifier = \"x\"})", serve: "reindexAll"), line: 3, column: 23,
            says: "cannot return “f64”"),
        Mistake(
            text: call("(a: donate(p: text) {identifier = name(p)})", serve: "files \"~/x\""), line: 3, column: 28,
            says: "The identifier of a file is not its path"),
        Mistake(text: call("()", serve: "files"), line: 2, column: 1, says: "the folder of the files in quotes"),
        Mistake(
            text: call("(a: text = request.path)", serve: "reindexAll"), line: 3, column: 18,
            says: "request.path is not available"),
        Mistake(
            text: call("() result \"x\"", serve: "reindexAll"), line: 3, column: 10,
            says: "This binding has no result"),
        Mistake(
            text: call("() -> n: int succeeds n == 0 or n == 1 and n == 2"), line: 3, column: 46, says: "are mixed"),
        Mistake(text: call("() -> n: int succeeds n < 0"), line: 3, column: 31, says: "swap the two values"),
        Mistake(
            text: call("() -> n: int succeeds n == \"a\""), line: 3, column: 29, says: "cannot be compared with text"),
        Mistake(
            text: call("() otherwise g() -> s: borrowed text"), line: 3, column: 10,
            says: "“otherwise” without “succeeds”"),
        Mistake(
            text: call("() -> n: int succeeds n == 0 otherwise g() -> s: int"), line: 3, column: 46,
            says: "g does not return text"),
        Mistake(
            text: call("() -> s: borrowed text result s extra"), line: 3, column: 39, says: "the end of the binding"),
        Mistake(text: call("(a: int = ((((((((((1))))))))))"), line: 3, column: 26, says: "nested too deeply"),
        Mistake(
            text: call("(text: text = item.path) -> n: int succeeds n == 0 result text"), line: 3, column: 65,
            says: "There is no “text” here. A parameter is known only in its own call"),
        Mistake(
            text: call("(n: text = item.path) -> n: int result \"\""), line: 3, column: 32, says: "“n” is defined twice"
        ),
        Mistake(
            text: call("(n: out int, n: int = 1) -> _: int result \"\""), line: 3, column: 20,
            says: "“n” is defined twice"),
        Mistake(
            text: call("() -> n: int call g() -> n: int result \"\""), line: 3, column: 32, says: "“n” is defined twice"
        ),
        Mistake(
            text: call("() each i below 2 { call g() -> s: borrowed text gather t = s }", serve: "reindexAll"), line: 3,
            column: 10, says: "“each” is not available in a binding"),
        Mistake(
            text: call("() each i below 2 { call g() -> s: borrowed text } result \"\""), line: 3, column: 56,
            says: "“gather”, a name and the text of a round"),
        Mistake(
            text: call("() each i below 2 { call g() -> n: int gather t = \"x\" } result t"), line: 3, column: 39,
            says: "The value “n” is never used"),
        Mistake(
            text: call("() each i below 2 { call g() -> n: int gather t = n } result t"), line: 3, column: 57,
            says: "The gathered text is a whole number. Expected text"),
        Mistake(
            text: call("() each i below 2 { call g(n: int = i) -> s: borrowed text gather t = s } result s"), line: 3,
            column: 88, says: "There is no “s” here"),
        Mistake(
            text: call("() each i below 2 { call g() -> s: borrowed text gather t = s } result \"x\""), line: 3,
            column: 63, says: "The value “t” is never used"),
        Mistake(
            text: call(
                "() each i below 2 { call g(p: progress(n: int) { completed = n }) -> s: borrowed text gather t = s } result t"
            ),
            line: 3, column: 37, says: "A repeated call has a callback"),
        Mistake(
            text: call("() set identifier = \"x\"", serve: "attributes of public.text"), line: 3, column: 14,
            says: "“identifier” cannot be set here"),
        Mistake(
            text: call("() -> p: borrowed pointer set title = p", serve: "attributes of public.text"), line: 3,
            column: 37,
            says: "title is a pointer"),
        Mistake(
            text: call("()", serve: "attributes of public.text"), line: 3, column: 9, says: "“set” and the attributes"),
        Mistake(
            text: call("() set title = request.type", serve: "attributes of public.text"), line: 3, column: 22,
            says: "request.type is not available"),
        Mistake(text: "serve throttle \u{1}", line: 1, column: 16, says: "Found a control character"),
        Mistake(text: String(repeating: " ", count: 20_000), line: 1, column: 1, says: "The binding has 20000 bytes"),
    ]

    @Test("A mistake is reported with its position and the remedy", arguments: mistakes)
    func mistake(_ mistake: Mistake) {
        let error = #expect(throws: BindingError.self) { try SymbolBinding(parsing: mistake.text) }
        #expect(error?.description.contains(mistake.says) == true, "\(error?.description ?? "nothing")")
        #expect(error?.line == mistake.line && error?.column == mistake.column, "\(error?.description ?? "nothing")")
    }

    @Test("The names of parameters belong to a call, and hide results; written values stay visible")
    func ownNames() throws {
        let binding = try SymbolBinding(
            parsing: Self.call(
                """
                (path: text = item.path, mode: int = 1) -> document: owned(g) pointer
                call h(document: pointer = document, path: { x: int = 1 }, mode: f64 = 0.5) -> path: borrowed text
                call h(document: text = path, n: out int, b: buffer[8]) -> mode: int succeeds mode == n
                call h(document: pointer = document, path: text = path)
                result b[n]
                """))
        #expect(
            binding.calls.map(\.localNames) == [
                ["path", "mode"], ["document", "path.x", "mode"], ["document"], ["document", "path"],
            ])
        #expect(try SymbolBinding(parsing: binding.description) == binding)
    }

    @Test("An explanation sees the parameters of the failed call, and may reuse their names")
    func explanationOfParameters() throws {
        _ = try SymbolBinding(
            parsing: Self.call(
                """
                (code: int = 3) -> ok: bool succeeds ok == 1 otherwise why(code: int = code) -> code: borrowed text
                call g(code: text = "x")
                result "x"
                """))
    }

    @Test("Ignored values are named _, and need no use")
    func ignored() throws {
        _ = try SymbolBinding(parsing: Self.call("(_: out int) -> _: {a: int, b: borrowed text}", serve: "reindexAll"))
    }

    @Test("An explanation may use otherwise unused values, and its own names are free again afterwards")
    func explanation() throws {
        _ = try SymbolBinding(
            parsing: Self.call(
                """
                (code: out int) -> ok: bool succeeds ok == 1 otherwise why(c: int = code) -> t: borrowed text
                call g(c: int = 1) -> t: borrowed text
                result t
                """))
    }
}

struct BindingTestError: Error { var reason: String }
