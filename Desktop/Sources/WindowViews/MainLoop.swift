// SPDX-License-Identifier: Apache-2.0
import CAdwaita

/// GLib's main loop, which owns the main thread while the window runs. It does not run the jobs of
/// Swift's main actor, so tasks never await the main actor: they post functions here, and GTK
/// callbacks assume the actor.
package enum MainLoop {
    private final class Box: Sendable {
        let body: @MainActor @Sendable () -> Void
        init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }
    }

    /// Runs a function on the main thread soon. Functions run in call order. May be called from any
    /// thread.
    package static func post(_ body: @escaping @MainActor @Sendable () -> Void) {
        g_idle_add_full(G_PRIORITY_DEFAULT, run, Unmanaged.passRetained(Box(body)).toOpaque(), release)
    }

    /// Runs a function on the main thread after a delay in milliseconds.
    package static func post(after milliseconds: UInt32, _ body: @escaping @MainActor @Sendable () -> Void) {
        g_timeout_add_full(
            G_PRIORITY_DEFAULT, milliseconds, run, Unmanaged.passRetained(Box(body)).toOpaque(), release)
    }

    private static let run: GSourceFunc = { data in
        if let data {
            let box = Unmanaged<Box>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { box.body() }
        }
        return 0
    }

    private static let release: GDestroyNotify = { data in
        if let data { Unmanaged<Box>.fromOpaque(data).release() }
    }
}
