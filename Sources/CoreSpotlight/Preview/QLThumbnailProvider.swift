// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an extension that makes small pictures of files.
///
/// - Note: Unused on Linux: no host loads extensions of this kind.
open class QLThumbnailProvider: NSObject, NSExtensionRequestHandling {
    /// Makes the object, off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}

    /// Makes a picture of a file: override it. No reply, or an error, stands for no picture.
    ///
    /// - Note: Unused on Linux: no host asks for pictures of files.
    @preconcurrency
    open func provideThumbnail(
        for request: QLFileThumbnailRequest, _ handler: @escaping @Sendable (QLThumbnailReply?, (any Error)?) -> Void
    ) {
        handler(nil, UnservedRequest("provideThumbnail(for:_:)", Self.self))
    }
}

/// Asks for a small picture of a file.
open class QLFileThumbnailRequest: NSObject {
    /// The largest size that is of use, in points.
    public let maximumSize: CGSize
    /// The smallest size that is of use, in points.
    public let minimumSize: CGSize
    /// How many pixels a point has.
    public let scale: CGFloat
    /// The file; readable by the extension.
    public let fileURL: URL

    init(fileURL: URL, minimumSize: CGSize, maximumSize: CGSize, scale: CGFloat) {
        self.fileURL = fileURL
        self.minimumSize = minimumSize
        self.maximumSize = maximumSize
        self.scale = scale
    }
}

/// A small picture of a file. Apple's replies that are drawn need Core Graphics, which Linux does not have: write the picture
/// to a file.
open class QLThumbnailReply: NSObject {
    /// The file of the picture.
    let imageFileURL: URL
    /// A short text to show on the picture, such as the filename extension; empty for none.
    ///
    /// - Note: Unused on Linux: no host shows pictures of files.
    open var extensionBadge = ""

    /// A picture in a file.
    ///
    /// - Note: Unused on Linux: no host asks for pictures of files.
    public init(imageFileURL: URL) { self.imageFileURL = imageFileURL }
}
