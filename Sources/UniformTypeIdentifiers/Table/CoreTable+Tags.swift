// SPDX-License-Identifier: Apache-2.0

/// A tag of a core type. Its text is in the type's section.
struct CoreTag: Sendable {
    let start: UInt32
    let length: UInt16
    let type: CoreIndex
    let tagClass: TagKey
    /// `true` if a recorded preference selects this type, overriding the general order.
    let isRecordedWinner: Bool
}

/// The known tag classes, with the digits that represent them in dynamic identifiers.
enum TagKey: UInt8, Sendable, CaseIterable {
    case filenameExtension = 0x31
    case osType = 0x32
    case mimeType = 0x33
    case pasteboardType = 0x34
    case urlScheme = 0x35
    /// The class of device model codes, which is never part of a dynamic identifier.
    case deviceModelCode = 0x36

    /// `true` if tags of this class are case-sensitive.
    var isCaseSensitive: Bool { self == .osType || self == .pasteboardType }
}

extension CoreTable {
    /// Adds all tags to one hash table. Equal tags remain in table order along their probe
    /// sequence.
    static func indexTags(_ table: Text) -> ([CoreTag], [UInt16]) {
        var tags: [CoreTag] = []
        tags.reserveCapacity(1024)
        var slots = [UInt16](repeating: emptySlot, count: tagSlotCount)

        func add(_ text: UnsafeBufferPointer<UInt8>, _ tagClass: TagKey, _ type: Int, isRecordedWinner: Bool) {
            guard let base = table.section(of: type).baseAddress, let address = text.baseAddress else { return }
            if isRecordedWinner {
                // A preference repeats a tag of the type, and only sets a flag on that tag.
                guard
                    let known = tags.indices.last(where: { index in
                        tags[index].type == CoreIndex(type) && tags[index].tagClass == tagClass
                            && equal(slice(tags[index], table), text)
                    })
                else { return }
                let tag = tags[known]
                tags[known] = CoreTag(
                    start: tag.start, length: tag.length, type: tag.type, tagClass: tagClass, isRecordedWinner: true)
                return
            }
            var slot = tagHash(text, tagClass) & (slots.count - 1)
            while slots[slot] != emptySlot { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt16(tags.count)
            tags.append(
                CoreTag(
                    start: UInt32(address - base), length: UInt16(text.count), type: CoreIndex(type),
                    tagClass: tagClass, isRecordedWinner: false))
        }

        for type in 0..<table.count {
            for item in items(table.field(type, .filenameExtensions)) {
                add(item, .filenameExtension, type, isRecordedWinner: false)
            }
            for item in items(table.field(type, .mimeTypes)) {
                add(item, .mimeType, type, isRecordedWinner: false)
            }
            for item in items(table.field(type, .furtherTags)) {
                let isWinner = item.first == UInt8(ascii: "!")
                let body = UnsafeBufferPointer(rebasing: item.dropFirst(isWinner ? 1 : 0))
                guard let key = body.first.flatMap(TagKey.init(rawValue:)) else { continue }
                add(UnsafeBufferPointer(rebasing: body.dropFirst(2)), key, type, isRecordedWinner: isWinner)
            }
        }
        return (tags, slots)
    }

    private static func slice(_ tag: CoreTag, _ table: Text) -> UnsafeBufferPointer<UInt8> {
        let start = Int(tag.start)
        return UnsafeBufferPointer(rebasing: table.section(of: Int(tag.type))[start..<start + Int(tag.length)])
    }

    @inline(__always)
    private static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Returns the hash of a tag in its class, ignoring case. For case-sensitive classes, only the
    /// comparison considers case.
    private static func tagHash(_ bytes: UnsafeBufferPointer<UInt8>, _ tagClass: TagKey) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(tagClass.rawValue)
        for byte in bytes { hash = (hash ^ UInt64(lowercase(byte))) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: (hash ^ (hash >> 29)) & 0x7FFF_FFFF)
    }

    /// Returns the tags in a class that equal a text, in table order.
    func tags(matching text: String, _ tagClass: TagKey) -> [CoreTag] {
        var found: [CoreTag] = []
        var copy = text
        copy.withUTF8 { wanted in
            var slot = CoreTable.tagHash(wanted, tagClass) & (tagSlots.count - 1)
            while tagSlots[slot] != CoreTable.emptySlot {
                let tag = tags[Int(tagSlots[slot])]
                if tag.tagClass == tagClass, matches(tag, wanted) { found.append(tag) }
                slot = (slot + 1) & (tagSlots.count - 1)
            }
        }
        return found
    }

    private func matches(_ tag: CoreTag, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(tag.length) == wanted.count else { return false }
        let bytes = CoreTable.slice(tag, text)
        for position in 0..<wanted.count {
            let (one, other) = (bytes[position], wanted[position])
            if one == other { continue }
            if tag.tagClass.isCaseSensitive || CoreTable.lowercase(one) != CoreTable.lowercase(other) { return false }
        }
        return true
    }

    /// Returns the tags of a type by class, preferred first.
    func tags(of type: CoreIndex) -> [UTTagClass: [String]] {
        var result: [UTTagClass: [String]] = [:]
        for item in CoreTable.items(field(type, .filenameExtensions)) {
            result[.filenameExtension, default: []].append(String(decoding: item, as: UTF8.self))
        }
        for item in CoreTable.items(field(type, .mimeTypes)) {
            result[.mimeType, default: []].append(String(decoding: item, as: UTF8.self))
        }
        for item in CoreTable.items(field(type, .furtherTags)) where item.first != UInt8(ascii: "!") {
            guard let key = item.first.flatMap(TagKey.init(rawValue:)) else { continue }
            result[UTTagClass(key), default: []].append(String(decoding: item.dropFirst(2), as: UTF8.self))
        }
        return result
    }

    /// Returns the first item of a list field; `nil` if there is none.
    func firstItem(_ type: CoreIndex, _ field: Field) -> String? {
        let bytes = self.field(type, field)
        guard !bytes.isEmpty else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self)
    }
}
