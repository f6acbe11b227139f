// SPDX-License-Identifier: Apache-2.0

/// Where the drag of one item stands. Pure: what happens comes in, what to do next comes out.
struct DragState: Sendable {
    enum Phase: Sendable {
        /// Nothing has happened yet.
        case waiting
        /// The provider is asked, perhaps for the second time.
        case asking(Representation)
        /// What it gave is on its way.
        case delivering(Representation)
        /// It is over.
        case ended(DragOutcome)
    }

    enum Event: Sendable {
        /// Its turn has come.
        case began
        /// The provider gave something; whether it took two attempts.
        case provided(wasRetried: Bool)
        case providerFailed(DragFailure)
        case delivered(Fulfilment)
        /// `isStream`: whether whoever gives the bytes had to live until the last of them.
        case deliveryFailed(PromiseError, isStream: Bool)
        /// What was provided is not wanted after all.
        case declined(DragFailure)
        case cancelled
        /// The provider was waited for long enough.
        case expired(Duration)
    }

    enum Step: Sendable {
        /// Ask the provider, which may try twice or not.
        case ask(Representation, mayRetry: Bool)
        /// Deliver what it gave.
        case deliver(Representation)
        /// Nothing any more.
        case nothing
    }

    private(set) var phase = Phase.waiting
    private let resolution: PromiseResolution
    /// Whether a delivery that broke off has left nothing behind, so that it may be made once more.
    private let isWhole: Bool
    /// A promise is asked for twice at most, whoever asks again: the provider after a crash, or this.
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
                    resolution.refusal.map { DragFailure($0) } ?? DragFailure(.unsupportedType, "Nothing serves."))
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
            // A provider that ended in the middle of its bytes has crashed just as well.
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
