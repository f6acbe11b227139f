// SPDX-License-Identifier: Apache-2.0
import Glibc
import CommandSupport
import IdleScheduling
import SchedulerSimulation
import SearchlightEngine
import Synchronization
import SystemSupport

/// The destination for a recording: a new file, or standard output.
struct TraceSink: Sendable {
    private let file: OwnedDescriptor?
    private let path: String

    /// Creates the file. An existing file is never replaced, because a recording cannot be
    /// repeated.
    init(path: String?) throws(CommandFailure) {
        self.path = path ?? "standard output"
        guard let path else {
            file = nil
            return
        }
        let number = open(absolute(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            let code = errno
            let remedy =
                switch code {
                case EEXIST: " Name another file, or remove it."
                case ENOENT: " Create its folder first, or name another file."
                default: " Name another file."
                }
            throw CommandFailure(
                message: "Making \(path) failed: \(String(cString: strerror(code)).lowercased()).\(remedy)",
                status: .inputOutput)
        }
        file = OwnedDescriptor(adopting: number)
    }

    func write(_ line: String) throws {
        guard let file else { return try Output.document(line) }
        var line = line
        if case .failure(let error) = line.withUTF8({ WholeTransfer.write(UnsafeRawBufferPointer($0), to: file.number) }
        ) {
            throw CommandFailure(
                message: """
                    Writing to \(path) failed: \(String(cString: strerror(error.code)).lowercased()). Free space, or name a \
                    file on another disk.
                    """,
                status: .inputOutput)
        }
    }
}

/// A trace that is being written. May be used from any thread. Each line is written immediately and
/// completely, so that the trace can be replayed even if the program is killed.
final class Recording: Sendable {
    private struct State {
        var writer: TraceWriter
        var last: Double
        var conditions = Conditions()
        var bytes = 0
        var lines = 0
        var failure: (any Error)?
    }
    private let state: Mutex<State>
    private let sink: TraceSink

    /// Starts a trace by writing its header.
    init(name: String, clock: TraceClock, sink: TraceSink) {
        self.sink = sink
        let trace = Trace(name: name, midnight: clock.midnight, zone: clock.zone)
        state = Mutex(State(writer: TraceWriter(trace), last: -.infinity))
        state.withLock { write($0.writer.header(name: name, description: ""), &$0) }
    }

    /// The reason why nothing more can be written.
    var failure: (any Error)? { state.withLock { $0.failure } }
    /// The number of lines written.
    var lines: Int { state.withLock { $0.lines } }

    /// Records the conditions of the machine if they have changed.
    func take(_ conditions: Conditions, at moment: Double) {
        state.withLock { state in
            state.conditions = conditions.settled(since: state.conditions)
            add(.conditions(state.conditions), at: moment, &state)
        }
    }

    /// Records the arrival of a job.
    func take(_ job: TracedJob, at moment: Double) { state.withLock { add(.job(job), at: moment, &$0) } }

    /// Ends the trace.
    ///
    /// - Throws: The error that prevented a complete trace.
    func end(at moment: Double) throws {
        try state.withLock { state in
            add(.end, at: moment, &state)
            if let failure = state.failure { throw failure }
        }
    }

    private func add(_ happening: Trace.Happening, at moment: Double, _ state: inout State) {
        // After the clock is set back, times do not advance for a while.
        state.last = max(state.last, moment)
        guard state.failure != nil || state.writer.hasRoom(at: state.last) else {
            state.failure = CommandFailure(
                message: "The recording reached the maximum length of a trace and stopped. It can be replayed.",
                status: .failure)
            return
        }
        if let line = state.writer.line(Trace.Event(state.last, happening)) { write(line, &state) }
    }

    private func write(_ line: String, _ state: inout State) {
        guard state.failure == nil else { return }
        guard state.bytes + line.utf8.count <= Trace.maximumBytes - 1024, state.lines < Trace.maximumEvents else {
            state.failure = CommandFailure(
                message: "The recording reached the maximum size of a trace and stopped. It can be replayed.",
                status: .failure)
            return
        }
        do {
            try sink.write(line)
            state.bytes += line.utf8.count
            state.lines += 1
        } catch {
            state.failure = error
        }
    }
}
