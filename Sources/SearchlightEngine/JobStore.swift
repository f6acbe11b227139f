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

    /// Bound on the file, which holds at most one job for each bundle.
    private static let maximumBytes = 64 << 20

    private struct Document: Codable {
        var formatVersion = 1
        var queue: JobQueue
    }

    /// Reads the jobs of a store. A missing file means none.
    init(directory: String) throws(EngineError) {
        path = directory + "/jobs.json"
        guard FileManager.default.fileExists(atPath: path) else {
            queue = Mutex(JobQueue())
            return
        }
        do {
            let data = try Data(contentsOf: URL(filePath: path))
            guard data.count <= Self.maximumBytes else { throw CocoaError(.fileReadTooLarge) }
            queue = Mutex(try JSONDecoder().decode(Document.self, from: data).queue)
        } catch {
            throw .storeFile(
                path: path, operation: "Reading the jobs in",
                detail: "\(error.localizedDescription) Remove the file; then run “searchlight reindex”")
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
            let data = try encoder.encode(Document(queue: queue))
            let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            let descriptor = OwnedDescriptor(adopting: number)
            let written = data.withUnsafeBytes { write(descriptor.number, $0.baseAddress, $0.count) }
            guard written == data.count, fsync(descriptor.number) == 0, rename(temporary, path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(temporary)
            throw .storeFile(path: path, operation: "Writing the jobs to", detail: error.localizedDescription)
        }
    }
}
