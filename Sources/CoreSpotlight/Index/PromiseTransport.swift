// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Transports promise requests to the service.
protocol PromiseTransport: Sendable {
    /// Requests an app's item as data in a type that the item promises.
    ///
    /// - Throws: ``CSIndexError/Code/remoteConnectionError`` if the service cannot be reached, and
    ///   ``CSIndexError/Code/invalidItemError`` if the app has no such item or does not fulfil its
    ///   promise.
    func fetchData(bundle: String, item: String, type: String) async throws(CSIndexError) -> Data
}
