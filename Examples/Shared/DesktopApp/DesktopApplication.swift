// SPDX-License-Identifier: Apache-2.0
import CGIO

/// The app on the session bus: one instance a user, which the bus starts when it is needed
/// (`DBusActivatable` in the desktop entry).
///
/// The service of Searchlight starts an app over its name, `org.freedesktop.Application`, and then
/// gives it the activity. Create and run it on the main thread. The object owns the `GApplication`.
public final class DesktopApplication {
    private let application: UnsafeMutablePointer<GApplication>

    /// `true` if another instance of the app runs.
    public let isRemote: Bool

    /// The argument with which the bus starts the app, according to the file in `dbus-1/services`.
    public static let serviceArgument = "--gapplication-service"

    /// Registers the name of the app on the session bus, unless another instance has registered it.
    /// Without a bus, this is the only instance.
    ///
    /// - Parameters:
    ///   - identifier: The name, which is also the name of the desktop entry.
    ///   - isService: `true` if the bus starts the app. The app then ends after a minute.
    public init?(_ identifier: String, isService: Bool) {
        let flags = isService ? G_APPLICATION_IS_SERVICE : GApplicationFlags(rawValue: 0)
        guard let application = g_application_new(identifier, flags) else { return nil }
        self.application = application
        isRemote = g_application_register(application, nil, nil) != 0 && g_application_get_is_remote(application) != 0
        if isService { g_application_set_inactivity_timeout(application, 60_000) }
    }

    /// Serves the bus until ``quit()``. Blocks the thread. If another instance runs, it raises that
    /// instance and returns.
    ///
    /// - Returns: The exit status.
    public func run() -> Int32 {
        // A started app stays open. A service is kept by its timeout alone.
        let activated: @convention(c) (UnsafeMutablePointer<GApplication>, UnsafeMutableRawPointer?) -> Void = {
            application, _ in
            if g_application_get_flags(application).rawValue & G_APPLICATION_IS_SERVICE.rawValue == 0 {
                g_application_hold(application)
            }
        }
        g_signal_connect_data(
            application, "activate", unsafeBitCast(activated, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
        return g_application_run(application, 0, nil)
    }

    /// Ends ``run()``. May be called from any thread.
    public static func quit() {
        g_main_context_invoke(
            nil,
            { _ in
                if let application = g_application_get_default() { g_application_quit(application) }
                return 0
            }, nil)
    }

    deinit { g_object_unref(application) }
}
