// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// A drag of items to a receiver. For each item in turn, the session requests the best
/// representation from the provider and delivers it. It does not depend on extensions.
///
/// Each item has its own outcome; a failure does not affect other items. May be used from any task.
public actor DragSession<Provider: PromiseProvider> {
    /// A dragged item.
    public struct Item: Sendable {
        /// The provider's item.
        public var item: Provider.Item
        /// The choice of a representation for the receiver.
        public var resolution: PromiseResolution
        /// The target.
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
    /// The streams for all items, so that a named pipe is only opened once.
    private let streams = OpenStreams()
    private var consented = false
    private var hasRun = false

    /// Creates a drag.
    ///
    /// - Parameters:
    ///   - provider: The provider of the representations.
    ///   - items: The dragged items.
    ///   - options: The options.
    ///   - onProgress: Called often with the progress, on any thread. Must not block.
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

    /// Cancels all items that have not ended, including their requests to the provider. May be
    /// called at any time, from any thread.
    public nonisolated func cancel() {
        // In reverse order: when a waiting item wakes up, all later items must already be
        // cancelled; otherwise the next one would be requested.
        for control in controls.reversed() { control.cancel() }
    }

    /// Cancels one item.
    public nonisolated func cancel(item index: Int) {
        if controls.indices.contains(index) { controls[index].cancel() }
    }

    /// Announces that the drop is near, so that providers can prepare.
    public func prewarm() async {
        await provider.prewarm(items.filter { $0.resolution.choice != nil }.map(\.item))
    }

    /// Drops all items. Must be called once. Cancelling the task cancels the drag.
    ///
    /// - Parameter onOutcome: Called with each item's index and outcome as soon as the item has
    ///   ended.
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
                return state.outcome ?? .failed(DragFailure(.failed, "The drag did not end."))
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

    /// Asks for consent if the size exceeds the limit.
    private func consent(to length: UInt64) async -> DragFailure? {
        guard let limit = options.consentLimit, !consented else { return nil }
        let (total, overflows) = progress.delivered.addingReportingOverflow(length)
        guard overflows || total > limit else { return nil }
        let refusal = await options.consent(overflows ? .max : total, limit)
        consented = refusal == nil
        return refusal
    }
}

/// Runs a closure on a thread that may block.
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
