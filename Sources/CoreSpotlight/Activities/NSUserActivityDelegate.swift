// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Brings an activity up to date. Optional methods of Apple's protocol have default implementations here.
public protocol NSUserActivityDelegate: NSObjectProtocol {
    /// The activity is about to be donated: write into it what is so now. Called where it becomes current, or on a queue of
    /// the library.
    func userActivityWillSave(_ userActivity: NSUserActivity)

    /// The activity was continued on another device.
    ///
    /// - Note: Unused on Linux: there is no Handoff, so it is never called.
    func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// Another device wants to talk.
    ///
    /// - Note: Unused on Linux: there is no Handoff, so it is never called.
    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

extension NSUserActivityDelegate {
    /// Leaves the activity as it is.
    public func userActivityWillSave(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivityWasContinued(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {}
}
