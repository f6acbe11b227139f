// SPDX-License-Identifier: Apache-2.0

/// A user activity that continues in an app.
package enum LaunchActivity: Hashable, Sendable, Codable {
    /// The user opens an item. The value is the identifier that the app assigned to the item.
    case item(String)
    /// The user continues a search. The value is the search text.
    case search(String)

    /// The maximum length of a search text, in bytes.
    package static let maximumTextBytes = 4096
}

/// An activity that is stored until an app fetches it.
package struct HeldActivity: Hashable, Sendable, Codable {
    /// The number of the activity.
    package var number: UInt64
    /// `true` if another caller is starting the app, so that it must not be started again.
    package var isStarting: Bool

    package init(number: UInt64, isStarting: Bool) { (self.number, self.isStarting) = (number, isStarting) }
}

/// A channel to the apps that have a handler for activities. Only the service provides this
/// channel. All functions may be called from any task.
package protocol ActivityCarrier: Sendable {
    /// Returns `true` if a running app of a bundle has a handler.
    func hasHandler(of bundle: String) -> Bool

    /// Offers an activity to a running app of a bundle. Returns `false` if no app accepts it.
    func offer(_ activity: LaunchActivity, to bundle: String) async -> Bool

    /// Stores an activity for a limited time until an app of the bundle registers its handler.
    /// Returns `nil` if that is not possible.
    func hold(_ activity: LaunchActivity, for bundle: String) async -> HeldActivity?

    /// Waits until an app has fetched a stored activity. Returns `false` if its time is over, it
    /// was dropped, or the task is cancelled. May be called once per activity.
    func isTaken(_ number: UInt64) async -> Bool

    /// Drops a stored activity.
    func drop(_ number: UInt64) async
}
