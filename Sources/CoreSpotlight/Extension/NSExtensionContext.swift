// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What an extension knows of the host that loaded it.
///
/// An index extension has no input and no single request to complete: it serves until its process ends.
open class NSExtensionContext: NSObject {
    /// What was handed to the extension; nothing for index and preview extensions.
    ///
    /// - Note: Differs on Linux: always empty, since index and preview extensions have no input.
    open var inputItems: [Any] { [] }
}

/// What the host calls once when it has made the principal object of an extension.
public protocol NSExtensionRequestHandling: NSObjectProtocol {
    /// The object will be asked from now on. Do not wait here, and do not begin to index.
    func beginRequest(with context: NSExtensionContext)
}
