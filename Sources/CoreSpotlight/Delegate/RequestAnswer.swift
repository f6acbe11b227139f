// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension
import Synchronization

/// One request to an extension or an app, answered once: later answers are ignored, and a request that is let go of fails
/// at once instead of keeping whoever asked until a time limit.
final class RequestAnswer: Sendable {
    /// What came of the request.
    enum Outcome: Sendable {
        /// A reindex is done.
        case acknowledged
        /// The item as data; never empty.
        case data(Data)
        /// The item as the file at an absolute path.
        case file(String)
        /// What to show of the item.
        case preview(RenderedPreview)
        /// Why not.
        case failed(HostFailure)

        /// Whether it says no more than that there is no such item, or no such promise.
        var isNothing: Bool {
            guard case .failed(let failure) = self else { return false }
            return failure.status == SEARCHLIGHT_NOT_FOUND || failure.status == SEARCHLIGHT_UNSUPPORTED
        }
    }

    private let deliver: @Sendable (Outcome) -> Void
    private let cancellation: @Sendable () -> Bool
    private let isAnswered = Atomic(false)

    /// - Parameters:
    ///   - isCancelled: Says whether nobody waits for the answer any more.
    ///   - deliver: Called once, on any thread.
    init(isCancelled: @escaping @Sendable () -> Bool = { false }, deliver: @escaping @Sendable (Outcome) -> Void) {
        cancellation = isCancelled
        self.deliver = deliver
    }

    /// A request of the host that loaded this process's extension.
    convenience init(_ request: searchlight_request, _ connection: HostConnection) {
        self.init(isCancelled: { connection.isCancelled(request) }) { outcome in
            switch outcome {
            case .acknowledged: connection.acknowledge(request)
            case .data(let data): connection.finish(request, data: data)
            case .file(let path): connection.finish(request, path: path)
            case .preview(let preview): connection.finish(request, preview: preview)
            case .failed(let failure): connection.fail(request, failure)
            }
        }
    }

    /// Answers, the first time.
    func give(_ outcome: Outcome) {
        guard isAnswered.exchange(true, ordering: .relaxed) == false else { return }
        deliver(outcome)
    }

    /// Whether nobody waits for the answer any more.
    var isCancelled: Bool { cancellation() }

    deinit {
        give(
            .failed(
                HostFailure(
                    SEARCHLIGHT_FAILED,
                    "The acknowledgement handler was released without being called. Call it once everything is donated."
                )))
    }
}
