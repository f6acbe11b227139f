// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Where handlers of apps are called: never on the thread of the caller, the main thread or one that carries messages.
package enum HandlerQueue {
    /// Handlers may block, and wait for one another, so the queue is concurrent.
    package static let shared = DispatchQueue(label: "searchlight.index.handlers", attributes: .concurrent)

    /// A queue that calls one handler after the other.
    package static func serial(_ label: String) -> DispatchQueue { DispatchQueue(label: label, target: shared) }
}
