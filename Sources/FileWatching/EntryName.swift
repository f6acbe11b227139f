// SPDX-License-Identifier: Apache-2.0

/// A name in a folder, compared byte by byte as the kernel does. Swift compares strings by
/// canonical equivalence, so two different file names could be equal as strings.
struct EntryName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) { self.text = text }
    init(stringLiteral text: String) { self.text = text }

    static func == (one: EntryName, other: EntryName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    static func < (one: EntryName, other: EntryName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
