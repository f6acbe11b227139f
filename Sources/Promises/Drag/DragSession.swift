// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Items being dragged onto a receiver, one after the other: has the provider make of each what serves best, and delivers
/// that. Knows nothing of extensions.
///
/// Each item ends with an outcome of its own; one that fails does not keep the others from theirs. May be used from any
/// task.
public actor DragSession<Provider: PromiseProvider> {
    /// One thing that is dragged.
    public struct Item: Sendable {
        /// As the provider knows it.
        public var item: Provider.Item
        /// What of it serves the receiver.
        public var resolution: PromiseResolution
        /// Where it goes.
        public var target: DropTarget

        /// Creates an item.
        public init(_ item: Provider.Item, resolution: PromiseResolution, target: DropTarget) {
            self.item = item
            self.resolution = resolution
            self.target = target
        }
    }

    private let provider: Provider
    private let items: [Item]
    private let options: DragOptions
    nonisolated let controls: [DragItemControl]
    private let progress: DragProgressBoard
    /// A named pipe is opened once for all items.
    private let streams = OpenStreams()
    private var consented = false
    private var hasRun = false

    /// Begins a drag.
    ///
    /// - Parameters:
    ///   - provider: Makes the representations.
    ///   - items: What is dragged.
    ///   - options: How.
    ///   - onProgress: Told how far it has come; often, on any thread. Must not block.
    public init(
        _ provider: Provider, items: [Item], options: DragOptions = DragOptions(),
        onProgress: @escaping @Sendable (DragProgress) -> Void = { _ in }
    ) {
        let board = DragProgressBoard(items: items.count, onProgress)
        self.provider = provider
        self.items = items
        self.options = options
        progress = board
        controls = items.map { _ in DragItemControl { bytes in board.moved(bytes) } }
    }

    /// Ends what has not ended yet, the requests of the provider too. May be called at any moment, from any thread.
    public nonisolated func cancel() {
        // The last first: an item that wakes from its wait must find those behind it cancelled, or the next is asked for.
        for control in controls.reversed() { control.cancel() }
    }

    /// Ends one item.
    public nonisolated func cancel(item index: Int) {
        if controls.indices.contains(index) { controls[index].cancel() }
    }

    /// Says that the drop is near, so that providers need not be waited for then.
    public func prewarm() async {
        await provider.prewarm(items.filter { $0.resolution.choice != nil }.map(\.item))
    }

    /// Drops all items. To be called once; a task that is cancelled cancels the drag.
    ///
    /// - Parameter onOutcome: Told of each outcome at once, with the item's place.
    /// - Returns: The outcomes, in the order of the items.
    public func drop(
        onOutcome: @Sendable (Int, DragOutcome) async -> Void = { _, _ in }
    ) async -> [DragOutcome] {
        guard !hasRun else { return [] }
        hasRun = true
        return await withTaskCancellationHandler {
            var outcomes: [DragOutcome] = []
            for index in items.indices {
                let outcome = await drop(index)
                outcomes.append(outcome)
                progress.itemEnded()
                await onOutcome(index, outcome)
            }
            streams.close()
            return outcomes
        } onCancel: {
            cancel()
        }
    }

    private func drop(_ index: Int) async -> DragOutcome {
        let (item, control) = (items[index], controls[index])
        var state = DragState(item.resolution, isWhole: item.target.isWhole)
        var content: PromisedContent?
        var step = control.isCancelled ? state.take(.cancelled) : state.take(.began)
        while true {
            switch step {
            case .ask(let promise, let mayRetry):
                content = nil
                let asking = progress.askingBegan()
                let answer = await control.ask(within: options.answerLimit, clock: options.clock) {
                    [provider, progress] in
                    do throws(ProviderFailure) {
                        return .success(
                            try await provider.fulfil(promise, of: item.item, mayRetry: mayRetry) {
                                progress.prepared($0, asking: asking)
                            })
                    } catch {
                        return .failure(error)
                    }
                }
                if case .provided(let given) = answer { content = given.content }
                step = state.take(answer.event)
            case .deliver(let promise):
                guard let given = content else { return .failed(DragFailure(.failed, "Nothing was provided.")) }
                progress.deliveryBegan()
                step = state.take(await deliver(given, promise, item.target, control))
            case .nothing:
                return state.outcome ?? .failed(DragFailure(.failed, "The drag came to no end."))
            }
        }
    }

    private func deliver(
        _ content: PromisedContent, _ promise: Representation, _ target: DropTarget, _ control: DragItemControl
    ) async -> DragState.Event {
        let isStream = if case .data(.stream) = content { true } else { false }
        var delivery = options.delivery
        delivery.control = control.delivery
        delivery.streams = streams
        let (settled, token) = (delivery, options.token())
        do throws(PromiseError) {
            switch target {
            case .inPlace:
                if settled.wantsDigest {
                    progress.expect(
                        try await onDelivery { () throws(PromiseError) in
                            try Delivery.length(of: content, options: settled)
                        })
                }
                let found = try await onDelivery { () throws(PromiseError) in
                    try InPlaceFile(content, options: settled)
                }
                return .delivered(
                    Fulfilment(
                        representation: promise, bytes: found.bytes, path: found.path, digest: found.digest,
                        isWritable: found.isWritable))
            case .deliver(let destination):
                let length = try await onDelivery { () throws(PromiseError) in
                    try Delivery.length(of: content, options: settled)
                }
                if let refusal = await consent(to: length) { return .declined(refusal) }
                progress.expect(length)
                let report = try await onDelivery { () throws(PromiseError) in
                    try Delivery.deliver(content, to: destination, token: token, options: settled)
                }
                return .delivered(
                    Fulfilment(
                        representation: promise, bytes: report.bytes, path: report.path, digest: report.digest,
                        isWritable: nil))
            }
        } catch {
            return control.isCancelled ? .cancelled : .deliveryFailed(error, isStream: isStream)
        }
    }

    /// Asks whether so much is wanted, if it is more than goes without saying.
    private func consent(to length: UInt64) async -> DragFailure? {
        guard let limit = options.consentLimit, !consented else { return nil }
        let (total, overflows) = progress.delivered.addingReportingOverflow(length)
        guard overflows || total > limit else { return nil }
        let refusal = await options.consent(overflows ? .max : total, limit)
        consented = refusal == nil
        return refusal
    }
}

/// Moves bytes on a thread that may block.
private func onDelivery<Value: Sendable>(
    _ body: @escaping @Sendable () throws(PromiseError) -> Value
) async throws(PromiseError) -> Value {
    let result: Result<Value, PromiseError> = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(PromiseError) in try body() })
        }
    }
    return try result.get()
}
