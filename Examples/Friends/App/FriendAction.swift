// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FriendRecords

/// An action with a friend. Its activity is found again, as “Call Anna”.
enum FriendAction: String, CaseIterable {
    case call
    case write

    private static let key = "friend"

    /// The type of the activities. The property list of the app names it.
    var activityType: String { "com.example.Friends.\(rawValue)" }

    func activity(with friend: Friend) -> NSUserActivity {
        let activity = NSUserActivity(activityType: activityType)
        activity.title = "\(rawValue.capitalized) \(friend.name)"
        activity.userInfo = [Self.key: friend.id]
        activity.requiredUserInfoKeys = [Self.key]
        activity.persistentIdentifier = "\(rawValue)-\(friend.id)"
        activity.isEligibleForSearch = true
        activity.keywords = [friend.group]
        let attributes = CSSearchableItemAttributeSet(contentType: .item)
        // The activity belongs to the friend, and stays when the friend leaves the address book.
        attributes.weakRelatedUniqueIdentifier = friend.id
        activity.contentAttributeSet = attributes
        return activity
    }

    /// The friend of an activity.
    static func friend(of activity: NSUserActivity) -> String? { activity.userInfo?[key] as? String }
}
