// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an extension that only renders previews as data. Inherit from it and
/// conform to ``QLPreviewingController``. If the extension has a
/// ``CSIndexExtensionRequestHandler``, let that class conform instead, without a
/// ``QLPreviewProvider``.
open class QLPreviewProvider: NSObject, NSExtensionRequestHandling {
    /// Creates the object. Called off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}
}

/// A request for the preview of a file.
open class QLFilePreviewRequest: NSObject {
    /// The URL of the file, which the extension can read.
    public let fileURL: URL

    init(fileURL: URL) { self.fileURL = fileURL }
}
