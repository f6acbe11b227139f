// SPDX-License-Identifier: Apache-2.0

/// An activity of the user that continues in an app.
package enum LaunchActivity: Hashable, Sendable, Codable {
    /// The user opens an item. The value is the identifier that the app gave to the item.
    case item(String)
    /// The user continues a search. The value is the text of the search.
    case search(String)

    /// The maximum length of a search text in bytes.
    package static let maximumTextBytes = 4096
}

/// An activity that is kept until an app takes it.
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
    /// `true` if a running app of a bundle has a handler.
    func hasHandler(of bundle: String) -> Bool

    /// Gives an activity to a running app of a bundle. Returns `false` if none takes it.
    func offer(_ activity: LaunchActivity, to bundle: String) async -> Bool

    /// Keeps an activity until an app of the bundle registers its handler, for a limited time.
    /// Returns `nil` if that is not possible.
    func hold(_ activity: LaunchActivity, for bundle: String) async -> HeldActivity?

    /// Waits until an app has taken a kept activity. Returns `false` if its time is over, it was
    /// dropped, or the task is cancelled. May be called once for an activity.
    func isTaken(_ number: UInt64) async -> Bool

    /// Drops a kept activity.
    func drop(_ number: UInt64) async
}
