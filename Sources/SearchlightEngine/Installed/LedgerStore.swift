// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchIndex
import ServiceProtocol
import Synchronization

/// The ledger of the extensions in a file of the store. May be used from any thread.
final class LedgerStore: Sendable {
    /// The file's content: a format, the ledger and a checksum of both.
    private struct Document: Codable {
        static let currentFormat = 1
        var formatVersion = currentFormat
        var ledger: ExtensionLedger
        var checksum: UInt32?
    }
    private let path: String
    private let state: Mutex<ExtensionLedger>
    /// Whether there was no file that can be understood: then nothing says what there was.
    let wasMissing: Bool
    private let wasWritten = Atomic(false)

    private static let maximumBytes = 16 << 20

    /// Reads the ledger of a store.
    init(directory: String) {
        path = directory + "/installed.json"
        let ledger = Self.read(path)
        wasMissing = ledger == nil
        state = Mutex(ledger ?? ExtensionLedger())
    }

    var ledger: ExtensionLedger { state.withLock { $0 } }

    /// Changes the ledger and keeps it. One that cannot be written now is written with the next change; a process that
    /// begins before that notices the same again.
    func update<Value>(_ change: (inout ExtensionLedger) -> Value) -> Value {
        state.withLock { ledger in
            let before = ledger
            let value = change(&ledger)
            // That there were none is worth a file too, once.
            let isFirst = wasMissing && !wasWritten.exchange(true, ordering: .relaxed)
            if ledger != before || isFirst { try? save(ledger) }
            return value
        }
    }

    private static func read(_ path: String) -> ExtensionLedger? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size <= maximumBytes,
            let data = try? Data(contentsOf: URL(filePath: path)),
            let document = try? JSONDecoder().decode(Document.self, from: data),
            document.formatVersion == Document.currentFormat, let checksum = document.checksum,
            (try? encoded(document.ledger))?.checksum == checksum, document.ledger.isSound
        else { return nil }
        return document.ledger
    }

    private static func encoded(_ ledger: ExtensionLedger) throws -> (data: Data, checksum: UInt32) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        var document = Document(ledger: ledger)
        let checksum = CRC32C.of(Array(try encoder.encode(document)))
        document.checksum = checksum
        return (try encoder.encode(document), checksum)
    }

    /// Replaces the file as a whole, so that a crash leaves the old or the new one.
    private func save(_ ledger: ExtensionLedger) throws {
        let data = try Self.encoded(ledger).data
        guard data.count <= Self.maximumBytes else { return }
        let temporary = path + ".new"
        let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return }
        let file = OwnedDescriptor(adopting: number)
        let isWritten = data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(file.number, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        guard isWritten, fsync(file.number) == 0, rename(temporary, path) == 0 else {
            unlink(temporary)
            return
        }
    }
}
