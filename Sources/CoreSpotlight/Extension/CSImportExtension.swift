// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an extension that extracts attributes from files.
///
/// - Note: Unused on Linux: no host loads extensions of this kind.
open class CSImportExtension: NSObject, NSExtensionRequestHandling {
    /// Creates the object. Called off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}

    /// Sets the attributes of a file. Called from several threads at once, for different files.
    ///
    /// - Note: Unused on Linux: no host requests the attributes of files.
    open func update(_ attributes: CSSearchableItemAttributeSet, forFileAt contentURL: URL) throws {
        throw UnservedRequest("update(_:forFileAt:)", Self.self)
    }
}
