// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension
import Synchronization

/// One request of the host, answered once: later answers are ignored, and a request that is let go of fails at once
/// instead of keeping the host until its time limit.
final class RequestAnswer: Sendable {
    private let connection: HostConnection
    private let request: searchlight_request
    private let isAnswered = Atomic(false)

    init(_ request: searchlight_request, _ connection: HostConnection) {
        self.request = request
        self.connection = connection
    }

    /// Answers with what the closure does, the first time.
    private func once(_ answer: (HostConnection, searchlight_request) -> Void) {
        guard isAnswered.exchange(true, ordering: .relaxed) == false else { return }
        answer(connection, request)
    }

    func acknowledge() { once { $0.acknowledge($1) } }

    func fail(_ status: Int32, _ message: String) { once { $0.fail($1, HostFailure(status, message)) } }

    func fail(_ failure: HostFailure) { once { $0.fail($1, failure) } }

    func finish(data: Data) { once { $0.finish($1, data: data) } }

    func finish(path: String) { once { $0.finish($1, path: path) } }

    func finish(preview: RenderedPreview) { once { $0.finish($1, preview: preview) } }

    /// Whether nobody waits for the answer any more.
    var isCancelled: Bool { connection.isCancelled(request) }

    deinit {
        fail(
            SEARCHLIGHT_FAILED,
            "The acknowledgement handler was released without being called. Call it once everything is donated.")
    }
}
