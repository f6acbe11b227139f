// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a binding: where, what is wrong there, and what to write instead.
public struct BindingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public var line: Int
    /// The place in the line, in bytes of UTF-8, from 1.
    public var column: Int
    /// The same place, in bytes from the beginning of the text.
    public var offset: Int
    /// What is wrong.
    public var problem: String
    /// What to do.
    public var advice: String

    init(at offset: Int, in bytes: [UInt8], _ problem: String, _ advice: String) {
        let before = bytes[..<min(offset, bytes.count)]
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        column = before.count - lineStart + 1
        self.offset = before.count
        self.problem = problem
        self.advice = advice
    }

    /// The place and both sentences.
    public var description: String { "line \(line), column \(column): \(problem). \(advice)." }
}

/// The most there may be of anything in a binding.
public enum BindingLimits {
    /// Bytes of one text.
    public static let textBytes = 16 << 10
    /// Bindings of one bundle.
    public static let bindings = 64
    /// Bytes of a name of a function, a parameter or an attribute.
    public static let nameBytes = 255
    /// Bytes of a text in quotes.
    public static let literalBytes = 4096
    /// Libraries to choose from.
    public static let libraries = 8
    /// Content types.
    public static let types = 64
    /// Calls of one binding.
    public static let calls = 16
    /// Parameters of one function, fields of one struct, attributes of one donation, texts of one list.
    public static let parameters = 32
    /// How deep structs, and parentheses in values, may nest.
    public static let depth = 8
    /// How often calls are repeated.
    public static let rounds = 10_000
    /// Bytes of a text that is gathered from rounds; an item has no room for more.
    public static let gatheredBytes = 8 << 20
    /// Bytes that a library is given or gives back at a time: contents, buffers, results.
    public static let valueBytes = 64 << 20
}
