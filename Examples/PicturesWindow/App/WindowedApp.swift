// SPDX-License-Identifier: Apache-2.0
import CGTK
import CoreSpotlight
import Foundation
import PictureGallery

/// The application: one process with one window, which continues activities.
///
/// GLib's main loop owns the main thread. Handlers of activities come on other threads, so they
/// post functions to it.
@MainActor
final class WindowedApp {
    static let shared = WindowedApp()

    private let application = gtk_application_new(Gallery.bundle, GApplicationFlags(rawValue: 0))
    private var window: GalleryWindow?

    /// Runs the application until its window is closed. Returns the exit status.
    func run() -> Int32 {
        guard let application else { return 70 }
        let base = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        // Only the first process of the app continues activities.
        if g_application_register(base, nil, nil) != 0, g_application_get_is_remote(base) == 0 { takeActivities() }
        let activated: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void = { _, _ in
            MainActor.assumeIsolated { _ = WindowedApp.shared.presented() }
        }
        g_signal_connect_data(
            application, "activate", unsafeBitCast(activated, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
        var words = CommandLine.arguments.map { strdup($0) }
        defer { words.forEach { free($0) } }
        return words.withUnsafeMutableBufferPointer { g_application_run(base, Int32($0.count), $0.baseAddress) }
    }

    private func presented() -> GalleryWindow? {
        guard let application else { return nil }
        let window = self.window ?? GalleryWindow(application)
        self.window = window
        window?.present()
        return window
    }

    private func takeActivities() {
        NSUserActivity.setContinuationHandler { activity, _ in
            switch activity.activityType {
            case CSSearchableItemActionType:
                guard let id = activity.userInfo?[CSSearchableItemActivityIdentifier] as? String,
                    let picture = Gallery.picture(id)
                else { return false }
                onMainLoop { WindowedApp.shared.presented()?.show(picture) }
                return true
            case CSQueryContinuationActionType:
                let text = activity.userInfo?[CSSearchQueryString] as? String ?? ""
                onMainLoop { WindowedApp.shared.presented()?.search(text) }
                return true
            default: return false
            }
        }
    }
}

/// Runs a function on the main thread. May be called from any thread.
func onMainLoop(_ body: @escaping @MainActor @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @MainActor @Sendable () -> Void
        init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }
    }
    g_idle_add_full(
        G_PRIORITY_DEFAULT,
        { data in
            if let data {
                let box = Unmanaged<AnyObject>.fromOpaque(data).takeUnretainedValue() as? Box
                MainActor.assumeIsolated { box?.body() }
            }
            return 0
        }, Unmanaged.passRetained(Box(body)).toOpaque(),
        { if let data = $0 { Unmanaged<AnyObject>.fromOpaque(data).release() } })
}
