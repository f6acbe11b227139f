// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An extension's context in its host.
///
/// An index extension has no input and no single request to complete. It handles requests until its
/// process exits.
open class NSExtensionContext: NSObject {
    /// The extension's input; empty for index and preview extensions.
    ///
    /// - Note: Differs on Linux: always empty, since index and preview extensions have no input.
    open var inputItems: [Any] { [] }
}

/// The method that the host calls once after it has created the principal object.
public protocol NSExtensionRequestHandling: NSObjectProtocol {
    /// Announces that requests will follow. Do not wait or start indexing here.
    func beginRequest(with context: NSExtensionContext)
}
