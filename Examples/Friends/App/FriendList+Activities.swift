// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DesktopApp
import FriendRecords

extension FriendList {
    /// Registers a handler for each type, as `onContinueUserActivity` of SwiftUI does.
    func open() {
        NSUserActivity.onContinueUserActivity(CSSearchableItemActionType) { activity in
            tryToView(activity.userInfo?[CSSearchableItemActivityIdentifier] as? String)
        }
        for action in FriendAction.allCases {
            NSUserActivity.onContinueUserActivity(action.activityType) { activity in
                tryToView(FriendAction.friend(of: activity))
            }
        }
        NSUserActivity.onContinueUserActivity(CSQueryContinuationActionType) { activity in
            search(activity.userInfo?[CSSearchQueryString] as? String ?? "")
        }
    }

    private func tryToView(_ id: String?) {
        do {
            try view(id ?? "")
        } catch {
            // An activity can outlive its friend.
            try? shown.add("no friend \(id ?? "")")
            show("Error: \(error.localizedDescription)")
        }
    }

    private func search(_ text: String) {
        Task {
            do {
                let found = try await find(text)
                try shown.add("search \(text): \(found.map(\.uniqueIdentifier).joined(separator: ", "))")
                for item in found { show(Self.line(item)) }
            } catch { show("Error: \(error.localizedDescription)") }
        }
    }
}
