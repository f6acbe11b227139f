// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TestSupport

@testable import WriteAheadLog

/// A file system in memory that records which bytes have reached the disk, fails on request, and
/// can simulate a power failure.
final class LogTestDisk: LogFiles {
    enum Call: Hashable, Sendable {
        case createFolder, names, open, create, size, read, write, synchronize, truncate, rename, remove
        case synchronizeFolder
    }

    enum Fault: Hashable, Sendable {
        /// The call has no effect and fails.
        case fail(Int32)
        /// A write accepts only some of the bytes. Other calls work normally.
        case short
        /// The program stops in the middle of this call. Later calls have no effect.
        case stop
    }

    /// The losses of bytes and names that were not synchronised.
    enum Loss: CaseIterable, Sendable {
        /// The process was killed. Nothing is lost.
        case nothing
        /// The power failed. Each unsynchronised sector may have been written or not.
        case something
        /// The power failed before anything reached the disk.
        case everything
    }

    private enum Change {
        case write(Int, [UInt8])
        case truncate(Int)

        func apply(to bytes: inout [UInt8]) {
            switch self {
            case .write(let offset, let new):
                if bytes.count < offset + new.count {
                    bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
                }
                bytes.replaceSubrange(offset..<(offset + new.count), with: new)
            case .truncate(let size):
                if size < bytes.count {
                    bytes.removeLast(bytes.count - size)
                } else {
                    bytes += [UInt8](repeating: 0, count: size - bytes.count)
                }
            }
        }
    }

    private struct Node {
        var visible: [UInt8] = []
        var durable: [UInt8] = []
        var pending: [Change] = []

        mutating func change(_ change: Change) {
            change.apply(to: &visible)
            guard case .write(let offset, let bytes) = change else {
                pending.append(change)
                return
            }
            // A disk writes a whole sector or nothing.
            var start = offset
            while start < offset + bytes.count {
                let end = min((start / 512 + 1) * 512, offset + bytes.count)
                pending.append(.write(start, Array(bytes[(start - offset)..<(end - offset)])))
                start = end
            }
        }

        mutating func settle(keeping keeps: () -> Bool) {
            for change in pending where keeps() { change.apply(to: &durable) }
            pending = []
        }
    }

    private struct State {
        var nodes: [Node] = []
        var names: [String: Int] = [:]
        /// The names after each change since the folder was last synchronised. The first entry
        /// holds the names on disk.
        var history: [[String: Int]] = [[:]]
        var calls = 0
        var counts: [Call: Int] = [:]
        var isStopped = false
        var epoch = 0
        var plan: (@Sendable (Int, Call) -> Fault?)?
        var generator: SplitMix64

        mutating func begin(_ call: Call, _ path: String, _ epoch: Int? = nil) throws(LogFileError) -> Fault? {
            if isStopped || (epoch ?? self.epoch) != self.epoch {
                throw LogFileError(operation: "stopped", path: path, code: EIO)
            }
            let fault = plan?(calls, call)
            calls += 1
            counts[call, default: 0] += 1
            if fault == .stop { isStopped = true }
            if case .fail(let code)? = fault { throw LogFileError(operation: "\(call)", path: path, code: code) }
            return fault
        }

        /// Ends a call during which the program stopped.
        func end(_ path: String) throws(LogFileError) {
            if isStopped { throw LogFileError(operation: "stopped", path: path, code: EIO) }
        }
    }

    private final class File: LogFile {
        let disk: LogTestDisk
        let node: Int
        let path: String
        let epoch: Int

        init(_ disk: LogTestDisk, _ node: Int, _ path: String, _ epoch: Int) {
            self.disk = disk
            self.node = node
            self.path = path
            self.epoch = epoch
        }

        func size() throws(LogFileError) -> Int {
            try disk.state.withLock { state throws(LogFileError) in
                _ = try state.begin(.size, path, epoch)
                return state.nodes[node].visible.count
            }
        }

        func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
            try disk.state.withLock { state throws(LogFileError) in
                _ = try state.begin(.read, path, epoch)
                return Array(state.nodes[node].visible.dropFirst(offset).prefix(count))
            }
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
            let bytes = Array(bytes)
            return try disk.state.withLock { state throws(LogFileError) in
                var count = bytes.count
                // A whole sector is either written or not; any other range may be cut at any point.
                let isSector = offset % 512 == 0 && count == 512
                if try state.begin(.write, path, epoch) != nil {
                    let isWritten = !state.isStopped || Bool.random(using: &state.generator)
                    count =
                        isSector
                        ? (isWritten ? count : 0)
                        : Int.random(in: (state.isStopped ? 0 : 1)...max(count, 1), using: &state.generator)
                }
                state.nodes[node].change(.write(offset, Array(bytes.prefix(count))))
                try state.end(path)
                return count
            }
        }

        func synchronize() throws(LogFileError) {
            try disk.state.withLock { state throws(LogFileError) in
                do throws(LogFileError) {
                    _ = try state.begin(.synchronize, path, epoch)
                } catch {
                    // As on Linux, after a failure the bytes are marked clean, whether they were
                    // written or not.
                    if !state.isStopped, error.operation != "stopped" {
                        var generator = state.generator
                        state.nodes[node].settle { Bool.random(using: &generator) }
                        state.generator = generator
                    }
                    throw error
                }
                if !state.isStopped { state.nodes[node].settle { true } }
                try state.end(path)
            }
        }

        func truncate(to size: Int) throws(LogFileError) {
            try disk.state.withLock { state throws(LogFileError) in
                _ = try state.begin(.truncate, path, epoch)
                state.nodes[node].change(.truncate(size))
                try state.end(path)
            }
        }
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(generator: SplitMix64(seed: seed))) }

    // MARK: - LogFiles

    func createFolder(_ path: String) throws(LogFileError) {
        try state.withLock { state throws(LogFileError) in
            _ = try state.begin(.createFolder, path)
            try state.end(path)
        }
    }

    func names(in folder: String) throws(LogFileError) -> [String] {
        try state.withLock { state throws(LogFileError) in
            _ = try state.begin(.names, folder)
            return state.names.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
        }
    }

    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        try state.withLock { state throws(LogFileError) -> any LogFile in
            _ = try state.begin(mode == .create ? .create : .open, path)
            if let node = state.names[path] {
                if mode == .create { state.nodes[node].change(.truncate(0)) }
            } else {
                guard mode == .create else {
                    throw LogFileError(operation: "opening", path: path, code: ENOENT)
                }
                state.nodes.append(Node())
                state.names[path] = state.nodes.count - 1
                state.history.append(state.names)
            }
            try state.end(path)
            return File(self, state.names[path] ?? 0, path, state.epoch)
        }
    }

    func rename(_ path: String, to other: String) throws(LogFileError) {
        try state.withLock { state throws(LogFileError) in
            _ = try state.begin(.rename, path)
            state.names[other] = state.names.removeValue(forKey: path)
            state.history.append(state.names)
            try state.end(path)
        }
    }

    func remove(_ path: String) throws(LogFileError) {
        try state.withLock { state throws(LogFileError) in
            _ = try state.begin(.remove, path)
            guard state.names.removeValue(forKey: path) != nil else {
                throw LogFileError(operation: "removing", path: path, code: ENOENT)
            }
            state.history.append(state.names)
            try state.end(path)
        }
    }

    func synchronizeFolder(_ path: String) throws(LogFileError) {
        try state.withLock { state throws(LogFileError) in
            _ = try state.begin(.synchronizeFolder, path)
            if !state.isStopped { state.history = [state.names] }
            try state.end(path)
        }
    }

    // MARK: - Tests

    /// Sets the outcome of later calls, by their number and kind.
    func plan(_ plan: (@Sendable (Int, Call) -> Fault?)?) { state.withLock { $0.plan = plan } }

    /// The number of calls.
    var calls: Int { state.withLock { $0.calls } }

    /// Returns the number of calls of a kind.
    func count(_ call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Ends the program that uses the disk, and starts the next one with the remaining data.
    func crash(losing loss: Loss) {
        state.withLock { state in
            var generator = state.generator
            // When a process exits, nothing is discarded, and nothing becomes durable.
            if loss != .nothing {
                for node in state.nodes.indices {
                    state.nodes[node].settle { loss == .something && Bool.random(using: &generator) }
                    state.nodes[node].visible = state.nodes[node].durable
                }
                let kept = loss == .everything ? 0 : Int.random(in: 0..<state.history.count, using: &generator)
                state.names = state.history[kept]
                state.history = [state.names]
            }
            state.generator = generator
            state.isStopped = false
            state.epoch += 1
            state.plan = nil
        }
    }

    /// All visible files, by path.
    var contents: [String: [UInt8]] {
        get { state.withLock { state in state.names.mapValues { state.nodes[$0].visible } } }
        set {
            state.withLock { state in
                state.nodes = newValue.values.map { Node(visible: $0, durable: $0) }
                state.names = Dictionary(uniqueKeysWithValues: zip(newValue.keys, 0...))
                state.history = [state.names]
                state.epoch += 1
            }
        }
    }
}
