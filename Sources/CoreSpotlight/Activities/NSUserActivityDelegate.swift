// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The methods that update an activity or receive its events. The optional methods of Apple's
/// protocol have default implementations here.
public protocol NSUserActivityDelegate: NSObjectProtocol {
    /// Updates the activity before a donation. Called on the thread that makes the activity
    /// current, or on one of the library's queues.
    func userActivityWillSave(_ userActivity: NSUserActivity)

    /// Called when the activity is continued on another device.
    ///
    /// - Note: Unused on Linux: there is no Handoff, so it is never called.
    func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// Receives streams from another device that continues the activity.
    ///
    /// - Note: Unused on Linux: there is no Handoff, so it is never called.
    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

extension NSUserActivityDelegate {
    /// Leaves the activity unchanged.
    public func userActivityWillSave(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivityWasContinued(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {}
}
