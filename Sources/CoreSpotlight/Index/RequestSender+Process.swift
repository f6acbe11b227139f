// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The connections of this process to indexes, for indexes that the process makes itself.
enum ProcessSenders {
    private static let live = Mutex<[RequestSender]>([])

    static func add(_ sender: RequestSender) { live.withLock { $0.append(sender) } }

    static func remove(_ sender: RequestSender) { live.withLock { $0.removeAll { $0 === sender } } }

    /// The process's only connection.
    ///
    /// - Throws: ``CSIndexError/Code/indexUnavailableError`` when there is none; and when there are several, as it is if a
    ///   test loads two extensions into one process: items must not end up with the wrong app.
    static func only() throws(CSIndexError) -> RequestSender {
        let senders = live.withLock { $0 }
        switch senders.count {
        case 1: return senders[0]
        case 0:
            throw CSIndexError(
                .indexUnavailableError,
                "The index of this app cannot be reached: this process is not an extension loaded by a Searchlight "
                    + "worker, and apps cannot connect to the service yet. Donate from the app's index extension.")
        default:
            throw CSIndexError(
                .indexUnavailableError,
                "The index cannot be told: \(senders.count) extensions share this process. Use the index that is "
                    + "handed to the request handler.")
        }
    }
}
