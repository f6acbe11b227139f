// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import Testing

@testable import ExtensionRuntime

@Suite("Calls of bound functions", .serialized)
struct CallTests {
    let host: BindingHost

    init() throws { host = try BindingHost() }

    @Test("Every number arrives unchanged")
    func numbers() async throws {
        let text = try await host.text(
            """
            numbers(a: i8 = -128, b: i16 = -32768, c: int = -2147483648, d: i64 = -9223372036854775808,
                e: u8 = 255, f: u16 = 65535, g: uint = 4294967295, h: u64 = 18446744073709551615,
                i: f32 = 0.5, j: f64 = -1e300) -> out: owned(free) text
            """)
        #expect(
            text
                == "-128 -32768 -2147483648 -9223372036854775808 255 65535 4294967295 18446744073709551615 0.5 -1e+300")
    }

    @Test(
        "Every number is returned unchanged",
        arguments: [
            ("low8", "i8", "-128"), ("low16", "i16", "-32768"), ("low32", "int", "-2147483648"),
            ("low64", "i64", "-9223372036854775808"), ("high8", "u8", "255"), ("high16", "u16", "65535"),
            ("high32", "u32", "4294967295"), ("yes", "bool", "1"),
        ])
    func returned(function: String, type: String, text: String) async throws {
        let found = try await host.text(
            "\(function)() -> n: \(type)\ncall number_text(n: i64 = n + 0) -> out: owned(free) text".replacing(
                "number_text(n:", with: "number_text(m:"))
        #expect(found == text)
    }

    @Test("The largest number and those with fractions are returned too")
    func returnedLarge() async throws {
        let large = "high64() -> n: u64\ncall unsigned_text(m: u64 = n) -> out: owned(free) text"
        #expect(try await host.text(large) == "18446744073709551615")
        let half = "half() -> n: f32\ncall double_text(m: f64 = n) -> out: owned(free) text"
        #expect(try await host.text(half) == "0.500")
        let third = "third() -> n: f64\ncall double_text(m: f64 = n) -> out: owned(free) text"
        #expect(try await host.text(third) == "0.333")
    }

    @Test("A number that does not fit its parameter is rejected, not truncated")
    func tooLarge() async throws {
        let failure = try await host.failure(
            "high64() -> n: u64\ncall number_text(m: i64 = n) -> out: owned(free) text")
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("m is 18446744073709551615, and i64 holds") == true)
    }

    @Test(
        "Parameters are filled from the item, the request and the bundle",
        arguments: [
            ("item.identifier", "item"), ("item.attribute(\"title\")", "Grüße"), ("request.type", "public.html"),
            ("item.attribute(\"nothing\", \"a default\")", "a default"), ("\"a \\\"text\\\"\"", "a \"text\""),
            ("null", "(null)"), ("name(\"/a/b.md\")", "b.md"), ("suffix(\"/a.b/c.tar.gz\")", "gz"),
            ("suffix(\"/a.b/c\")", ""), ("type(\"/a.b/C.x.MD\")", "net.daringfireball.markdown"),
            ("type(\"/a.b/c\")", "public.data"), ("type(\"/a.md/c.none\")", "public.data"),
            ("item.path", "/nothing here"),
        ])
    func filled(value: String, text: String) async throws {
        #expect(try await host.text("echo(text: text = \(value)) -> out: owned(free) text") == text)
    }

    @Test("Attributes that are numbers, and computations")
    func computed() async throws {
        let call =
            "number_text(n: i64 = item.integer(\"pageCount\") * 2 + length(item.identifier) / item.integer(\"isRead\"))"
        #expect(try await host.text(call + " -> out: owned(free) text") == "-2")
        let float = "double_text(n: f64 = item.float(\"rating\")) -> out: owned(free) text"
        #expect(try await host.text(float) == "0.500")
    }

    @Test(
        "Values that cannot be computed are reported",
        arguments: [
            ("number_text(n: i64 = 1 / item.integer(\"none\", 0))", "1 / 0 cannot be computed"),
            ("echo(t: text = item.attribute(\"none\"))", "no attribute none"),
            ("echo_bytes(b: bytes = item.contents, n: usize = length(b))", "opening /nothing here failed"),
        ])
    func notFilled(call: String, message: String) async throws {
        let failure = try await host.failure(call + " -> out: owned(free) text")
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "nothing")")
    }

    @Test("Bytes are passed with their length, texts as an array that ends with NULL")
    func bytes() async throws {
        let bytes = "echo_bytes(b: bytes = item.attribute(\"title\"), n: usize = length(b)) -> out: owned(free) text"
        #expect(try await host.text(bytes) == "[Grüße]")
        let empty = "echo_bytes(b: bytes = \"\", n: usize = length(b)) -> out: owned(free) text"
        #expect(try await host.text(empty) == "[]")
        let none = "echo_bytes(b: bytes = null, n: usize = length(b)) -> out: owned(free) text"
        #expect(try await host.text(none.replacing("length(b)", with: "0")) == "[]")
        #expect(
            try await host.text("join(t: texts = [\"a\", \"b\"], n: usize = length(t)) -> out: owned(free) text")
                == "a;b;")
    }

    @Test("The contents of the item's file are passed unchanged")
    func contents() async throws {
        let path = host.folder.path + "/a file.txt"
        try Data("in the file\0after".utf8).write(to: URL(filePath: path))
        try host.hold(
            ItemRecord(uniqueIdentifier: "item", attributes: ["contentURL": .url(URL(filePath: path).absoluteString)]))
        let loaded = try host.load(
            BindingHost.binding(
                "echo(t: text = \"x\") -> _: owned(counted_free) text\ncall echo_bytes(b: bytes = item.contents, n: usize = 3) -> out: owned(free) text"
                    .replacing("n: usize = 3", with: "n: usize = length(item.contents)")))
        #expect(try await loaded.data() == "[in the file]")
    }

    @Test("An owned value is freed once by its function in every case; a borrowed one is not")
    func ownership() async throws {
        func freed() async throws -> Int {
            try #require(
                Int(try await host.text("freed() -> n: i64\ncall number_text(m: i64 = n) -> out: owned(free) text")))
        }
        let before = try await freed()
        #expect(try await host.text("echo(t: text = \"x\") -> out: owned(counted_free) text") == "x")
        #expect(
            try await host.text(
                "object_new(t: text = \"held\") -> o: owned(object_free) pointer\ncall object_text(p: pointer = o) -> out: borrowed text"
            )
                == "held")
        let failure = try await host.failure(
            "echo(t: text = \"x\") -> first: owned(counted_free) text succeeds first != \"x\"\ncall constant() -> out: borrowed text"
        )
        #expect(failure?.message == "echo did not succeed: first is \"x\"")
        #expect(try await host.text("constant() -> out: borrowed text") == "a constant")
        #expect(try await freed() == before + 3)
    }

    @Test("Outputs of every kind are read, with a length after its bytes")
    func outputs() async throws {
        let call = """
            outputs(s: out i8, l: out u64, r: out f64, t: out owned(counted_free) text,
                b: out owned(counted_free) bytes[n], n: out u32) succeeds s == -7 and l == 18446744073709551615 and r == 2.5
                    and t == "written"
            """
        #expect(try await host.text(call, result: "b") == "12345")
    }

    @Test("A buffer has its computed length, and the written length is the function's")
    func buffers() async throws {
        let call = """
            fill(b: buffer[length(item.identifier) + 6], n: inout usize = length(b), byte: u8 = 0x41) -> s: int succeeds s == 0
            """
        #expect(try await host.text(call, result: "b[n]") == "AAAA")
        let small = call.replacing("+ 6", with: "- 2")
        #expect(try await host.failure(small, result: "b[n]")?.message == "fill did not succeed: s is 28")
        let digest = "digest(t: text = \"abcdefgh\", out: buffer[8])"
        #expect(try await host.text(digest).utf8.count == 8)
        let lie = "lie(b: buffer[10], n: inout usize = length(b)) -> s: int succeeds s == 0"
        #expect(
            try await host.failure(lie, result: "b[n]")?.message
                == "the function reports 1000000 bytes in b, which has 10")
    }

    @Test("Structs are passed and returned by value, small and large, nested, with floats and pointers")
    func structs() async throws {
        let swap = """
            swap(p: { x: int = 1, y: int = 2 }) -> q: { x: int, y: int } succeeds q.x == 2 and q.y == 1
            call constant() -> out: borrowed text
            """
        #expect(try await host.text(swap) == "a constant")
        let nest = """
            nest(v: { first: { x: i32 = 3, y: i32 = 4 }, second: { a: f64 = 0.25, b: f64 = 8, c: f32 = 1.5, d: i8 = 5 } })
                -> r: { first: { x: i32, y: i32 }, second: { a: f64, b: f64, c: f32, d: i8 } }
                succeeds r.first.x == 4 and r.first.y == 3 and r.second.a == 8 and r.second.b == 0.25 and r.second.c == 2.5
                    and r.second.d == -5
            call constant() -> out: borrowed text
            """
        #expect(try await host.text(nest) == "a constant")
        let slice = "slice(t: text = \"12345678\") -> s: { bytes: owned(counted_free) bytes[s.length], length: usize }"
        #expect(try await host.text(slice, result: "s.bytes") == "1234")
        let out =
            "slice_out(t: text = \"123456\", s: out { bytes: owned(counted_free) bytes[s.length], length: usize })"
        #expect(try await host.text(out, result: "s.bytes") == "123")
    }

    @Test(
        "An invalid result of a function is reported as a failure",
        arguments: [
            ("none() -> out: borrowed text", "none returned NULL for out"),
            ("latin() -> out: borrowed text", "out of latin is not UTF-8; bind it as bytes"),
            ("negative(out: out borrowed bytes[n]) -> n: i64", "out of negative has a negative length, -1"),
            ("enormous(out: out borrowed bytes[n]) -> n: i64", "has 9223372036854775807 bytes; the limit is 67108864"),
            (
                "fails(c: int = 7) -> s: int succeeds s == 0 otherwise why(d: int = s) -> w: borrowed text\n"
                    + "call constant() -> out: borrowed text",
                "fails did not succeed: s is 7: seven is not allowed"
            ),
            (
                "fails(c: int = 8) -> s: int succeeds s == 0 otherwise why(d: int = s) -> w: borrowed text\n"
                    + "call constant() -> out: borrowed text",
                "fails did not succeed: s is 8"
            ),
        ])
    func wrongAnswers(call: String, message: String) async throws {
        let failure = try await host.failure(call)
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "nothing")")
    }

    @Test("NULL is not a failure where it is allowed, and then the answer is empty")
    func optional() async throws {
        let failure = try await host.failure("none() -> out: borrowed text?")
        #expect(failure == BindingFailure(.notFound, "the function returned nothing"))
    }
}
