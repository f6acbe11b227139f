// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchIndex
import ServiceProtocol
import Synchronization

/// How extensions behave, kept in a file of the store (`extensions.json`) so that a quarantine outlives the process.
final class HealthFile: HealthStore {
    private let path: String
    private let isWritable: Bool
    /// Whether there was a file that could not be understood. The first change sets it aside as
    /// `extensions.json.damaged`: nothing is held against anybody, and nobody is disabled.
    let wasDamaged: Bool
    private let loaded: [String: ExtensionHealth]
    private let wasSetAside = Atomic(false)

    /// Reads the file.
    ///
    /// - Parameter isWritable: Whether this process changes the store. Another one keeps nothing.
    init(directory: String, isWritable: Bool) {
        path = directory + "/extensions.json"
        self.isWritable = isWritable
        var status = stat()
        guard stat(path, &status) == 0 else {
            (loaded, wasDamaged) = ([:], false)
            return
        }
        if status.st_mode & S_IFMT == S_IFREG, status.st_size <= HealthDocument.maximumBytes,
            let data = try? Data(contentsOf: URL(filePath: path)), let document = HealthDocument(data)
        {
            (loaded, wasDamaged) = (document.extensions, false)
        } else {
            (loaded, wasDamaged) = ([:], true)
        }
    }

    func load() -> [String: ExtensionHealth] { loaded }

    /// Replaces the file as a whole, so that a crash leaves the old or the new one.
    func save(_ all: [String: ExtensionHealth]) throws(HealthStoreError) {
        guard isWritable else { return }
        let temporary = path + ".new"
        do {
            let data = try HealthDocument(all).encodedWithinBounds()
            guard data.count <= HealthDocument.maximumBytes else { throw POSIXError(.EFBIG) }
            let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            let descriptor = OwnedDescriptor(adopting: number)
            if wasDamaged, !wasSetAside.exchange(true, ordering: .relaxed) {
                unlink(path + ".damaged")
                link(path, path + ".damaged")
            }
            guard Self.writeAll(data, to: descriptor.number), fsync(descriptor.number) == 0,
                rename(temporary, path) == 0
            else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        } catch {
            unlink(temporary)
            throw HealthStoreError(path: path, reason: withoutFullStop(error.localizedDescription))
        }
    }

    private static func writeAll(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let part = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let written = write(descriptor, part.baseAddress, part.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }
}

/// The file of how extensions behave.
struct HealthDocument: Codable {
    /// Bound on the file.
    static let maximumBytes = 16 << 20
    /// The most bundles; of more, some are left out.
    static let maximumBundles = 1000
    private static let currentFormat = 1

    private(set) var formatVersion = currentFormat
    /// By bundle identifier.
    var extensions: [String: ExtensionHealth]
    /// Of the document without it.
    private var checksum: UInt32?

    /// A document in the present format.
    init(_ all: [String: ExtensionHealth]) {
        guard all.count > Self.maximumBundles else {
            extensions = all
            return
        }
        // What a person decided stays longest, then quarantines, then what is newest.
        func rank(_ entry: (key: String, value: ExtensionHealth)) -> (Int, Double, String) {
            let health = entry.value
            let group = health.isDisabled ? 0 : health.quarantine == nil ? 2 : 1
            return (group, -(health.failures.last?.moment ?? 0), entry.key)
        }
        let kept = all.sorted { rank($0) < rank($1) }.prefix(Self.maximumBundles)
        extensions = Dictionary(kept.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Reads a document; `nil` if it cannot be understood, or anything in it was changed.
    init?(_ data: Data) {
        guard let document = try? JSONDecoder().decode(HealthDocument.self, from: data),
            document.formatVersion == Self.currentFormat, document.hasRightChecksum(),
            document.extensions.keys.allSatisfy(ExtensionManifest.isIdentifier)
        else { return nil }
        self = document
    }

    /// Encodes the document with its checksum; the same document always to the same bytes.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        var document = self
        document.checksum = nil
        document.checksum = CRC32C.of(Array(try encoder.encode(document)))
        return try encoder.encode(document)
    }

    /// The same of a document that is no larger than the file may be: without the oldest evidence, if need be, never without
    /// what a person decided or why an extension is not asked.
    func encodedWithinBounds() throws -> Data {
        var document = self
        var data = try document.encoded()
        // Each round leaves half of it, so there are few.
        while data.count > Self.maximumBytes, document.dropOldestEvidence() { data = try document.encoded() }
        return data
    }

    /// Leaves out the older half of all failures and items set aside.
    ///
    /// - Returns: Whether there were any.
    private mutating func dropOldestEvidence() -> Bool {
        let moments = extensions.values.flatMap { $0.failures.map(\.moment) + $0.itemsSetAside.map(\.since) }.sorted()
        guard !moments.isEmpty else { return false }
        let limit = moments[moments.count / 2]
        for identifier in extensions.keys { extensions[identifier]?.forgetEvidence(until: limit) }
        return true
    }

    /// What was read is encoded again, so that only a change of the meaning counts.
    private func hasRightChecksum() -> Bool {
        checksum != nil
            && (try? encoded()).flatMap { try? JSONDecoder().decode(HealthDocument.self, from: $0) }?.checksum
                == checksum
    }
}
