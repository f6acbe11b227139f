// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension
import Synchronization

/// The reply to one request to an extension or an app. Only the first reply is delivered. A request
/// that is released without a reply fails at once, so that the caller does not wait for a time
/// limit. If the request was cancelled, the failure is the cancellation.
final class RequestAnswer: Sendable {
    /// The outcome of a request.
    enum Outcome: Sendable {
        /// The reindex is complete.
        case acknowledged
        /// The page is complete, and the next one starts at the cursor; `nil` after the last page.
        case page(next: Data?)
        /// The item as data; never empty.
        case data(Data)
        /// The item as a file, by absolute path.
        case file(String)
        /// The preview of the item.
        case preview(RenderedPreview)
        /// The failure of the request.
        case failed(HostFailure)

        /// `true` if the failure only means that the item or the promise does not exist.
        var isNothing: Bool {
            guard case .failed(let failure) = self else { return false }
            return failure.status == SEARCHLIGHT_NOT_FOUND || failure.status == SEARCHLIGHT_UNSUPPORTED
        }
    }

    private let deliver: @Sendable (Outcome) -> Void
    private let cancellation: @Sendable () -> Bool
    private let isAnswered = Atomic(false)

    /// - Parameters:
    ///   - isCancelled: Returns `true` if the caller has cancelled the request.
    ///   - deliver: Called once, on any thread.
    init(isCancelled: @escaping @Sendable () -> Bool = { false }, deliver: @escaping @Sendable (Outcome) -> Void) {
        cancellation = isCancelled
        self.deliver = deliver
    }

    /// Creates the reply to a request from the host that loaded this process's extension.
    convenience init(_ request: searchlight_request, _ connection: HostConnection) {
        self.init(isCancelled: { connection.isCancelled(request) }) { outcome in
            switch outcome {
            case .acknowledged: connection.acknowledge(request)
            case .page(let next): connection.finishPage(request, next: next)
            case .data(let data): connection.finish(request, data: data)
            case .file(let path): connection.finish(request, path: path)
            case .preview(let preview): connection.finish(request, preview: preview)
            case .failed(let failure): connection.fail(request, failure)
            }
        }
    }

    /// Delivers the outcome, unless an outcome has already been delivered.
    func give(_ outcome: Outcome) {
        guard isAnswered.exchange(true, ordering: .relaxed) == false else { return }
        deliver(outcome)
    }

    /// `true` if the caller has cancelled the request.
    var isCancelled: Bool { cancellation() }

    deinit {
        // The host no longer knows a request that has been replied to.
        guard !isAnswered.load(ordering: .relaxed) else { return }
        guard !isCancelled else {
            return give(.failed(HostFailure(SEARCHLIGHT_CANCELLED, "The request was cancelled.")))
        }
        give(
            .failed(
                HostFailure(
                    SEARCHLIGHT_FAILED,
                    """
                    The request was not completed: its acknowledgement handler was released without being called. The \
                    extension's messages may say why; otherwise, call the handler when all items are donated.
                    """
                )))
    }
}
