// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an extension that reads attributes out of files.
///
/// - Note: Unused on Linux: no host loads extensions of this kind.
open class CSImportExtension: NSObject, NSExtensionRequestHandling {
    /// Makes the object, off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}

    /// Writes what the file says into the attributes. Called from several threads at once, for different files.
    ///
    /// - Note: Unused on Linux: no host asks for the attributes of files.
    open func update(_ attributes: CSSearchableItemAttributeSet, forFileAt contentURL: URL) throws {
        throw UnservedRequest("update(_:forFileAt:)", Self.self)
    }
}
