// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import ExtensionHost
import Foundation
import SearchIndex
import Synchronization

/// The ledger of extensions, in a file in the store. May be used from any thread.
final class LedgerStore: Sendable {
    /// The content of the file: a format version, the ledger and a checksum of both.
    private struct Document: ChecksummedDocument {
        static let currentFormat = 1
        var formatVersion = currentFormat
        var ledger: ExtensionLedger
        var checksum: UInt32?
    }
    private let file: StoreFile
    private let state: Mutex<ExtensionLedger>
    /// `true` if the file was missing or malformed, so that the earlier extensions are unknown.
    let wasMissing: Bool
    private let wasWritten = Atomic(false)

    private static let maximumBytes = 16 << 20

    init(directory: String) {
        file = StoreFile(path: directory + "/installed.json", maximumBytes: Self.maximumBytes)
        let ledger = Self.read(file)
        wasMissing = ledger == nil
        state = Mutex(ledger ?? ExtensionLedger())
    }

    var ledger: ExtensionLedger { state.withLock { $0 } }

    /// Changes the ledger and writes the file. After a failed write, the next change writes it. If
    /// a process starts before that, it finds the same differences again.
    func update<Value>(_ change: (inout ExtensionLedger) -> Value) -> Value {
        state.withLock { ledger in
            let before = ledger
            let value = change(&ledger)
            // The first call writes the file even if the ledger is empty.
            let isFirst = wasMissing && !wasWritten.exchange(true, ordering: .relaxed)
            if ledger != before || isFirst { try? save(ledger) }
            return value
        }
    }

    private static func read(_ file: StoreFile) -> ExtensionLedger? {
        guard case .bytes(let data) = file.read(),
            let document = try? JSONDecoder().decode(Document.self, from: data),
            document.formatVersion == Document.currentFormat, document.hasRightChecksum, document.ledger.isSound
        else { return nil }
        return document.ledger
    }

    /// Replaces the file atomically.
    private func save(_ ledger: ExtensionLedger) throws {
        try file.replace(with: try Document(ledger: ledger).encoded())
    }
}
