// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// Handles the messages that a worker sends on its own: donations, log messages and progress
/// reports. All of them are signs of life, except reports of misuse.
final class WorkerMessageHandler: Sendable {
    /// The shortest interval between progress reports.
    private static let progressInterval = Duration.milliseconds(200)

    private struct State {
        /// The progress callbacks of the calls in progress, by serial number.
        var calls: [UInt64: RequestOptions.ProgressListener] = [:]
        /// The time of the last progress report.
        var lastProgress: Duration?
        /// The number of reports about omitted content.
        var leftOut = 0
    }
    /// The maximum number of reports about omitted content during one request. Further reports are
    /// ignored and do not count as signs of life.
    static let maximumLeftOut = 100_000
    /// The counter of signs of life.
    let progress = WorkerProgress()
    /// The streams that the worker fills.
    let streams = WorkerStreams()
    private let bundle: String
    private let elapsed: @Sendable () -> Duration
    private let onEvent: @Sendable (ExtensionEvent) -> Void
    private let state = Mutex(State())

    init(_ bundle: String, clock: any Clock<Duration>, onEvent: @escaping @Sendable (ExtensionEvent) -> Void) {
        self.bundle = bundle
        self.onEvent = onEvent
        elapsed = stopwatch(clock)
    }

    /// Adds a call in progress.
    func begin(_ serial: UInt64, onProgress: @escaping RequestOptions.ProgressListener) {
        state.withLock { state in
            if state.calls.isEmpty { state.leftOut = 0 }
            state.calls[serial] = onProgress
        }
    }

    func end(_ serial: UInt64) { state.withLock { $0.calls[serial] = nil } }

    func printed(_ line: String) {
        progress.note()
        onEvent(.output(bundle: bundle, line: line))
    }

    /// Handles a message from the worker. Called on the connection's thread; never blocks.
    func take(_ call: IncomingCall, _ output: WorkerOutput, _ intake: DonationIntake) {
        do throws(BusError) {
            switch try HostRequest(call) {
            case .index(let request):
                intake.take(request, call)
                return
            case .log(let level, let message):
                if let message = output.admit(message) {
                    progress.note()
                    onEvent(.log(bundle: bundle, level: level, message: message))
                }
            case .misuse(let rule, let message):
                if let message = output.admit(message) {
                    onEvent(.misuse(bundle: bundle, rule: rule, message: message))
                }
            case .leftOut(let what):
                let isAdmitted = state.withLock { state in
                    state.leftOut += 1
                    return state.leftOut <= Self.maximumLeftOut
                }
                if isAdmitted {
                    progress.note()
                    onEvent(.leftOut(bundle: bundle, what))
                }
            case .progress(let serial, let completed, let total): take(serial, completed, total)
            case .openStreams(let count): streams.note(open: count)
            case .libraryMemory(let kept): onEvent(.libraryMemory(bundle: bundle, kept: kept))
            }
            call.reply()
        } catch {
            call.refuse(error)
        }
    }

    private func take(_ serial: UInt64, _ completed: UInt64, _ total: UInt64) {
        let moment = elapsed()
        let (listener, isDue) = state.withLock { state -> (RequestOptions.ProgressListener?, Bool) in
            guard let listener = state.calls[serial] else { return (nil, false) }
            let isDue = state.lastProgress.map { moment - $0 >= Self.progressInterval } ?? true
            if isDue { state.lastProgress = moment }
            return (listener, isDue)
        }
        // The call has ended, so its progress is ignored.
        guard let listener else { return }
        progress.note()
        guard isDue else { return }
        let done = total == 0 ? completed : min(completed, total)
        listener(done, total)
        onEvent(.progress(bundle: bundle, completed: done, total: total))
    }
}

/// Returns a function that measures the time since this call.
package func stopwatch<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}
