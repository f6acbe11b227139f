// SPDX-License-Identifier: Apache-2.0

extension SearchCursor: Codable {
    /// The cursor as bytes: eight for each number, least significant first.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * (1 + shown.count))
        func append(_ value: UInt64) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        append(now.bitPattern)
        for number in shown { append(UInt64(bitPattern: number)) }
        return bytes
    }

    /// Reads a cursor; `nil` for bytes that are none. A made-up one gives some place in the results of its search, and
    /// nothing that the search does not find.
    public init?(bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count >= 8, bytes.count.isMultiple(of: 8) else { return nil }
        var numbers: [UInt64] = []
        numbers.reserveCapacity(bytes.count / 8)
        var value: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            value |= UInt64(byte) << UInt64(8 * (index % 8))
            if index % 8 == 7 {
                numbers.append(value)
                value = 0
            }
        }
        let now = Double(bitPattern: numbers[0])
        guard now.isFinite else { return nil }
        self.init(now: now, shown: numbers.dropFirst().map { Int64(bitPattern: $0) })
    }

    /// Decodes a cursor from its bytes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer()
        guard let cursor = Self(bytes: try values.decode([UInt8].self)) else {
            throw DecodingError.dataCorruptedError(in: values, debugDescription: "the bytes are no cursor")
        }
        self = cursor
    }

    /// Encodes the cursor as its bytes.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.singleValueContainer()
        try values.encode(bytes)
    }
}
