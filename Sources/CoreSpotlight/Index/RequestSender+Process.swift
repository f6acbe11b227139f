// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// This process's index connections, for index objects that the process creates.
enum ProcessSenders {
    private struct State {
        var live: [RequestSender] = []
        /// `true` after an extension was loaded. From then on the process is a worker, not an app.
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

    /// `true` if this process is a worker that has loaded an extension.
    static var isWorker: Bool { state.withLock { $0.isWorker } }

    /// Returns the process's only connection: its extension's connection, or an app's connection to
    /// the service.
    ///
    /// - Throws: ``CSIndexError/Code/indexUnavailableError`` if the extension has been destroyed,
    ///   or if there are several connections, for example in a test that loads two extensions into
    ///   one process, because items must not reach the wrong app.
    static func only() throws(CSIndexError) -> RequestSender {
        let (senders, isWorker) = state.withLock { ($0.live, $0.isWorker) }
        switch senders.count {
        case 1: return senders[0]
        case 0:
            guard isWorker else { return ProcessService.sender }
            throw CSIndexError(
                .indexUnavailableError,
                "The index is no longer available, because the extension of this process has ended.")
        default:
            throw CSIndexError(
                .indexUnavailableError,
                "The request has no single receiver: \(senders.count) extensions share this process. Use the index that is "
                    + "passed to the request handler.")
        }
    }

    /// `true` if an index accepts requests now. In an app, this may block for up to five seconds.
    static var isAvailable: Bool { isWorker ? (try? only()) != nil : ProcessService.isReachable }
}
