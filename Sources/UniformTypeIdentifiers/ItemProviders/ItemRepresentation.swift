// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One representation of a provider's item.
struct ItemRepresentation: Sendable {
    typealias DataLoader = @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    typealias FileLoader = @Sendable (@escaping @Sendable (URL?, Bool, (any Error)?) -> Void) -> Progress?

    enum Content: Sendable {
        case data(DataLoader)
        case file(FileLoader, opensInPlace: Bool)
        case item(NSItemProvider.LoadHandler)
    }

    let typeIdentifier: String
    let visibility: NSItemProviderRepresentationVisibility
    let content: Content

    var opensInPlace: Bool {
        if case .file(_, opensInPlace: true) = content { true } else { false }
    }

    func conforms(to typeIdentifier: String) -> Bool {
        if self.typeIdentifier.lowercased() == typeIdentifier.lowercased() { return true }
        guard let mine = UTType(self.typeIdentifier), let theirs = UTType(typeIdentifier) else { return false }
        return mine.conforms(to: theirs)
    }

    /// Returns `true` if the representation is offered with all of these options.
    func allows(_ options: NSItemProviderFileOptions) -> Bool { !options.contains(.openInPlace) || opensInPlace }
}

/// A load operation whose receiver is waiting. It delivers only the first result, on the handlers'
/// queue.
final class ItemLoading<Value>: @unchecked Sendable {
    // Sendable: mutable state is accessed only under the lock; values are passed on but not kept.

    let progress = Progress(totalUnitCount: 100)
    private let lock = NSLock()
    private var answer: ((Result<Value, any Error>) -> Void)?
    private var underlying: Progress?

    /// - Parameter answer: Called once, on the handlers' queue.
    init(_ answer: @escaping (Result<Value, any Error>) -> Void) {
        self.answer = answer
        progress.cancellationHandler = { [weak self] in self?.cancel() }
    }

    /// Sets the progress of the underlying operation, for cancellation and display.
    func follow(_ underlying: Progress?) {
        guard let underlying else { return }
        let isOver = lock.withLock {
            self.underlying = underlying
            return answer == nil
        }
        if isOver, progress.isCancelled { underlying.cancel() }
        if !isOver { progress.addChild(underlying, withPendingUnitCount: 100) }
    }

    /// Delivers the result, unless a result was delivered before.
    ///
    /// - Parameter after: Called after the receiver has returned, or immediately if a result was
    ///   delivered before.
    func finish(_ result: Result<Value, any Error>, after: @escaping @Sendable () -> Void = {}) {
        let waiting = lock.withLock {
            defer { answer = nil }
            return answer
        }
        guard let waiting else { return after() }
        if case .success = result, !progress.isFinished { progress.completedUnitCount = progress.totalUnitCount }
        let handed = UncheckedBox((waiting, result))
        HandlerQueue.shared.async {
            let (answer, result) = handed.value
            answer(result)
            after()
        }
    }

    deinit {
        finish(
            .failure(
                NSItemProvider.error(
                    .itemUnavailableError, "The handler that loads the item was released without being called.")))
    }

    private func cancel() {
        lock.withLock { underlying }?.cancel()
        finish(
            .failure(
                CocoaError(
                    .userCancelled, userInfo: [NSLocalizedDescriptionKey: "The loading of the item was cancelled."])))
    }
}

/// A value that one thread hands over to another and no longer uses, or that is only read.
package struct UncheckedBox<Value>: @unchecked Sendable {
    // Sendable: every creator of a value observes this rule.
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
