// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The queues for the handlers of apps. Handlers never run on the thread of the caller, the main
/// thread, or a thread that carries messages.
package enum HandlerQueue {
    /// A concurrent queue, because handlers may block and wait for one another.
    package static let shared = DispatchQueue(label: "searchlight.index.handlers", attributes: .concurrent)

    /// Returns a queue that calls one handler after the other.
    package static func serial(_ label: String) -> DispatchQueue { DispatchQueue(label: label, target: shared) }
}
