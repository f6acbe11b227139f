// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The context of an extension in its host.
///
/// An index extension has no input and no single request to complete. It serves requests until its
/// process ends.
open class NSExtensionContext: NSObject {
    /// The input of the extension; empty for index and preview extensions.
    ///
    /// - Note: Differs on Linux: always empty, since index and preview extensions have no input.
    open var inputItems: [Any] { [] }
}

/// The method that the host calls once after it has created the principal object.
public protocol NSExtensionRequestHandling: NSObjectProtocol {
    /// Announces that requests will follow. Do not wait here, and do not start to index.
    func beginRequest(with context: NSExtensionContext)
}
