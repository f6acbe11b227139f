// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import Synchronization
import SystemSupport

/// The file of the scheduler's decisions (`decisions.log` in the store): one line of JSON each (``JournalLine``), the oldest
/// first. When it has grown to its limit it becomes `decisions.log.1`, in place of an older one.
///
/// One process writes it; anybody who may read the store reads it. A line that was lost with the machine's power is missed by
/// nobody, so none is forced to the disk.
package final class DecisionLog: Sendable {
    /// Where it is.
    package let path: String
    private let maximumBytes: Int
    private struct State {
        var file: OwnedDescriptor?
        var size = 0
    }
    private let state = Mutex(State())

    /// When a file is put aside, in bytes: about 8,000 decisions, some weeks of a desktop.
    package static let standardMaximumBytes = 1 << 20

    /// The log of a store.
    package init(storeDirectory: String, maximumBytes: Int = standardMaximumBytes) {
        path = storeDirectory + "/decisions.log"
        self.maximumBytes = maximumBytes
    }

    /// Where what came before is.
    package var olderPath: String { path + ".1" }

    /// Writes a decision.
    ///
    /// - Returns: Whether it was written; a full disk is no reason to decide nothing.
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
            // The next one begins a line of its own.
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

    /// The last decisions, the oldest first.
    ///
    /// - Parameters:
    ///   - count: At most so many.
    ///   - jobs: Only those about some jobs.
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

    /// The decisions in some bytes; what is no line of a decision is passed over.
    static func entries(in bytes: [UInt8]) -> [JournalEntry] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { JournalLine(json: $0)?.entry }
    }

    /// The last bytes of a file; none of what is no regular file.
    private static func read(_ path: String, atMost limit: Int) -> [UInt8] {
        guard let file = try? OwnFile.open(path, O_RDONLY) else { return [] }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return [] }
        lseek(file.number, max(0, Int(status.st_size) - limit), SEEK_SET)
        return (try? WholeTransfer.bytes(of: file.number, upTo: limit)) ?? []
    }
}

/// Follows the log of decisions as it grows, also past the moment when a file is put aside. For one task at a time.
package struct DecisionFollower {
    private let path: String
    private var file: OwnedDescriptor?
    private var identity: UInt64 = 0
    private var rest: [UInt8] = []

    /// Begins at the present end.
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

    /// What came since the last call.
    package mutating func next() -> [JournalEntry] {
        var entries = take()
        // Another file has taken its place, and what was written to this one last was just read.
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
            // Longer than any line.
            if rest.count > JournalLine.maximumBytes { rest = [] }
            return []
        }
        defer { rest.removeSubrange(...end) }
        return DecisionLog.entries(in: Array(rest[...end]))
    }
}
