// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// A registered delegate app, which receives requests under the same time limits as workers.
///
/// The host cannot terminate an app. A delegate whose request timed out is unresponsive and is
/// skipped until it shows progress; otherwise each request would wait for the whole time limit.
final class DelegateResponder: Responder {
    let token: DelegateToken
    let bundle: String
    private let delegate: any LiveDelegate
    private let configuration: WorkerConfiguration
    private let onDisconnect: @Sendable () -> Void
    private let progress = WorkerProgress()

    private enum Ending: Sendable {
        case answered([BusValue])
        case failed(BusError)
        case timedOut(Duration)
        case unregistered
        case cancelled
    }
    private struct State {
        var hasEnded = false
        var isSilent = false
        var requests = 0
        var waiting: [Int: FirstOutcome<Ending>] = [:]
    }
    private let state = Mutex(State())

    init(
        _ delegate: any LiveDelegate, token: DelegateToken, bundle: String, configuration: WorkerConfiguration,
        onDisconnect: @escaping @Sendable () -> Void
    ) {
        self.delegate = delegate
        self.token = token
        self.bundle = bundle
        self.configuration = configuration
        self.onDisconnect = onDisconnect
    }

    /// `true` if the last request timed out and the app has shown no progress since.
    var isSilent: Bool { state.withLock { $0.isSilent } }

    func noteProgress() {
        progress.note()
        state.withLock { $0.isSilent = false }
    }

    /// Ends the registration. Waiting requests return at once.
    func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for outcome in waiting { outcome.decide(.unregistered) }
    }

    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue] {
        try await perform(request, isConfidential: false)
    }

    /// Sends a request, as ``perform(_:)`` does.
    ///
    /// - Parameter isConfidential: `true` for an error without the words of the app.
    func perform(_ request: WorkerRequest, isConfidential: Bool) async throws(ExtensionError) -> [BusValue] {
        // Ignores a loss from before this request: the app was notified of it and is now asked for
        // all items.
        if request.isReindex { _ = delegate.takeLoss() }
        let ending = await ask(request, request.limit(configuration.limits))
        // Whatever the outcome, no donation from this app may arrive after donations from the next
        // responder.
        if request.isReindex { await delegate.settle() }
        switch ending {
        case .answered(let answer):
            // An acknowledgement has no arguments.
            guard request.isReindex, let loss = delegate.takeLoss() else { return request.isReindex ? [] : answer }
            throw .failed(
                identifier: bundle, during: request.purpose, status: loss.status,
                message: "it acknowledged, but its donations could not be stored: \(loss)")
        case .failed(let error):
            let failure = failure(error, request)
            throw isConfidential ? failure.withoutWords : failure
        case .timedOut(let limit):
            throw unavailable(request, "it did not answer or make progress within \(limit)")
        case .unregistered: throw unavailable(request, "it disconnected")
        case .cancelled: throw .cancelled
        }
    }

    private func ask(_ request: WorkerRequest, _ limit: RequestLimit) async -> Ending {
        let outcome = FirstOutcome<Ending>()
        let number = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.requests += 1
            state.waiting[state.requests] = outcome
            return state.requests
        }
        guard let number else { return .unregistered }
        let watchdog = Watchdog(limit, clock: configuration.clock, progress: progress) { limit in
            outcome.decide(.timedOut(limit))
        }
        let call = Task { [delegate] in
            do throws(BusError) {
                let answer = try await delegate.perform(request)
                noteProgress()
                outcome.decide(.answered(answer))
            } catch {
                if case .remote = error { noteProgress() }
                outcome.decide(.failed(error))
            }
        }
        let ending = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.decide(.cancelled)
        }
        watchdog.stop()
        state.withLock { state in
            state.waiting[number] = nil
            if case .timedOut = ending { state.isSilent = true }
        }
        // A call that timed out is not cancelled, because a late answer shows that the app works
        // again.
        if case .timedOut = ending {} else { call.cancel() }
        return ending
    }

    private func failure(_ error: BusError, _ request: WorkerRequest) -> ExtensionError {
        switch error {
        case .remote(let name, let message):
            // An app that does not know the request is treated like an app that replies
            // “unsupported”.
            let status = name == BusErrorName.unknownMethod ? .unsupported : ExtensionStatus(errorName: name)
            return .failed(identifier: bundle, during: request.purpose, status: status, message: message)
        case .disconnected, .cancelled:
            onDisconnect()
            return unavailable(request, "it closed its connection")
        case .malformed, .system:
            return unavailable(request, "its answer is invalid. \(error.description)")
        }
    }

    private func unavailable(_ request: WorkerRequest, _ reason: String) -> ExtensionError {
        .delegateUnavailable(identifier: bundle, during: request.purpose, reason: reason)
    }
}
