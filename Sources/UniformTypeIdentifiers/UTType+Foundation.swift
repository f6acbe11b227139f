// SPDX-License-Identifier: Apache-2.0

import Foundation

extension UTType {
    /// Where the format is described, as its declaration says; not checked. The core declarations have none.
    public var referenceURL: URL? {
        UTTypeRegistry.currentSnapshot.declaration(of: self)?.referenceURL.flatMap(URL.init(string:))
    }
}
