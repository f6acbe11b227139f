// SPDX-License-Identifier: Apache-2.0
import CAdwaita

/// A handler for a GTK signal. The signal's object owns it.
@MainActor
final class SignalHandler {
    private let body: () -> Void

    private init(_ body: @escaping () -> Void) { self.body = body }

    /// Calls a function for each emission of a signal that has no result. The signal's arguments
    /// are ignored.
    static func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping () -> Void) {
        let callback: @convention(c) (UnsafeMutableRawPointer) -> Void = { data in
            // The pointer refers to a handler, and handlers are used only on the main thread.
            nonisolated(unsafe) let data = data
            MainActor.assumeIsolated { Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue().body() }
        }
        // With swapped arguments, the handler is the first argument, whatever the signal passes.
        g_signal_connect_data(
            object, signal, unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passRetained(SignalHandler(body)).toOpaque(),
            { data, _ in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }, G_CONNECT_SWAPPED)
    }
}

extension Widget {
    /// Calls a function for each emission of a signal.
    package func on(_ signal: String, _ body: @escaping @MainActor () -> Void) {
        SignalHandler.connect(UnsafeMutableRawPointer(pointer), signal, body)
    }
}
