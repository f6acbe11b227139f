// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Foundation
import Glibc
import ServiceProtocol
import Synchronization

/// What a worker prints and logs: lines, bounded in length and number.
final class WorkerOutput: Sendable {
    /// A longer line is cut.
    static let maximumLineBytes = 4096
    /// After so many lines of one worker, printed and logged, the rest is only counted.
    static let maximumLines = 20_000
    /// How many of the last printed lines are kept as evidence of a crash.
    static let keptLines = 12
    /// How long to wait for what was printed before the end to be read, in milliseconds.
    private static let endGrace = 200
    /// How long to wait for the reader once it was told to stop, in milliseconds; a busy machine may keep it from running.
    private static let stopGrace = 2000

    private struct State {
        var partial: [UInt8] = []
        var kept: [String] = []
        var count = 0
    }
    private let state = Mutex(State())
    private let onLine: @Sendable (String) -> Void
    private let ended = DispatchGroup()
    /// Written to when the reader is to stop although somebody still holds the other end.
    private let stopper: OwnedDescriptor

    /// Reads on a thread of its own until the last writer has gone, or until told to stop.
    init(reading descriptor: OwnedDescriptor, onLine: @escaping @Sendable (String) -> Void) throws(ExtensionError) {
        var ends: [Int32] = [-1, -1]
        let code = csandbox_pipe(&ends)
        guard code == 0 else {
            throw .workerUnavailable(reason: "creating a pipe failed: \(String(cString: strerror(code))).")
        }
        let stop = OwnedDescriptor(adopting: ends[0])
        stopper = OwnedDescriptor(adopting: ends[1])
        self.onLine = onLine
        ended.enter()
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while Self.waitForInput(descriptor.number, stop.number) {
                let count = read(descriptor.number, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                take(buffer[..<count])
            }
            take([UInt8(ascii: "\n")])
            ended.leave()
        }
    }

    /// Whether there is something to read, before anybody says stop.
    private static func waitForInput(_ input: Int32, _ stop: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0 && errno == EINTR {}
        return descriptors[0].revents != 0
    }

    /// Has the reader end once it has read what is there.
    func stop() { _ = write(stopper.number, "x", 1) }

    /// Waits until everything was read that the worker printed, but not for a process that inherited the stream and
    /// lives on. Blocks for ``endGrace`` and ``stopGrace`` at most.
    func waitForEnd() {
        guard ended.wait(timeout: .now() + .milliseconds(Self.endGrace)) == .timedOut else { return }
        stop()
        // The reader ends at once now, unless it did not get to run yet, or somebody writes without end.
        _ = ended.wait(timeout: .now() + .milliseconds(Self.stopGrace))
    }

    /// The last lines, oldest first.
    var lastLines: [String] { state.withLock { $0.kept } }

    /// Takes a message that came another way into the same bounds; `nil` if it is one too many.
    func admit(_ message: String) -> String? {
        let (isAdmitted, isLast) = state.withLock { state in
            state.count += 1
            return (state.count < Self.maximumLines, state.count == Self.maximumLines)
        }
        if isLast { return Self.tooMany }
        guard isAdmitted else { return nil }
        guard message.utf8.count > Self.maximumLineBytes else { return message }
        return String(decoding: message.utf8.prefix(Self.maximumLineBytes), as: UTF8.self) + "…"
    }

    private static let tooMany = "(more than \(maximumLines) lines; the rest is not shown)"

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
                if state.count == Self.maximumLines { lines.append(Self.tooMany) }
            }
            return lines
        }
        for line in lines { onLine(line) }
    }
}
