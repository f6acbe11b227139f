// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import Dispatch

/// A decoded picture.
///
/// A `GdkTexture` never changes after its creation, and its reference count is atomic, so the
/// object may be used from any thread.
final class Picture: @unchecked Sendable {
    /// The texture in the form that GTK's functions take.
    let texture: OpaquePointer

    private init(_ texture: OpaquePointer) { self.texture = texture }

    deinit { g_object_unref(UnsafeMutableRawPointer(texture)) }

    /// Decodes a picture on a thread that may block, and scales it down to a size in pixels.
    ///
    /// The caller has checked the size in the header. Formats that gdk-pixbuf does not implement
    /// itself need an installed loader.
    ///
    /// - Returns: `nil` if the bytes are not a picture.
    static func decode(_ bytes: [UInt8], side: Int32) async -> Picture? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: decoded(bytes, side: side))
            }
        }
    }

    private static func decoded(_ bytes: [UInt8], side: Int32) -> Picture? {
        let copy = bytes.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(copy) }
        guard let stream = g_memory_input_stream_new_from_bytes(copy) else { return nil }
        defer { g_object_unref(stream) }
        guard let pixels = gdk_pixbuf_new_from_stream_at_scale(stream, side, side, 1, nil, nil) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(pixels)) }
        return gdk_texture_new_for_pixbuf(pixels).map { Picture($0) }
    }
}
