// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import SearchIndex
import ServiceProtocol
import Synchronization

/// The jobs that are owed, kept in a file of the store so that they outlive the process.
final class JobStore: Sendable {
    private let path: String
    private let queue: Mutex<JobQueue>

    /// Whether there was a file that could not be understood. The first change sets it aside as `jobs.json.damaged`.
    let wasDamaged: Bool
    /// Whether there was no file.
    let wasMissing: Bool
    private let wasSetAside = Atomic(false)
    /// The generation of the index for which everything owed by its losses was written down.
    private let generation: Mutex<Int>

    /// Bound on the file, which holds at most one job for each bundle.
    private static let maximumBytes = 64 << 20
    private static let formatVersion = 2
    private static let firstGeneration = 1

    private struct Document: Codable {
        var formatVersion: Int
        var generation: Int?
        var queue: JobQueue
        /// Of the document without it; since format 2.
        var checksum: UInt32?

        /// Encodes the document with its checksum; the same document always to the same bytes.
        func encoded() throws -> Data {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            var document = self
            document.checksum = nil
            document.checksum = CRC32C.of(Array(try encoder.encode(document)))
            return try encoder.encode(document)
        }

        /// Whether this program can read it and nothing in it was changed.
        func isSound() -> Bool {
            switch formatVersion {
            case 1: checksum == nil
            // What was read is encoded again, so that only a change of the meaning counts.
            case JobStore.formatVersion:
                checksum != nil
                    && (try? encoded()).flatMap { try? JSONDecoder().decode(Document.self, from: $0) }?.checksum
                        == checksum
            default: false
            }
        }
    }

    /// Reads the jobs of a store. A missing file means none; of one that cannot be understood, see ``wasDamaged``.
    init(directory: String) {
        path = directory + "/jobs.json"
        var status = stat()
        guard stat(path, &status) == 0 else {
            queue = Mutex(JobQueue())
            generation = Mutex(Self.firstGeneration)
            (wasDamaged, wasMissing) = (false, true)
            return
        }
        wasMissing = false
        if status.st_size <= Self.maximumBytes, let data = try? Data(contentsOf: URL(filePath: path)),
            let document = try? JSONDecoder().decode(Document.self, from: data),
            document.isSound()
        {
            queue = Mutex(document.queue)
            generation = Mutex(document.generation ?? Self.firstGeneration)
            wasDamaged = false
        } else {
            queue = Mutex(JobQueue())
            generation = Mutex(Self.firstGeneration)
            wasDamaged = true
        }
    }

    /// The generation that was written down with the jobs; `nil` if that is not known.
    var knownGeneration: Int? { wasDamaged || wasMissing ? nil : generation.withLock { $0 } }

    /// Whether everything is owed because the index has lost something since the jobs were last written.
    func isBehind(generation current: Int) -> Bool { generation.withLock { $0 } != current }

    /// Notes that everything is owed that a generation's losses ask for, together with that.
    func oweAll(_ jobs: [Job], generation current: Int) throws(EngineError) {
        let before = generation.withLock { generation in
            defer { generation = current }
            return generation
        }
        do throws(EngineError) {
            try update(always: true) { queue in
                for job in jobs { queue.add(job) }
            }
        } catch {
            generation.withLock { $0 = before }
            throw error
        }
    }

    var jobs: [Job] { queue.withLock { $0.jobs } }

    /// Changes the queue and keeps the change; when that fails, the change is undone.
    func update(always: Bool = false, _ change: (inout JobQueue) -> Void) throws(EngineError) {
        let problem: EngineError? = queue.withLock { queue in
            let before = queue
            change(&queue)
            guard always || queue != before else { return nil }
            do throws(EngineError) {
                try save(queue)
                return nil
            } catch {
                queue = before
                return error
            }
        }
        if let problem { throw problem }
    }

    /// Writes all bytes; a full disk may take some of them first, and only the next attempt says why.
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

    /// Replaces the file as a whole, so that a crash leaves the old or the new one.
    private func save(_ queue: JobQueue) throws(EngineError) {
        let temporary = path + ".new"
        do {
            let document = Document(
                formatVersion: Self.formatVersion, generation: generation.withLock { $0 }, queue: queue)
            let data = try document.encoded()
            let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            let descriptor = OwnedDescriptor(adopting: number)
            if wasDamaged, !wasSetAside.exchange(true, ordering: .relaxed) {
                unlink(path + ".damaged")
                link(path, path + ".damaged")
            }
            guard Self.writeAll(data, to: descriptor.number), fsync(descriptor.number) == 0,
                rename(temporary, path) == 0
            else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(temporary)
            throw .storeFile(
                path: path, operation: "Writing the jobs to", detail: withoutFullStop(error.localizedDescription))
        }
    }
}
