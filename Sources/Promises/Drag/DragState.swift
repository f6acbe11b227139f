// SPDX-License-Identifier: Apache-2.0

/// The state machine of one item in a drag. A pure value: it takes events and returns the next
/// step.
struct DragState: Sendable {
    enum Phase: Sendable {
        /// The item has not started.
        case waiting
        /// The provider was asked, possibly for the second time.
        case asking(Representation)
        /// The content is being delivered.
        case delivering(Representation)
        /// The item has ended.
        case ended(DragOutcome)
    }

    enum Event: Sendable {
        /// The item starts.
        case began
        /// The provider has answered. `wasRetried` is `true` if it took two attempts.
        case provided(wasRetried: Bool)
        case providerFailed(DragFailure)
        case delivered(Fulfilment)
        /// `isStream` is `true` if the provider had to keep running until the last byte.
        case deliveryFailed(PromiseError, isStream: Bool)
        /// The user has declined the content.
        case declined(DragFailure)
        case cancelled
        /// The provider exceeded the time limit.
        case expired(Duration)
    }

    enum Step: Sendable {
        /// Send a request to the provider, with or without a second attempt.
        case ask(Representation, mayRetry: Bool)
        /// Deliver the content.
        case deliver(Representation)
        /// Do nothing more.
        case nothing
    }

    private(set) var phase = Phase.waiting
    private let resolution: PromiseResolution
    /// `true` if a failed delivery leaves nothing behind, so that it can be repeated.
    private let isWhole: Bool
    /// `true` if the promise was requested twice, either by the provider after a crash or by this
    /// state machine.
    private var hasRetried = false

    init(_ resolution: PromiseResolution, isWhole: Bool) {
        self.resolution = resolution
        self.isWhole = isWhole
    }

    var outcome: DragOutcome? { if case .ended(let outcome) = phase { outcome } else { nil } }

    mutating func take(_ event: Event) -> Step {
        switch (phase, event) {
        case (.ended, _): return .nothing
        case (_, .cancelled): return end(DragFailure(.cancelled, "The drag was cancelled."))
        case (.waiting, .began):
            guard let choice = resolution.choice else {
                return end(
                    resolution.refusal.map { DragFailure($0) }
                        ?? DragFailure(.unsupportedType, "No representation is available."))
            }
            phase = .asking(choice)
            return .ask(choice, mayRetry: true)
        case (.asking(let promise), .provided(let wasRetried)):
            hasRetried = hasRetried || wasRetried
            phase = .delivering(promise)
            return .deliver(promise)
        case (.asking, .providerFailed(let failure)): return end(failure)
        case (.asking, .expired(let limit)):
            return end(DragFailure(.timedOut, "The provider did not answer within \(limit)."))
        case (.delivering, .delivered(let fulfilment)):
            phase = .ended(.fulfilled(fulfilment))
            return .nothing
        case (.delivering, .declined(let failure)): return end(failure)
        case (.delivering(let promise), .deliveryFailed(let error, let isStream)):
            guard case .wrongLength(let expected, let received) = error, received < expected else {
                return end(DragFailure(error))
            }
            // A provider that exited before sending its last byte has crashed too.
            guard isWhole, !hasRetried else {
                return end(DragFailure(isStream ? .crashed : error.kind, error.description, cause: error))
            }
            hasRetried = true
            phase = .asking(promise)
            return .ask(promise, mayRetry: false)
        default: return .nothing
        }
    }

    private mutating func end(_ failure: DragFailure) -> Step {
        phase = .ended(.failed(failure))
        return .nothing
    }
}
