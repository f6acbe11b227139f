// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

final class ReadingController {
    private var userActivity: NSUserActivity?

    func show(page: Int) {
        let activity = NSUserActivity(activityType: "com.example.reading")
        activity.title = "Page \(page)"
        activity.userInfo = ["page": page]
        activity.requiredUserInfoKeys = ["page"]
        activity.keywords = Set(["page", "reading"])
        activity.isEligibleForSearch = true
        activity.isEligibleForHandoff = false
        activity.isEligibleForPublicIndexing = false
        activity.persistentIdentifier = NSUserActivityPersistentIdentifier("page-\(page)")
        let attributes = CSSearchableItemAttributeSet(contentType: .content)
        attributes.relatedUniqueIdentifier = "page-\(page)"
        activity.contentAttributeSet = attributes
        userActivity = activity
        activity.becomeCurrent()
    }

    func close(page: Int) {
        userActivity?.resignCurrent()
        userActivity?.invalidate()
        NSUserActivity.deleteSavedUserActivities(withPersistentIdentifiers: ["page-\(page)"]) {}
        NSUserActivity.deleteAllSavedUserActivities {}
    }
}
