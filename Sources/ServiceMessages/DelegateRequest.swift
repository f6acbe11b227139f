// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from an app to become the delegate of its bundle. While the app is registered, the
/// service sends it the requests for its extension over the same connection: every
/// ``WorkerRequest`` except `Load`.
public enum DelegateRequest: RegistrationRequest, Hashable {
    /// Registers the app as the delegate of its bundle.
    case register
    /// Ends the registration; the extension then receives the requests again.
    case unregister

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Delegate1"
}
