// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// One registered app, asked within the limits that hold for workers.
///
/// An app is not the host's to end. One that let a request time out is silent: it is passed over until it shows a sign of
/// life, or each request would wait for it in vain.
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

    /// Whether its last request timed out and nothing was heard of it since.
    var isSilent: Bool { state.withLock { $0.isSilent } }

    func noteProgress() {
        progress.note()
        state.withLock { $0.isSilent = false }
    }

    /// Ends the registration; nobody waits for its answers any more.
    func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for outcome in waiting { outcome.decide(.unregistered) }
    }

    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue] {
        // What was refused before is not this request's: the app was told, and is asked for all of it now.
        if request.isReindex { _ = delegate.takeLoss() }
        let ending = await ask(request, request.limit(configuration.limits))
        // Whatever the ending: nothing that it sent may come after what the next responder donates.
        if request.isReindex { await delegate.settle() }
        switch ending {
        case .answered(let answer):
            // An acknowledgement has no words.
            guard request.isReindex, let loss = delegate.takeLoss() else { return request.isReindex ? [] : answer }
            throw .failed(
                identifier: bundle, during: request.purpose, status: loss.status,
                message: "it acknowledged, but donations could not be kept: \(loss)")
        case .failed(let error): throw failure(error, request)
        case .timedOut(let limit):
            throw unavailable(request, "it did not answer or make progress within \(limit)")
        case .unregistered: throw unavailable(request, "it has gone")
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
        // A late answer shows that the app works again.
        if case .timedOut = ending {} else { call.cancel() }
        return ending
    }

    private func failure(_ error: BusError, _ request: WorkerRequest) -> ExtensionError {
        switch error {
        case .remote(let name, let message):
            // An app that knows no such request serves it as little as one that says so.
            let status = name == BusErrorName.unknownMethod ? .unsupported : ExtensionStatus(errorName: name)
            return .failed(identifier: bundle, during: request.purpose, status: status, message: message)
        case .disconnected, .cancelled:
            onDisconnect()
            return unavailable(request, "it closed its connection")
        case .malformed, .system:
            return unavailable(request, "its answer makes no sense. \(error.description)")
        }
    }

    private func unavailable(_ request: WorkerRequest, _ reason: String) -> ExtensionError {
        .delegateUnavailable(identifier: bundle, during: request.purpose, reason: reason)
    }
}
