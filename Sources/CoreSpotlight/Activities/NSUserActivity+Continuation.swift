// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An object that restores the state of an activity, such as a window.
public protocol NSUserActivityRestoring: NSObjectProtocol {
    /// Restores the state of the activity.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}

extension NSUserActivity {
    /// A handler for activities that the user continues in this app. It has the parameters of
    /// `application(_:continue:restorationHandler:)` in Apple's app delegates.
    ///
    /// - Parameters:
    ///   - userActivity: The activity. Its type is ``CSSearchableItemActionType`` with the item's
    ///     identifier in the user info, ``CSQueryContinuationActionType`` with the search text, or
    ///     the type of a donated activity with its user info.
    ///   - restorationHandler: Calls `restoreUserActivityState(_:)` of each object.
    /// - Returns: `true` if the app continues the activity. Otherwise the item is opened in a
    ///   different way.
    public typealias ContinuationHandler =
        @Sendable (
            _ userActivity: NSUserActivity,
            _ restorationHandler: @escaping @Sendable ([any NSUserActivityRestoring]?) -> Void
        ) -> Bool

    /// Sets the handler for activities that the user continues in this app, or removes it with
    /// `nil`. An addition for Linux: there is no app delegate.
    ///
    /// Set the handler when the app starts. The service then passes it the activity for which the
    /// app was launched, if the manifest of the app's extension has `CoreSpotlightContinuation`.
    /// Later activities arrive while the app runs. The handler is called on one of the library's
    /// queues, one activity at a time, and should return within five seconds.
    ///
    /// ```swift
    /// NSUserActivity.setContinuationHandler { activity, _ in
    ///     guard activity.activityType == CSSearchableItemActionType,
    ///         let identifier = activity.userInfo?[CSSearchableItemActivityIdentifier] as? String
    ///     else { return false }
    ///     show(identifier)
    ///     return true
    /// }
    /// ```
    public class func setContinuationHandler(_ handler: ContinuationHandler?) {
        ProcessService.continuations.set(handler)
    }

    /// Sets the handler for one type of activity, like SwiftUI's view modifier of the same name. An
    /// addition for Linux.
    ///
    /// It takes precedence over the handler set with ``setContinuationHandler(_:)``.
    ///
    /// ```swift
    /// NSUserActivity.onContinueUserActivity(CSQueryContinuationActionType) { activity in
    ///     search(activity.userInfo?[CSSearchQueryString] as? String ?? "")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - activityType: The activity type.
    ///   - action: Called for each activity, on one of the library's queues.
    public class func onContinueUserActivity(
        _ activityType: String, perform action: @escaping @Sendable (NSUserActivity) -> Void
    ) {
        ProcessService.continuations.set(action, for: activityType)
    }
}
