// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The connections of this process to indexes, for indexes that the process makes itself.
enum ProcessSenders {
    private struct State {
        var live: [RequestSender] = []
        /// Whether an extension was loaded: the process is a worker then, and no app, for as long as it lives.
        var isWorker = false
    }
    private static let state = Mutex(State())

    static func add(_ sender: RequestSender) {
        state.withLock { state in
            state.live.append(sender)
            state.isWorker = true
        }
    }

    static func remove(_ sender: RequestSender) { state.withLock { $0.live.removeAll { $0 === sender } } }

    /// Whether this process is a worker that has loaded an extension.
    static var isWorker: Bool { state.withLock { $0.isWorker } }

    /// The process's only connection: that of its extension, or of an app to the service.
    ///
    /// - Throws: ``CSIndexError/Code/indexUnavailableError`` when the extension has gone; and when there are several, as it
    ///   is if a test loads two extensions into one process: items must not end up with the wrong app.
    static func only() throws(CSIndexError) -> RequestSender {
        let (senders, isWorker) = state.withLock { ($0.live, $0.isWorker) }
        switch senders.count {
        case 1: return senders[0]
        case 0:
            guard isWorker else { return ProcessService.sender }
            throw CSIndexError(
                .indexUnavailableError,
                "The index cannot be reached any more: the extension that this process was made for has ended.")
        default:
            throw CSIndexError(
                .indexUnavailableError,
                "The index cannot be told: \(senders.count) extensions share this process. Use the index that is "
                    + "handed to the request handler.")
        }
    }

    /// Whether there is an index that takes requests now. An app may have to wait up to five seconds for the answer.
    static var isAvailable: Bool { isWorker ? (try? only()) != nil : ProcessService.isReachable }
}
