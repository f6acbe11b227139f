// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An object that restores the state of an activity, such as a window.
public protocol NSUserActivityRestoring: NSObjectProtocol {
    /// Restores the state of the activity.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}

extension NSUserActivity {
    /// A handler of the activities that the user continues in this app. It has the parameters of
    /// `application(_:continue:restorationHandler:)` of Apple's app delegates.
    ///
    /// - Parameters:
    ///   - userActivity: The activity. Its type is ``CSSearchableItemActionType`` with the
    ///     identifier of the item in the user info, ``CSQueryContinuationActionType`` with the
    ///     search text, or the type of a donated activity with its user info.
    ///   - restorationHandler: Calls `restoreUserActivityState(_:)` of each object.
    /// - Returns: `true` if the app continues the activity. Otherwise the item is opened in another
    ///   way.
    public typealias ContinuationHandler =
        @Sendable (
            _ userActivity: NSUserActivity,
            _ restorationHandler: @escaping @Sendable ([any NSUserActivityRestoring]?) -> Void
        ) -> Bool

    /// Sets the handler of the activities that the user continues in this app, or removes it with
    /// `nil`. An addition for Linux: there is no app delegate.
    ///
    /// Set the handler when the app starts. The service then gives it the activity for which the
    /// app was started, if the manifest of the app's extension has `CoreSpotlightContinuation`.
    /// Later activities come while the app runs. The handler is called on a queue of the library,
    /// one activity at a time, and should return within five seconds.
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

    /// Sets the handler of one type of activities, as SwiftUI's view modifier of this name does. An
    /// addition for Linux.
    ///
    /// It takes precedence over the handler of ``setContinuationHandler(_:)``.
    ///
    /// ```swift
    /// NSUserActivity.onContinueUserActivity(CSQueryContinuationActionType) { activity in
    ///     search(activity.userInfo?[CSSearchQueryString] as? String ?? "")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - activityType: The type of the activities.
    ///   - action: Called for each activity, on a queue of the library.
    public class func onContinueUserActivity(
        _ activityType: String, perform action: @escaping @Sendable (NSUserActivity) -> Void
    ) {
        ProcessService.continuations.set(action, for: activityType)
    }
}
