// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSUserActivity {
    /// The error that the Handoff methods throw.
    static var noHandoff: CocoaError {
        CocoaError(
            .featureUnsupported,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Handoff is not available on Linux, so an activity has no stream to another device."
            ])
    }
}
