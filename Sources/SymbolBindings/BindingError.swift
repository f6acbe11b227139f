// SPDX-License-Identifier: Apache-2.0

/// A parse error in a binding, with its position and a remedy.
public struct BindingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line number, starting at 1.
    public var line: Int
    /// The column in bytes of UTF-8, starting at 1.
    public var column: Int
    /// The offset in bytes from the start of the text.
    public var offset: Int
    /// The problem.
    public var problem: String
    /// The remedy.
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

    /// The position, the problem and the remedy.
    public var description: String { "line \(line), column \(column): \(problem). \(advice)." }
}

/// The limits on a binding.
public enum BindingLimits {
    /// The maximum size of one binding's text, in bytes.
    public static let textBytes = 16 << 10
    /// The maximum number of bindings in one bundle.
    public static let bindings = 64
    /// The maximum length of the name of a function, parameter or attribute, in bytes.
    public static let nameBytes = 255
    /// The maximum length of a quoted text, in bytes.
    public static let literalBytes = 4096
    /// The maximum number of alternative libraries.
    public static let libraries = 8
    /// The maximum number of content types.
    public static let types = 64
    /// The maximum number of calls in one binding.
    public static let calls = 16
    /// The maximum number of parameters of a function, fields of a struct, attributes of a
    /// donation, or texts in a list.
    public static let parameters = 32
    /// The maximum nesting depth of structs, and of parentheses in values.
    public static let depth = 8
    /// The maximum number of rounds in a repetition.
    public static let rounds = 10_000
    /// The maximum size of a text gathered from rounds, in bytes. An item cannot contain more.
    public static let gatheredBytes = 8 << 20
    /// The maximum number of bytes passed to or returned from a library at a time: contents,
    /// buffers, results.
    public static let valueBytes = 64 << 20
}
