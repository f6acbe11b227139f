// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import ServiceProtocol
import Synchronization

/// What a worker prints, cut into lines, bounded in length and number.
final class WorkerOutput: Sendable {
    /// A longer line is cut.
    static let maximumLineBytes = 4096
    /// After so many lines of one worker the rest is only counted.
    static let maximumLines = 20_000
    /// How many of the last lines are kept as evidence of a crash.
    static let keptLines = 12

    private struct State {
        var partial: [UInt8] = []
        var kept: [String] = []
        var count = 0
    }
    private let state = Mutex(State())
    private let onLine: @Sendable (String) -> Void
    private let ended = DispatchGroup()

    /// Reads on a thread of its own until the last writer has gone.
    init(reading descriptor: OwnedDescriptor, onLine: @escaping @Sendable (String) -> Void) {
        self.onLine = onLine
        ended.enter()
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = read(descriptor.number, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                take(buffer[..<count])
            }
            take([UInt8(ascii: "\n")])
            ended.leave()
        }
    }

    /// Waits until everything was read, but not for a process that inherited the stream and lives on. Blocks.
    func waitForEnd() {
        _ = ended.wait(timeout: .now() + .milliseconds(200))
    }

    /// The last lines, oldest first.
    var lastLines: [String] { state.withLock { $0.kept } }

    private func take(_ bytes: ArraySlice<UInt8>) {
        let lines = state.withLock { state -> [String] in
            var lines: [String] = []
            for byte in bytes {
                if byte != UInt8(ascii: "\n") {
                    if state.partial.count < Self.maximumLineBytes { state.partial.append(byte) }
                    continue
                }
                guard !state.partial.isEmpty else { continue }
                let line = String(decoding: state.partial, as: UTF8.self)
                state.partial.removeAll(keepingCapacity: true)
                state.kept.append(line)
                if state.kept.count > Self.keptLines { state.kept.removeFirst() }
                state.count += 1
                if state.count < Self.maximumLines { lines.append(line) }
                if state.count == Self.maximumLines {
                    lines.append("(more than \(Self.maximumLines) lines; the rest is not shown)")
                }
            }
            return lines
        }
        for line in lines { onLine(line) }
    }
}
