// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// A worker's printed and logged lines, limited in length and number.
final class WorkerOutput: Sendable {
    /// The maximum length of a line in bytes. A longer line is truncated and ends with “…”.
    static let maximumLineBytes = 4096
    /// The maximum number of lines from one worker, printed and logged. Further lines are only
    /// counted.
    static let maximumLines = 20_000
    /// The number of printed lines that are kept as evidence of a crash.
    static let keptLines = 12
    /// The time to wait for the last output after the worker exits, in milliseconds.
    private static let endGrace = 200
    /// The time to wait for the reader thread after the stop message, in milliseconds. On a busy
    /// machine the thread may not run at once.
    private static let stopGrace = 2000

    /// The time for which a reply waits until earlier output is reported, in milliseconds. It is
    /// limited because the callback may be slow.
    static let answerGrace = 2000

    fileprivate struct State {
        var partial: [UInt8] = []
        var isCut = false
        var kept: [String] = []
        var count = 0
        /// The number of bytes that were read, and the number of bytes whose lines were reported.
        var read = 0
        var told = 0
        var hasEnded = false
        /// The tasks that wait until the lines up to a byte are reported, by number.
        var waiting: [Int: (bytes: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        var lastWaiter = 0
    }
    private let state = Mutex(State())
    private let onLine: @Sendable (String) -> Void
    private let ended = DispatchGroup()
    private let descriptor: OwnedDescriptor
    /// Written to in order to stop the reader while another process still holds the pipe's other
    /// end.
    private let stopper: OwnedDescriptor

    /// Starts a thread that reads until the last writer has closed the pipe, or until ``stop()``.
    init(reading descriptor: OwnedDescriptor, onLine: @escaping @Sendable (String) -> Void) throws(ExtensionError) {
        var ends: [Int32] = [-1, -1]
        let code = csandbox_pipe(&ends)
        guard code == 0 else { throw .workerUnavailable(failing: "creating a pipe", code: code) }
        let stop = OwnedDescriptor(adopting: ends[0])
        stopper = OwnedDescriptor(adopting: ends[1])
        self.descriptor = descriptor
        self.onLine = onLine
        // The pipe is read under a lock, so the read must not block.
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw .workerUnavailable(failing: "preparing the pipe of its output", code: errno)
        }
        ended.enter()
        let result = OwnThread.start("worker-output") { [self] in
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while Self.waitForInput(descriptor.number, stop.number), readSome(&buffer) {}
            finish()
            ended.leave()
        }
        guard result == 0 else {
            ended.leave()
            throw .workerUnavailable(failing: "starting a thread", code: result)
        }
    }

    /// Waits for input. Returns `false` if the reader must stop.
    private static func waitForInput(_ input: Int32, _ stop: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0 && errno == EINTR {}
        return descriptors[0].revents != 0
    }

    /// Reads once and reports the lines; returns `false` at the end of the input.
    private func readSome(_ buffer: inout [UInt8]) -> Bool {
        // Counts the bytes under the same lock under which they leave the pipe, so that
        // ``catchUp()`` misses none.
        let (count, code) = state.withLock { state in
            let count = read(descriptor.number, &buffer, buffer.count)
            if count > 0 { state.read += count }
            return (count, errno)
        }
        if count < 0, code == EINTR || code == EAGAIN { return true }
        guard count > 0 else { return false }
        take(buffer[..<count])
        let isAwaited = state.withLock { state in
            state.told += count
            return state.waiting.values.contains { $0.bytes <= state.told }
        }
        if isAwaited {
            tellPartialLine()
            resume { state in { $0.bytes <= state.told } }
        }
        return true
    }

    /// Reports the last line and resumes all waiting tasks.
    private func finish() {
        tellPartialLine()
        state.withLock { $0.hasEnded = true }
        resume { _ in { _ in true } }
    }

    private func resume(
        _ isDone: (State) -> ((bytes: Int, continuation: CheckedContinuation<Void, Never>)) -> Bool
    ) {
        let done = state.withLock { state in
            let done = state.waiting.filter { isDone(state)($0.value) }
            for number in done.keys { state.waiting[number] = nil }
            return done.values.map(\.continuation)
        }
        for continuation in done { continuation.resume() }
    }

    /// Returns when all lines that the worker has printed so far are reported, including an
    /// unterminated last line, or after ``answerGrace``. Costs one system call if nothing was
    /// printed.
    func catchUp() async {
        guard let bytes = state.withLock({ bytesAhead($0) }) else { return tellPartialLine() }
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard !state.hasEnded, state.told < bytes else { return nil }
                state.lastWaiter += 1
                state.waiting[state.lastWaiter] = (bytes, continuation)
                return state.lastWaiter
            }
            guard let number else { return continuation.resume() }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.answerGrace)) { [weak self] in
                self?.state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
            }
        }
        tellPartialLine()
    }

    /// Returns the number of bytes up to which lines must be reported; `nil` if all are.
    private func bytesAhead(_ state: borrowing State) -> Int? {
        guard !state.hasEnded else { return nil }
        var unread: Int32 = 0
        if ioctl(descriptor.number, UInt(FIONREAD), &unread) != 0 { unread = 0 }
        let bytes = state.read + Int(unread)
        return bytes > state.told ? bytes : nil
    }

    /// Stops the reader once it has read the available bytes.
    func stop() { _ = write(stopper.number, "x", 1) }

    /// Waits until everything that the worker printed is read. Does not wait for a process that
    /// inherited the pipe and is still running. Blocks for at most ``endGrace`` plus ``stopGrace``.
    func waitForEnd() {
        guard ended.wait(timeout: .now() + .milliseconds(Self.endGrace)) == .timedOut else { return }
        stop()
        // The reader ends now, unless it gets no processor time or another process keeps writing.
        _ = ended.wait(timeout: .now() + .milliseconds(Self.stopGrace))
    }

    /// The last lines, oldest first.
    var lastLines: [String] { state.withLock { $0.kept } }

    /// Applies the same limits to a log message; returns `nil` if the limit is exceeded.
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

    fileprivate static let tooMany = "(more than \(maximumLines) lines; the rest is not shown)"

    private func take(_ bytes: ArraySlice<UInt8>) {
        let lines = state.withLock { state -> [String] in
            var lines: [String] = []
            for byte in bytes {
                if byte == UInt8(ascii: "\n") {
                    if let line = state.nextLine() { lines.append(line) }
                } else if state.partial.count < Self.maximumLineBytes {
                    state.partial.append(byte)
                } else {
                    state.isCut = true
                }
            }
            return lines
        }
        for line in lines { onLine(line) }
    }

    /// Reports the start of a line that is not terminated yet.
    private func tellPartialLine() {
        if let line = state.withLock({ $0.nextLine() }) { onLine(line) }
    }
}

extension WorkerOutput.State {
    /// Returns the collected line; `nil` if it is empty or exceeds the maximum number of lines.
    fileprivate mutating func nextLine() -> String? {
        guard !partial.isEmpty else { return nil }
        let line = String(decoding: partial, as: UTF8.self) + (isCut ? "…" : "")
        partial.removeAll(keepingCapacity: true)
        isCut = false
        kept.append(line)
        if kept.count > WorkerOutput.keptLines { kept.removeFirst() }
        count += 1
        if count < WorkerOutput.maximumLines { return line }
        return count == WorkerOutput.maximumLines ? WorkerOutput.tooMany : nil
    }
}
