// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an extension that creates thumbnails of files.
///
/// - Note: Unused on Linux: no host loads extensions of this kind.
open class QLThumbnailProvider: NSObject, NSExtensionRequestHandling {
    /// Creates the object. Called off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}

    /// Creates the thumbnail of a file. Override this method. If there is no reply, or an error,
    /// the file has no thumbnail.
    ///
    /// - Note: Unused on Linux: no host requests thumbnails of files.
    @preconcurrency
    open func provideThumbnail(
        for request: QLFileThumbnailRequest, _ handler: @escaping @Sendable (QLThumbnailReply?, (any Error)?) -> Void
    ) {
        handler(nil, UnservedRequest("provideThumbnail(for:_:)", Self.self))
    }
}

/// A request for the thumbnail of a file.
open class QLFileThumbnailRequest: NSObject {
    /// The maximum useful size, in points.
    public let maximumSize: CGSize
    /// The minimum useful size, in points.
    public let minimumSize: CGSize
    /// The number of pixels per point.
    public let scale: CGFloat
    /// The URL of the file, which the extension can read.
    public let fileURL: URL

    init(fileURL: URL, minimumSize: CGSize, maximumSize: CGSize, scale: CGFloat) {
        self.fileURL = fileURL
        self.minimumSize = minimumSize
        self.maximumSize = maximumSize
        self.scale = scale
    }
}

/// A thumbnail of a file. Apple's drawing-based replies require Core Graphics, which Linux does not
/// have; write the image to a file.
open class QLThumbnailReply: NSObject {
    /// The URL of the image file.
    let imageFileURL: URL
    /// A short text on the thumbnail, such as the filename extension; empty for none.
    ///
    /// - Note: Unused on Linux: no host shows thumbnails of files.
    open var extensionBadge = ""

    /// Creates a thumbnail from an image file.
    ///
    /// - Note: Unused on Linux: no host requests thumbnails of files.
    public init(imageFileURL: URL) { self.imageFileURL = imageFileURL }
}
