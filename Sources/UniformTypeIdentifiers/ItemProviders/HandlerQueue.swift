// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The queues on which handlers provided by apps are called. Handlers never run on the caller's
/// thread, the main thread, or a thread that transfers messages.
package enum HandlerQueue {
    /// A concurrent queue, because handlers may block and wait for each other.
    package static let shared = DispatchQueue(label: "searchlight.index.handlers", attributes: .concurrent)

    /// Returns a queue that calls one handler after another.
    package static func serial(_ label: String) -> DispatchQueue { DispatchQueue(label: label, target: shared) }
}
