// SPDX-License-Identifier: Apache-2.0
import SymbolBindings
import TestSupport
import Testing

@Suite("Hostile bindings")
struct BindingFuzzTests {
    private struct Broken: Error { var reason: String }

    /// Parses a text. An accepted text is printed and parsed again, and every error position lies
    /// within the text.
    private static func check(_ bytes: [UInt8]) throws -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        let binding: SymbolBinding
        do throws(BindingError) { binding = try SymbolBinding(parsing: text) } catch {
            guard error.offset <= text.utf8.count, error.line >= 1, error.column >= 1 else {
                throw Broken(reason: "an error beyond the text: \(error)")
            }
            guard error.description.utf8.count < 2000 else { throw Broken(reason: "a very long message") }
            return false
        }
        let again: SymbolBinding
        do throws(BindingError) { again = try SymbolBinding(parsing: binding.description) } catch {
            throw Broken(reason: "printed it is refused: \(error) in \(binding.description)")
        }
        guard again == binding else { throw Broken(reason: "printed and read it is another one: \(binding)") }
        return true
    }

    private static let tokens = [
        "(", ")", "{", "}", "[", "]", ",", ":", "=", "->", "==", "!=", ">=", ">", "+", "-", "*", "/", "\"x\"", "null",
        "_",
        " int ", " u8 ", " f64 ", " text ", " bytes[1]", " out ", " inout ", " buffer[4]", " owned(free) ",
        " borrowed ",
        "length(", "item.contents", "item.attribute(\"a\")", "request.type", " and ", " or ", " succeeds ", " when ",
        "call f",
        "1e9", "-1", "0x", "?", "#", "\n", "…", "result ", "acknowledge()", "donate(", "progress(",
    ].map { Array($0.utf8) }

    @Test("Changed, removed and doubled pieces of real bindings", arguments: [1, 2, 3, 4] as [UInt64])
    func mutations(seed: UInt64) throws {
        var loop = MutationLoop(
            seed: seed, corpus: ExampleBindings.all.map { Array($0.utf8) }, tokens: Self.tokens)
        let accepted = try loop.run(MutationLoop.inputs, Self.check)
        #expect(accepted > 50)
    }

    @Test("Random bytes", arguments: [5, 6] as [UInt64])
    func randomBytes(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let bytes = (0..<random.below(60)).map { _ in UInt8(random.below(256)) }
            #expect(try !Self.check(bytes))
        }
    }

    @Test("The longest texts of one kind are answered without a crash")
    func longest() throws {
        let start = "serve throttle library \"l\" call f(a: int = "
        for unit in ["(", "1+", "length(", "-", "{", "[", "a.", "\"", "#", "f(a:{a:", "\\"] {
            let text =
                start + String(repeating: unit, count: (BindingLimits.textBytes - start.utf8.count) / unit.utf8.count)
            #expect(try !Self.check(Array(text.utf8)), "\(unit)")
        }
    }
}
