// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The receipt of a removal: the data of a bundle that was removed, and its place. A later check
/// compares it with the store (``VerifyReceiptCall``).
///
/// ```swift
/// let report = try await engine.remove("org.example.health")
/// let data = try report.receipt.data()
/// let receipt = try ForgetReceipt(data)
/// ```
///
/// A receipt has no content of items. The checksum finds accidental changes; a receipt is no proof
/// against its author.
package struct ForgetReceipt: Hashable, Sendable, ChecksummedDocument {
    /// A file of a protected index.
    package struct ProtectedFile: Hashable, Sendable, Codable {
        /// The path in the folder of the store.
        package var path: String
        /// The random identifier in the file, in hexadecimal digits, by which a copy is recognized.
        package var identifier: String
        /// The name of the index; empty for the default index.
        package var index: String
        /// `true` if the keys in the file were overwritten before the file was removed.
        package var keysAreOverwritten: Bool
    }

    /// Other data.
    package struct Removed: Hashable, Sendable, Codable {
        /// The kind of data.
        package var what: String
        /// The file in the folder of the store.
        package var place: String
        /// The number of removed records.
        package var count: Int

        package init(what: String, place: String, count: Int) {
            (self.what, self.place, self.count) = (what, place, count)
        }
    }

    package private(set) var formatVersion = currentFormat
    /// The bundle.
    package var bundle: String
    /// The random identifier of the store, in hexadecimal digits.
    package var store: String
    /// The time of the removal, in seconds since 2001-01-01 UTC.
    package var moment: Double
    /// The last number of an item before the removal.
    package var lastItem: Int64
    /// The files of protected indexes, whose keys were destroyed first.
    package var protectedFiles: [ProtectedFile] = []
    /// The other data, in the order of its removal.
    package var removed: [Removed] = []
    /// A sentence for each thing that may remain.
    package var remaining: [String] = []
    var checksum: UInt32?

    private static let currentFormat = 1
    /// The largest receipt in bytes.
    package static let maximumBytes = 1 << 20
    private static let (maximumEntries, maximumText) = (1024, 4096)
    private static let identifierDigits = 32

    init(bundle: String, store: String, moment: Double, lastItem: Int64) {
        (self.bundle, self.store, self.moment, self.lastItem) = (bundle, store, moment, lastItem)
    }

    /// Decodes a receipt of any origin.
    ///
    /// - Throws: ``ReceiptError``.
    package init(_ data: Data) throws(ReceiptError) {
        guard data.count <= Self.maximumBytes else { throw .tooLarge }
        guard let receipt = try? JSONDecoder().decode(ForgetReceipt.self, from: data) else { throw .malformed }
        guard receipt.formatVersion <= Self.currentFormat else { throw .newer }
        guard receipt.isSound, receipt.hasRightChecksum else { throw .malformed }
        self = receipt
    }

    /// The bytes of the receipt.
    package func data() throws -> Data { try encoded() }

    /// `true` if all values are within their bounds. A receipt from a client is checked again.
    var isSound: Bool {
        let texts =
            [bundle] + remaining + removed.flatMap { [$0.what, $0.place] }
            + protectedFiles.flatMap { [$0.path, $0.index] }
        return formatVersion == Self.currentFormat && moment.isFinite && lastItem >= 0 && !bundle.isEmpty
            && [protectedFiles.count, removed.count, remaining.count].allSatisfy { $0 <= Self.maximumEntries }
            && texts.allSatisfy { $0.utf8.count <= Self.maximumText } && removed.allSatisfy { $0.count >= 0 }
            && ([store] + protectedFiles.map(\.identifier)).allSatisfy(Self.isIdentifier)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == identifierDigits && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// Shortens ``protectedFiles`` to its bound, and records the number of dropped entries in
    /// ``remaining``.
    mutating func bound() {
        guard protectedFiles.count > Self.maximumEntries else { return }
        remaining.append("\(protectedFiles.count - Self.maximumEntries) more removed files are not listed.")
        protectedFiles = Array(protectedFiles.prefix(Self.maximumEntries))
    }
}

/// An error of reading a receipt.
package enum ReceiptError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLarge
    case malformed
    case newer

    package var description: String {
        switch self {
        case .tooLarge: "The receipt has more than \(ForgetReceipt.maximumBytes) bytes, so it is none of “forget”."
        case .malformed: "The file is no receipt of “forget”, or it was changed."
        case .newer: "A later version of Searchlight wrote the receipt. Install that version."
        }
    }
}

/// The result of removing a bundle.
package struct ForgetReport: Hashable, Sendable, Codable {
    /// The number of removed items.
    package var items: Int
    /// The receipt.
    package var receipt: ForgetReceipt
}

/// The result of comparing a receipt with the store.
package struct ReceiptCheck: Hashable, Sendable, Codable {
    /// A sentence for each thing that is there again or still; empty if everything is gone.
    package var findings: [String] = []
    /// The number of items that the bundle donated since, without those in locked indexes.
    package var later = 0
    /// The number of protected indexes that the bundle has created since and that are locked; `nil`
    /// from earlier versions.
    package var laterLocked: Int?
}

/// The bundles whose removal has begun and not ended, in a file of the store. A removal that was
/// killed can then be finished even if the rest of the store no longer mentions the bundle.
final class UnfinishedRemovals: Sendable {
    private struct Document: ChecksummedDocument {
        var bundles: [String]
        var checksum: UInt32?
    }

    static let fileName = "forgetting.json"
    /// The number of bundles; an older one is dropped.
    private static let maximumBundles = 256
    private let file: StoreFile
    /// Changes are made one after the other.
    private let writing = Mutex(())

    init(directory: String) { file = StoreFile(path: directory + "/" + Self.fileName, maximumBytes: 1 << 20) }

    /// The bundles. A damaged file has none.
    var bundles: [String] {
        guard case .bytes(let data) = file.read(), let document = try? JSONDecoder().decode(Document.self, from: data),
            document.hasRightChecksum
        else { return [] }
        return document.bundles
    }

    /// Records that the removal of a bundle has begun, durably, or that it has ended.
    func note(_ bundle: String, hasEnded: Bool) throws(EngineError) {
        try writing.withLock { _ in
            Result { () throws(EngineError) in
                let before = bundles
                var after = before.filter { $0 != bundle }
                if !hasEnded { after = after.suffix(Self.maximumBundles - 1) + [bundle] }
                guard after != before else { return }
                do { try file.replace(with: Document(bundles: after).encoded()) } catch {
                    throw EngineError.storeFile(path: file.path, operation: "Removing an app", detail: "\(error)")
                }
            }
        }.get()
    }
}
