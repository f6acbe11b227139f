// SPDX-License-Identifier: Apache-2.0

import Foundation

extension URLResourceKey {
    /// Asks for the type of a file.
    ///
    /// - Note: Differs on Linux: it is the key of the path, from which `URLResourceValues.contentType` tells the type, for
    ///   Foundation hands over no file by a key that it does not know.
    public static let contentTypeKey = URLResourceKey.pathKey
}

extension URLResourceValues {
    /// The type of the file by its kind and its name: links are not followed and nothing is opened. `nil` unless it was
    /// asked for, and for a file that is not there.
    public var contentType: UTType? {
        guard let path, let kind = FileBytes.kind(of: path) else { return nil }
        return UTType.type(ofFileNamed: path, kind: kind)
    }
}
