// SPDX-License-Identifier: Apache-2.0
import CGTK

/// A widget of GTK. It owns a reference until the end of the program, as the window does.
@MainActor
struct Element {
    let pointer: UnsafeMutablePointer<GtkWidget>

    init?(_ made: UnsafeMutablePointer<GtkWidget>?) {
        guard let made else { return nil }
        pointer = made
        g_object_ref_sink(made)
    }

    /// The widget as a type whose fields are public in C.
    func cast<Other>() -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Other.self)
    }

    /// The widget as a type whose fields are private in C.
    func cast() -> OpaquePointer { OpaquePointer(pointer) }

    /// Calls a function at each emission of a signal.
    func on(_ signal: String, _ body: @escaping @MainActor () -> Void) {
        let callback: @convention(c) (UnsafeMutableRawPointer) -> Void = { data in
            nonisolated(unsafe) let data = data
            MainActor.assumeIsolated { Unmanaged<SignalBody>.fromOpaque(data).takeUnretainedValue().body() }
        }
        // With swapped arguments, the body is the first argument, whatever the signal passes.
        g_signal_connect_data(
            pointer, signal, unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passRetained(SignalBody(body)).toOpaque(),
            { data, _ in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }, G_CONNECT_SWAPPED)
    }
}

@MainActor
private final class SignalBody {
    let body: @MainActor () -> Void
    init(_ body: @escaping @MainActor () -> Void) { self.body = body }
}
