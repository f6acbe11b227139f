// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import Synchronization
import SystemSupport

/// The log of the scheduler's decisions (`decisions.log` in the store). Each line is a JSON object
/// (``JournalLine``), oldest first. At its size limit the file is renamed to `decisions.log.1`,
/// replacing the previous one.
///
/// A single process writes the file; any process that may read the store may read it. Lines are not
/// synced to disk, since losing the last lines in a power failure does no harm.
package final class DecisionLog: Sendable {
    /// The path of the file.
    package let path: String
    private let maximumBytes: Int
    private struct State {
        var file: OwnedDescriptor?
        var size = 0
    }
    private let state = Mutex(State())

    /// The size in bytes at which the file is rotated: about 8,000 decisions, or several weeks on a
    /// desktop.
    package static let standardMaximumBytes = 1 << 20

    /// Opens a store's log.
    package init(storeDirectory: String, maximumBytes: Int = standardMaximumBytes) {
        path = storeDirectory + "/decisions.log"
        self.maximumBytes = maximumBytes
    }

    /// The path of the previous file.
    package var olderPath: String { path + ".1" }

    /// Writes a decision.
    ///
    /// - Returns: `true` if the decision was written. The scheduler continues if the disk is full.
    @discardableResult
    package func append(_ entry: JournalEntry) -> Bool {
        let line = JournalLine(entry).json + [UInt8(ascii: "\n")]
        return state.withLock { state in
            if state.file == nil { open(&state) }
            if state.size > 0, state.size + line.count > maximumBytes {
                state.file = nil
                rename(path, olderPath)
                open(&state)
            }
            guard let file = state.file else { return false }
            let written = line.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            if written > 0 { state.size += written }
            guard written != line.count else { return true }
            // Ends the incomplete line, so that the next decision starts on a new line.
            if written > 0, write(file.number, "\n", 1) == 1 { state.size += 1 }
            return false
        }
    }

    private func open(_ state: inout State) {
        guard let file = try? OwnFile.open(path, O_WRONLY | O_CREAT | O_APPEND) else { return }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return }
        (state.file, state.size) = (file, Int(status.st_size))
    }

    /// Returns the last decisions, oldest first.
    ///
    /// - Parameters:
    ///   - count: The maximum number of decisions.
    ///   - jobs: The jobs to restrict the result to; `nil` means all.
    package func last(_ count: Int, about jobs: Set<ScheduledJob.Key>? = nil) -> [JournalEntry] {
        guard count > 0 else { return [] }
        var entries: [JournalEntry] = []
        for path in [path, olderPath] where entries.count < count {
            let found = Self.entries(in: Self.read(path, atMost: maximumBytes + JournalLine.maximumBytes))
                .filter { jobs?.contains($0.job) ?? true }
            entries = Array(found.suffix(count - entries.count)) + entries
        }
        return entries
    }

    /// Returns the decisions in a byte array. Malformed lines are skipped.
    static func entries(in bytes: [UInt8]) -> [JournalEntry] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { JournalLine(json: $0)?.entry }
    }

    /// Returns the last bytes of a file, or an empty array if it is not a regular file.
    private static func read(_ path: String, atMost limit: Int) -> [UInt8] {
        guard let file = try? OwnFile.open(path, O_RDONLY) else { return [] }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return [] }
        lseek(file.number, max(0, Int(status.st_size) - limit), SEEK_SET)
        return (try? WholeTransfer.bytes(of: file.number, upTo: limit)) ?? []
    }
}

/// Follows the decision log as it grows, including across a rotation. Used by one task at a time.
package struct DecisionFollower {
    private let path: String
    private var file: OwnedDescriptor?
    private var identity: UInt64 = 0
    private var rest: [UInt8] = []

    /// Starts at the current end of the log.
    package init(_ log: DecisionLog) {
        path = log.path
        open(atEnd: true)
    }

    private mutating func open(atEnd: Bool) {
        guard let file = try? OwnFile.open(path, O_RDONLY) else { return }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return }
        if atEnd { lseek(file.number, 0, SEEK_END) }
        (self.file, identity) = (file, UInt64(status.st_ino))
    }

    /// Returns the decisions since the last call.
    package mutating func next() -> [JournalEntry] {
        var entries = take()
        // After a rotation, the old file has just been read to its end, so the new file is next.
        var status = stat()
        if lstat(path, &status) == 0, UInt64(status.st_ino) != identity || file == nil {
            rest = []
            open(atEnd: false)
            entries += take()
        }
        return entries
    }

    private mutating func take() -> [JournalEntry] {
        guard let file else { return [] }
        rest += (try? WholeTransfer.bytes(of: file.number, upTo: DecisionLog.standardMaximumBytes)) ?? []
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else {
            // The buffered bytes are longer than any valid line.
            if rest.count > JournalLine.maximumBytes { rest = [] }
            return []
        }
        defer { rest.removeSubrange(...end) }
        return DecisionLog.entries(in: Array(rest[...end]))
    }
}
