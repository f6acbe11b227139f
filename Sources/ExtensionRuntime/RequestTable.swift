// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import ServiceMessages
import Synchronization
import SystemSupport

/// An extension's answer to a request.
enum RequestOutcome: Sendable {
    /// The reindex is complete and durable.
    case acknowledged
    /// The page is complete and durable. `next` is the cursor of the next page, or `nil` after the
    /// last page.
    case page(next: [UInt8]?)
    /// The data for a promise.
    case data([UInt8])
    /// The file for a promise.
    case file(FileReply)
    /// An open file that fulfils a promise for data or a file, and its name; empty for none.
    case descriptor(OwnedDescriptor, name: String)
    /// A stream with the data of a promise, which the extension fills after the answer.
    case stream(OwnedDescriptor, length: UInt64)
    /// A preview.
    case preview(PreparedPreview)
    /// The request failed.
    case failed(ExtensionStatus, String)
}

/// The requests that an extension has not answered yet, by number.
///
/// Numbers are never reused, so a second or late answer has no effect.
final class RequestTable: Sendable {
    typealias Handler = @Sendable (RequestOutcome) -> Void
    typealias CancelHandler = @Sendable () -> Void
    /// Sends the progress of a call from the host.
    typealias ProgressSender = @Sendable (_ call: UInt64, _ completed: UInt64, _ total: UInt64) -> Void

    private struct Entry {
        /// The serial number of the call from the host.
        let call: UInt64
        let handler: Handler
        var isCancelled = false
        var onCancel: CancelHandler?
        /// The thread of a running cancel handler, and the group that it leaves when it ends.
        var running: (thread: pthread_t, end: DispatchGroup)?
        var progress = ProgressReports()
    }
    private struct State {
        var next: UInt64 = 1
        var pending: [UInt64: Entry] = [:]
        var calls: [UInt64: UInt64] = [:]
    }
    private let state = Mutex(State())
    private let time: SessionTime
    private let sendProgress: ProgressSender

    init(time: SessionTime = .system, sendProgress: @escaping ProgressSender = { _, _, _ in }) {
        self.time = time
        self.sendProgress = sendProgress
    }

    /// Opens a request. The handler is called once with the outcome, on the thread that answers the
    /// request.
    ///
    /// - Parameter call: The serial number of the call from the host, used to cancel it; 0 if it
    ///   has none.
    func open(call: UInt64 = 0, _ handler: @escaping Handler) -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            state.pending[state.next] = Entry(call: call, handler: handler)
            if call != 0 { state.calls[call] = state.next }
            return state.next
        }
    }

    /// Answers a request; returns `false` if it is already answered or unknown.
    func finish(_ request: UInt64, _ outcome: RequestOutcome) -> Bool {
        let found = state.withLock { state -> Entry? in
            guard let entry = state.pending.removeValue(forKey: request) else { return nil }
            if entry.call != 0 { state.calls[entry.call] = nil }
            return entry
        }
        guard let entry = found else { return false }
        wait(for: entry.running)
        if let last = entry.progress.waiting { sendProgress(entry.call, last.completed, last.total) }
        entry.handler(outcome)
        return true
    }

    /// Returns `true` if the extension has not answered yet.
    func isPending(_ request: UInt64) -> Bool { state.withLock { $0.pending[request] != nil } }

    // MARK: Cancelling

    /// Returns `true` if the host no longer waits for the answer.
    func isCancelled(_ request: UInt64) -> Bool { state.withLock { $0.pending[request]?.isCancelled ?? true } }

    /// Records that the host has cancelled a call.
    ///
    /// - Returns: The request for ``runCancelHandler(_:)``, which must be called on a thread that
    ///   may block; `nil` if the request is already answered or cancelled.
    func cancel(call: UInt64) -> UInt64? {
        state.withLock { state in
            guard let request = state.calls[call], state.pending[request]?.isCancelled == false else { return nil }
            state.pending[request]?.isCancelled = true
            return request
        }
    }

    /// Calls a request's cancel handler, if there is one and the request has not been answered.
    func runCancelHandler(_ request: UInt64) {
        let end = DispatchGroup()
        let handler = state.withLock { state -> CancelHandler? in
            guard let handler = state.pending[request]?.onCancel else { return nil }
            state.pending[request]?.onCancel = nil
            state.pending[request]?.running = (pthread_self(), end)
            end.enter()
            return handler
        }
        guard let handler else { return }
        handler()
        end.leave()
        state.withLock { $0.pending[request]?.running = nil }
    }

    /// Sets the closure that is called once when a request is cancelled: at once if it has already
    /// been cancelled, never if it has been answered.
    func setCancelHandler(_ request: UInt64, _ handler: CancelHandler?) {
        let (running, isCancelled) = state.withLock { state -> ((pthread_t, DispatchGroup)?, Bool) in
            guard let entry = state.pending[request] else { return (nil, false) }
            state.pending[request]?.onCancel = entry.isCancelled ? nil : handler
            return (entry.running, entry.isCancelled)
        }
        // The caller may free the old handler's data, so this waits for a running handler.
        wait(for: running)
        if isCancelled { handler?() }
    }

    private func wait(for running: (thread: pthread_t, end: DispatchGroup)?) {
        // A handler may answer its own request.
        guard let running, pthread_equal(running.thread, pthread_self()) == 0 else { return }
        _ = running.end.wait(timeout: .now() + time.handlerPatience)
    }

    // MARK: Progress

    /// Records the progress of a request. The host receives it now, a little later, or with the
    /// answer.
    func report(_ request: UInt64, completed: UInt64, total: UInt64) {
        let now = time.now()
        let (call, step) = state.withLock { state -> (UInt64, ProgressReports.Step) in
            guard let call = state.pending[request]?.call else { return (0, .nothing) }
            return (call, state.pending[request]?.progress.add((completed, total), now: now) ?? .nothing)
        }
        switch step {
        case .send: sendProgress(call, completed, total)
        case .sendAfter(let delay): time.after(delay) { [weak self] in self?.sendWaiting(request) }
        case .nothing: break
        }
    }

    private func sendWaiting(_ request: UInt64) {
        let now = time.now()
        let found = state.withLock { state -> (call: UInt64, ProgressReports.Report)? in
            guard let call = state.pending[request]?.call,
                let report = state.pending[request]?.progress.takeWaiting(now: now)
            else { return nil }
            return (call, report)
        }
        if let (call, report) = found { sendProgress(call, report.completed, report.total) }
    }
}

/// A rate limiter for progress reports, which always passes on the last report.
struct ProgressReports {
    typealias Report = (completed: UInt64, total: UInt64)

    /// The shortest time between two reports.
    static let interval = Duration.milliseconds(250)

    enum Step {
        /// Send the report now.
        case send
        /// Send ``waiting`` after this delay.
        case sendAfter(Duration)
        /// Do nothing: the report replaces a report that is already waiting.
        case nothing
    }

    private var lastSent: Duration?
    /// The last report, if it has not been sent yet.
    private(set) var waiting: Report?

    mutating func add(_ report: Report, now: Duration) -> Step {
        if waiting != nil {
            waiting = report
            return .nothing
        }
        guard let lastSent, now - lastSent < Self.interval else {
            self.lastSent = now
            return .send
        }
        waiting = report
        return .sendAfter(Self.interval - (now - lastSent))
    }

    mutating func takeWaiting(now: Duration) -> Report? {
        defer { waiting = nil }
        if waiting != nil { lastSent = now }
        return waiting
    }
}

/// A session's time functions.
struct SessionTime: Sendable {
    /// Returns the time since a fixed moment.
    var now: @Sendable () -> Duration
    /// Calls a closure once, after a delay, on any thread.
    var after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    /// The longest time for which an answer waits for a cancel handler on another thread. The
    /// handler's data is usually freed with the answer. The limit resolves a deadlock between the
    /// two.
    var handlerPatience = DispatchTimeInterval.seconds(1)

    static let system: SessionTime = {
        let start = ContinuousClock.now
        return SessionTime(
            now: { ContinuousClock.now - start },
            after: { delay, body in
                let nanoseconds =
                    delay.components.seconds * 1_000_000_000 + delay.components.attoseconds / 1_000_000_000
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: body)
            })
    }()
}
