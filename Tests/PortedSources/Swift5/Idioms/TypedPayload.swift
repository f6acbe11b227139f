// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

struct ReadingState: Codable, Equatable {
    var book: String
    var page: Int
}

func activity(for state: ReadingState) throws -> NSUserActivity {
    let activity = NSUserActivity(activityType: "com.example.reading")
    try activity.setTypedPayload(state)
    activity.addUserInfoEntries(from: ["source": "test"])
    activity.needsSave = true
    return activity
}

func state(of activity: NSUserActivity) throws -> ReadingState { try activity.typedPayload(ReadingState.self) }
