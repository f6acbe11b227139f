// SPDX-License-Identifier: Apache-2.0

/// The content rules of a shared-mime-info database (the binary `magic` file).
struct MIMEMagic: Sendable {
    /// The number of bytes examined at the beginning of a file. The deepest rule in the
    /// distribution is at 36 KB.
    static let windowBytes = 64 << 10
    /// The maximum length of a rule's value, in bytes.
    static let maximumValueBytes = 1024
    /// The maximum number of rules in a database.
    static let maximumRules = 50_000
    /// The maximum number of byte comparisons for one file. The distribution's rules require a few
    /// thousand.
    static let maximumComparisons = 4 << 20

    /// A single comparison. A rule applies only if the preceding rule with a smaller indent
    /// matched.
    struct Rule: Sendable {
        let indent: Int
        let offset: Int
        let value: [UInt8]
        let mask: [UInt8]?
        /// The number of consecutive positions at which the value may occur.
        let range: Int
    }

    /// The rules for one type.
    struct Section: Sendable {
        let priority: Int
        let type: String
        let folder: Int
        var rules: [Rule]
    }

    private(set) var sections: [Section] = []
    private var folder = 0
    private var ruleCount = 0
    /// For each type, the first folder in which its rules are ignored.
    private var disownedFrom: [String: Int] = [:]

    // MARK: - Matching

    /// Returns the type whose rules match, in descending order of priority.
    func mimeType(of bytes: [UInt8]) -> String? {
        let window = bytes.prefix(MIMEMagic.windowBytes)
        var budget = MIMEMagic.maximumComparisons
        for section in sections {
            if MIMEMagic.matches(section.rules, window, &budget) { return section.type }
            if budget <= 0 { return nil }
        }
        return nil
    }

    private static func matches(_ rules: [Rule], _ bytes: ArraySlice<UInt8>, _ budget: inout Int) -> Bool {
        // The deepest indent for which all parents matched.
        var reachable = 0
        for (position, rule) in rules.enumerated() {
            if rule.indent > reachable { continue }
            guard matches(rule, bytes, &budget) else {
                reachable = rule.indent
                continue
            }
            let hasChildren = position + 1 < rules.count && rules[position + 1].indent > rule.indent
            if !hasChildren { return true }
            reachable = rule.indent + 1
        }
        return false
    }

    private static func matches(_ rule: Rule, _ bytes: ArraySlice<UInt8>, _ budget: inout Int) -> Bool {
        let length = rule.value.count
        for start in rule.offset..<rule.offset + rule.range {
            guard start + length <= bytes.count, budget > 0 else { return false }
            var isEqual = true
            for index in 0..<length {
                budget -= 1
                let mask = rule.mask?[index] ?? 0xFF
                if bytes[start + index] & mask != rule.value[index] & mask {
                    isEqual = false
                    break
                }
            }
            if isEqual { return true }
        }
        return false
    }

    // MARK: - Reading

    /// Adds the rules of the next folder. A damaged file is read up to the damage.
    mutating func add(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        defer { folder += 1 }
        guard reader.skip("MIME-Magic\0\n") else { return }
        var section: Section?
        var isDisowned = false
        func close(_ section: Section?, into sections: inout [Section]) {
            if let section, !section.rules.isEmpty { sections.append(section) }
        }
        while let byte = reader.peek, ruleCount < MIMEMagic.maximumRules {
            if byte == UInt8(ascii: "[") {
                close(section, into: &sections)
                guard let head = reader.sectionHead() else {
                    section = nil
                    break
                }
                isDisowned = disownedFrom[head.type].map { folder >= $0 } ?? false
                section = Section(priority: head.priority, type: head.type, folder: folder, rules: [])
            } else {
                guard let rule = reader.rule() else { break }
                ruleCount += 1
                if rule.value == Array("__NOMAGIC__".utf8) {
                    if let type = section?.type, disownedFrom[type] == nil { disownedFrom[type] = folder + 1 }
                } else if !isDisowned {
                    section?.rules.append(rule)
                }
            }
        }
        close(section, into: &sections)
    }

    /// Sorts the sections. Call it once, after all folders have been added.
    mutating func finish() {
        let ordered = sections.enumerated().sorted { one, other in
            (-one.element.priority, one.element.folder, one.offset)
                < (-other.element.priority, other.element.folder, other.offset)
        }
        sections = ordered.map(\.element)
    }

    /// A reader of a `magic` file. Each read checks the remaining length.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func skip(_ text: String) -> Bool {
            guard bytes[position...].starts(with: text.utf8) else { return false }
            position += text.utf8.count
            return true
        }

        /// Reads a decimal number below 2³¹; `nil` if there is no digit.
        mutating func number() -> Int? {
            var value: Int?
            while let byte = peek, (0x30...0x39).contains(byte) {
                let next = (value ?? 0) * 10 + Int(byte - 0x30)
                guard next < 1 << 31 else { return nil }
                value = next
                position += 1
            }
            return value
        }

        mutating func take(_ count: Int) -> [UInt8]? {
            guard count <= bytes.count - position else { return nil }
            defer { position += count }
            return Array(bytes[position..<position + count])
        }

        /// Reads `[priority:type]` and a line feed.
        mutating func sectionHead() -> (priority: Int, type: String)? {
            guard skip("["), let priority = number(), skip(":") else { return nil }
            guard let end = bytes[position...].prefix(256).firstIndex(of: UInt8(ascii: "]")) else { return nil }
            guard let type = SharedMIMEInfo.mimeName(String(decoding: bytes[position..<end], as: UTF8.self)) else {
                return nil
            }
            position = end + 1
            guard skip("\n") else { return nil }
            return (priority, type)
        }

        /// Reads `[indent]>offset=`, length and value, then `&` mask, `~` word size, `+` range, and
        /// a line feed.
        mutating func rule() -> Rule? {
            let indent = number() ?? 0
            guard skip(">"), let offset = number(), skip("=") else { return nil }
            guard let size = take(2) else { return nil }
            let length = Int(size[0]) << 8 | Int(size[1])
            guard length > 0, length <= maximumValueBytes, var value = take(length) else { return nil }
            var mask: [UInt8]?
            var (wordSize, range) = (1, 1)
            while let byte = peek, byte != UInt8(ascii: "\n") {
                position += 1
                switch byte {
                case UInt8(ascii: "&"):
                    guard let bits = take(length) else { return nil }
                    mask = bits
                case UInt8(ascii: "~"):
                    guard let size = number() else { return nil }
                    wordSize = size
                case UInt8(ascii: "+"):
                    guard let count = number() else { return nil }
                    range = count
                default: return nil
                }
            }
            guard skip("\n") else { return nil }
            // Words are stored in big-endian order, and compared in the machine's byte order.
            if wordSize == 2 || wordSize == 4, length % wordSize == 0, 1.littleEndian == 1 {
                value = Reader.swapped(value, wordSize)
                mask = mask.map { Reader.swapped($0, wordSize) }
            }
            let window = MIMEMagic.windowBytes
            guard indent <= 64, offset <= window else { return Rule.never(indent: min(indent, 64)) }
            return Rule(indent: indent, offset: offset, value: value, mask: mask, range: min(max(range, 1), window))
        }

        private static func swapped(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
            stride(from: 0, to: bytes.count, by: size).flatMap { bytes[$0..<$0 + size].reversed() }
        }
    }
}

extension MIMEMagic.Rule {
    /// Returns a placeholder for a rule outside the examined bytes: it has an indent but never
    /// matches.
    static func never(indent: Int) -> MIMEMagic.Rule {
        MIMEMagic.Rule(indent: indent, offset: MIMEMagic.windowBytes, value: [0], mask: nil, range: 1)
    }
}
