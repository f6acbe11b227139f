// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord

/// The indexed items: natural text from this machine's documentation, in a file that is created
/// once.
struct Corpus: Sendable {
    /// The number of indexed items.
    let count: Int
    /// The number of items that are real snippets. The other items are recombined from real
    /// sentences.
    let realCount: Int
    let seed: UInt64
    private let path: String

    /// The number of additional items in the file, for later donations.
    static let reserve = 30_000
    /// The version of the file format. Increment it when items are generated differently.
    private static let format = 1

    /// Opens the corpus in a folder, or creates it.
    init(count: Int, seed: UInt64, folder: String) throws {
        self.count = count
        self.seed = seed
        path = "\(folder)/corpus-\(count)-\(seed).v\(Self.format)"
        if !FileManager.default.fileExists(atPath: path) {
            try Self.make(path, count: count, seed: seed, folder: folder)
        }
        let header = try InputFile(path: path).read(8) ?? []
        realCount = min(count, Int(header.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }))
    }

    /// Writes the file: a header with the number of real snippets, followed by the bundle number
    /// and record of each item.
    private static func make(_ path: String, count: Int, seed: UInt64, folder: String) throws {
        let snippets = try SnippetFile(path: "\(folder)/snippets.v\(format)")
        let maker = try CorpusMaker(snippets: snippets, seed: seed)
        let file = try OutputFile(path: path)
        func little(_ value: UInt64, bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        try file.write(little(UInt64(snippets.count), bytes: 8))
        for number in 0..<(count + reserve) {
            let (bundle, record) = maker.item(number)
            let bytes = try record.encoded()
            try file.write([UInt8(bundle)] + little(UInt64(bytes.count), bytes: 4) + bytes)
        }
        try file.finish()
    }

    /// Returns a reader for all items; the reserve items come last.
    func reader() throws -> Reader { try Reader(path) }

    /// Returns the records at the given positions, which must be in ascending order.
    func records(at places: [Int]) throws -> [(bundle: Int, record: ItemRecord)] {
        let reader = try reader()
        var records: [(bundle: Int, record: ItemRecord)] = []
        var position = 0
        for place in places {
            while position < place, try reader.next() != nil { position += 1 }
            guard let item = try reader.next() else { break }
            position += 1
            records.append((item.bundle, try ItemRecord(decoding: item.record)))
        }
        return records
    }

    /// Reads the items of a corpus in order.
    final class Reader {
        private let file: InputFile

        fileprivate init(_ path: String) throws {
            file = try InputFile(path: path)
            _ = try file.read(8)
        }

        /// Returns the next item, encoded, and the number of its bundle; nil at the end.
        func next() throws -> (bundle: Int, record: ArraySlice<UInt8>)? {
            guard let head = try file.read(5), let bundle = head.first else { return nil }
            let length = head.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) }
            guard let record = try file.read(length) else { return nil }
            return (Int(bundle), record)
        }
    }
}
