// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The way to the service that has promises of other apps fulfilled.
protocol PromiseTransport: Sendable {
    /// An item of any app as data of a type that it promised.
    ///
    /// - Throws: ``CSIndexError/Code/remoteConnectionError`` when the service cannot be reached, and
    ///   ``CSIndexError/Code/invalidItemError`` when the app has no such item or does not keep its promise.
    func fetchData(bundle: String, item: String, type: String) async throws(CSIndexError) -> Data
}
