// SPDX-License-Identifier: Apache-2.0

/// Checks the header fields of a message as strictly as sd-bus does, before sd-bus reads them.
/// sd-bus silently drops a message with an invalid header and leaks the descriptors that arrived
/// with it (libsystemd 252).
struct MessageHeader {
    /// The field codes and their types (D-Bus specification, Header Fields).
    private enum Field: UInt8 {
        case path = 1
        case interface = 2
        case member = 3
        case errorName = 4
        case replySerial = 5
        case destination = 6
        case sender = 7
        case signature = 8
        case descriptors = 9

        var type: UInt8 {
            switch self {
            case .path: UInt8(ascii: "o")
            case .interface, .member, .errorName, .destination, .sender: UInt8(ascii: "s")
            case .replySerial, .descriptors: UInt8(ascii: "u")
            case .signature: UInt8(ascii: "g")
            }
        }
    }

    private let bytes: [UInt8]
    private let prefix: MessagePrefix
    private var place = MessagePrefix.size
    private let end: Int
    private var present: Set<UInt8> = []
    private var declaredDescriptors: UInt32 = 0
    private var hasSignature = false

    /// Checks a complete header.
    ///
    /// - Parameters:
    ///   - bytes: The header, including padding.
    ///   - descriptors: The number of descriptors that arrived with the message.
    static func check(_ bytes: [UInt8], _ prefix: MessagePrefix, descriptors: Int) throws(BusEnd) {
        var header = MessageHeader(bytes: bytes, prefix: prefix, end: MessagePrefix.size + prefix.fieldBytes)
        try header.readFields()
        try header.checkFields(descriptors)
    }

    private init(bytes: [UInt8], prefix: MessagePrefix, end: Int) {
        self.bytes = bytes
        self.prefix = prefix
        self.end = end
    }

    private mutating func readFields() throws(BusEnd) {
        while place < end {
            try skipPadding(to: 8, before: end)
            let code = try byte()
            guard let field = Field(rawValue: code) else { throw .malformed("an unknown header field \(code)") }
            guard present.insert(code).inserted else { throw .malformed("a repeated header field") }
            guard try byte() == 1, try byte() == field.type, try byte() == 0 else {
                throw .malformed("a header field of a wrong type")
            }
            try readValue(of: field)
        }
        try skipPadding(to: 8, before: bytes.count)
    }

    private mutating func readValue(of field: Field) throws(BusEnd) {
        switch field {
        case .replySerial:
            guard try number() != 0 else { throw .malformed("an answer to serial number 0") }
        case .descriptors: declaredDescriptors = try number()
        case .signature: hasSignature = try !signature().isEmpty
        case .path:
            let path = try text()
            guard BusName.isPath(path), !path.elementsEqual("/org/freedesktop/DBus/Local".utf8) else { throw wrong }
        case .interface:
            let name = try text()
            guard BusName.isInterface(name), !name.elementsEqual(Self.local) else { throw wrong }
        case .member: guard try BusName.isMember(text()) else { throw wrong }
        case .errorName: guard try BusName.isInterface(text()) else { throw wrong }
        case .destination: guard try BusName.isBusName(text()) else { throw wrong }
        case .sender:
            let name = try text()
            guard BusName.isBusName(name), !name.elementsEqual(Self.local) else { throw wrong }
        }
    }

    private static let local = "org.freedesktop.DBus.Local".utf8
    private var wrong: BusEnd { .malformed("a header with an invalid name") }

    private func checkFields(_ descriptors: Int) throws(BusEnd) {
        func has(_ field: Field) -> Bool { present.contains(field.rawValue) }
        let isComplete =
            switch prefix.kind {
            case .call: has(.path) && has(.member) && !has(.replySerial)
            case .signal: has(.path) && has(.interface) && has(.member) && !has(.replySerial)
            case .answer: has(.replySerial)
            case .error: has(.replySerial) && has(.errorName)
            }
        guard isComplete else { throw .malformed("a header without the fields of its kind") }
        guard prefix.bodyBytes == 0 || hasSignature else { throw .malformed("a body without types") }
        guard Int(declaredDescriptors) == descriptors else {
            throw .malformed("\(descriptors) descriptors where \(declaredDescriptors) were declared")
        }
    }

    private mutating func byte() throws(BusEnd) -> UInt8 {
        guard place < end else { throw .malformed("a header field that does not end") }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func skipPadding(to alignment: Int, before end: Int) throws(BusEnd) {
        while place % alignment != 0 {
            guard place < end, bytes[place] == 0 else { throw .malformed("padding that is not zero") }
            place += 1
        }
    }

    private mutating func number() throws(BusEnd) -> UInt32 {
        try skipPadding(to: 4, before: end)
        guard end - place >= 4 else { throw .malformed("a header field that does not end") }
        defer { place += 4 }
        return MessagePrefix.number(bytes, at: place, prefix.isBigEndian)
    }

    private mutating func take(_ count: Int) throws(BusEnd) -> ArraySlice<UInt8> {
        guard count < end - place, bytes[place + count] == 0 else {
            throw .malformed("a text in a header that does not end")
        }
        defer { place += count + 1 }
        return bytes[place..<(place + count)]
    }

    private mutating func text() throws(BusEnd) -> ArraySlice<UInt8> { try take(Int(try number())) }

    private mutating func signature() throws(BusEnd) -> ArraySlice<UInt8> {
        let types = try take(Int(try byte()))
        guard BusSignature.isValid(types) else { throw .malformed("a body of unknown types") }
        return types
    }
}
