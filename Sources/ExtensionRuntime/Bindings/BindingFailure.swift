// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// An error from a bound function.
package struct BindingFailure: Error, Sendable, Hashable {
    package let status: ExtensionStatus
    package let message: String

    init(_ status: ExtensionStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
