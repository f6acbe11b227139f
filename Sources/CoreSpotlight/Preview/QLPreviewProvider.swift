// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an extension that renders previews as data and does nothing else: inherit from it and conform to
/// ``QLPreviewingController``. An extension that also has a ``CSIndexExtensionRequestHandler`` has that conform instead.
open class QLPreviewProvider: NSObject, NSExtensionRequestHandling {
    /// Makes the object, off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}
}

/// Asks for a preview of a file.
open class QLFilePreviewRequest: NSObject {
    /// The file; readable by the extension.
    public let fileURL: URL

    init(fileURL: URL) { self.fileURL = fileURL }
}
