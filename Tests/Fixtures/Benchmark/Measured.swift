// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Foundation

/// The counterpart of measured.c, as an app would write it: promises of 1 KiB, answered
/// immediately.
class Handler: CSIndexExtensionRequestHandler {
    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data(count: 1024)
    }
}
