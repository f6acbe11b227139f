// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSUserActivity {
    /// The error of the Handoff methods.
    static var noHandoff: CocoaError {
        CocoaError(
            .featureUnsupported,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Streams to the device that an activity comes from are part of Handoff, which Linux does not have."
            ])
    }
}
