// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import ServiceProtocol
import Synchronization

/// The jobs that are owed, kept in a file of the store so that they outlive the process.
final class JobStore: Sendable {
    private let path: String
    private let queue: Mutex<JobQueue>

    /// Whether there was a file that could not be understood. It has been set aside as `jobs.json.damaged`, if this
    /// process may write.
    let wasDamaged: Bool

    /// Bound on the file, which holds at most one job for each bundle.
    private static let maximumBytes = 64 << 20
    private static let formatVersion = 1

    private struct Document: Codable {
        var formatVersion: Int
        var queue: JobQueue
    }

    /// Reads the jobs of a store. A missing file means none; of one that cannot be understood, see ``wasDamaged``.
    init(directory: String, isWritable: Bool) throws(EngineError) {
        path = directory + "/jobs.json"
        var status = stat()
        guard stat(path, &status) == 0 else {
            queue = Mutex(JobQueue())
            wasDamaged = false
            return
        }
        if status.st_size <= Self.maximumBytes, let data = try? Data(contentsOf: URL(filePath: path)),
            let document = try? JSONDecoder().decode(Document.self, from: data),
            document.formatVersion == Self.formatVersion
        {
            queue = Mutex(document.queue)
            wasDamaged = false
        } else {
            queue = Mutex(JobQueue())
            wasDamaged = true
            if isWritable { rename(path, path + ".damaged") }
        }
    }

    var jobs: [Job] { queue.withLock { $0.jobs } }

    /// Changes the queue and keeps the change; when that fails, the change is undone.
    func update(_ change: (inout JobQueue) -> Void) throws(EngineError) {
        let problem: EngineError? = queue.withLock { queue in
            let before = queue
            change(&queue)
            guard queue != before else { return nil }
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

    /// Replaces the file as a whole, so that a crash leaves the old or the new one.
    private func save(_ queue: JobQueue) throws(EngineError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let temporary = path + ".new"
        do {
            let data = try encoder.encode(Document(formatVersion: Self.formatVersion, queue: queue))
            let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            let descriptor = OwnedDescriptor(adopting: number)
            let written = data.withUnsafeBytes { write(descriptor.number, $0.baseAddress, $0.count) }
            guard written == data.count, fsync(descriptor.number) == 0, rename(temporary, path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(temporary)
            throw .storeFile(
                path: path, operation: "Writing the jobs to", detail: withoutFullStop(error.localizedDescription))
        }
    }
}
