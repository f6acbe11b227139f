// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

struct OpenedItem {
    let identifier: String

    init?(_ userActivity: NSUserActivity) {
        guard userActivity.activityType == CSSearchableItemActionType else { return nil }
        guard let identifier = userActivity.userInfo?[CSSearchableItemActivityIdentifier] as? String else { return nil }
        self.identifier = identifier
    }
}
