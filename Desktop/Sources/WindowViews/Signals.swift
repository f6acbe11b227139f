// SPDX-License-Identifier: Apache-2.0
import CAdwaita

/// A handler of a signal of GTK. The object of the signal owns it.
@MainActor
final class SignalHandler {
    private let body: () -> Void

    private init(_ body: @escaping () -> Void) { self.body = body }

    /// Calls a function at each emission of a signal without a result. Arguments of the signal are
    /// ignored.
    static func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping () -> Void) {
        let callback: @convention(c) (UnsafeMutableRawPointer) -> Void = { data in
            // The pointer refers to a handler. Handlers are used on the main thread only.
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
    /// Calls a function at each emission of a signal.
    package func on(_ signal: String, _ body: @escaping @MainActor () -> Void) {
        SignalHandler.connect(UnsafeMutableRawPointer(pointer), signal, body)
    }
}
