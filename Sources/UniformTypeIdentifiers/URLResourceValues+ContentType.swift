// SPDX-License-Identifier: Apache-2.0

import Foundation

extension URLResourceKey {
    /// The key of a file's content type.
    ///
    /// - Note: Differs on Linux: this is the key of the path, from which
    ///   `URLResourceValues.contentType` derives the type, because Foundation returns no values for
    ///   unknown keys.
    public static let contentTypeKey = URLResourceKey.pathKey
}

extension URLResourceValues {
    /// The type of the file, determined from its kind and name. Links are not followed, and no file
    /// is opened. `nil` if the value was not requested, or if the file does not exist.
    public var contentType: UTType? {
        guard let path, let kind = FileBytes.kind(of: path) else { return nil }
        return UTType.type(ofFileNamed: path, kind: kind)
    }
}
