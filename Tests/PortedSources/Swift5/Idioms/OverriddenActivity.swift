// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

class ReadingActivity: NSUserActivity, @unchecked Sendable {
    private var page = 0

    override var title: String? {
        get { super.title ?? "Page \(page)" }
        set { super.title = newValue }
    }

    override var userInfo: [AnyHashable: Any]? {
        didSet { page = userInfo?["page"] as? Int ?? 0 }
    }

    override func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        super.addUserInfoEntries(from: otherDictionary)
        needsSave = true
    }

    override func becomeCurrent() {
        requiredUserInfoKeys = ["page"]
        super.becomeCurrent()
    }

    override class func deleteAllSavedUserActivities(completionHandler handler: @escaping () -> Void) { handler() }
}
