// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import WindowModel

/// Handles a window's keys before its widgets do.
@MainActor
final class KeyController {
    private let press: (WindowKey) -> Bool

    /// Adds a controller to a window, which owns it.
    ///
    /// - Parameter press: Called for each key that the model knows. Returns `true` if it handled
    ///   the key.
    static func add(to window: Widget, _ press: @escaping (WindowKey) -> Bool) {
        let controller = gtk_event_controller_key_new()
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        let callback:
            @convention(c) (OpaquePointer?, UInt32, UInt32, GdkModifierType, UnsafeMutableRawPointer) -> gboolean = {
                _, code, _, modifiers, data in
                let (code, state) = (code, modifiers.rawValue)
                nonisolated(unsafe) let data = data
                return MainActor.assumeIsolated {
                    guard let key = WindowKey(code, state) else { return 0 }
                    return Unmanaged<KeyController>.fromOpaque(data).takeUnretainedValue().press(key) ? 1 : 0
                }
            }
        g_signal_connect_data(
            UnsafeMutableRawPointer(controller), "key-pressed", unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passRetained(KeyController(press)).toOpaque(),
            { data, _ in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
        gtk_widget_add_controller(window.pointer, controller)
    }

    private init(_ press: @escaping (WindowKey) -> Bool) { self.press = press }
}

extension WindowKey {
    /// Creates the key for a GDK key code; `nil` for keys that have no meaning here, or with other
    /// modifiers.
    @MainActor
    fileprivate init?(_ keyval: UInt32, _ modifiers: UInt32) {
        guard modifiers & (GDK_ALT_MASK.rawValue | GDK_SUPER_MASK.rawValue | GDK_META_MASK.rawValue) == 0 else {
            return nil
        }
        let code: Code
        switch Int32(bitPattern: keyval) {
        case GDK_KEY_Up, GDK_KEY_KP_Up: code = .up
        case GDK_KEY_Down, GDK_KEY_KP_Down: code = .down
        case GDK_KEY_Left, GDK_KEY_KP_Left: code = .left
        case GDK_KEY_Right, GDK_KEY_KP_Right: code = .right
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: code = .pageUp
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: code = .pageDown
        case GDK_KEY_Home, GDK_KEY_KP_Home: code = .home
        case GDK_KEY_End, GDK_KEY_KP_End: code = .end
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter: code = .enter
        case GDK_KEY_Escape: code = .escape
        case GDK_KEY_space, GDK_KEY_KP_Space: code = .space
        case GDK_KEY_Tab, GDK_KEY_ISO_Left_Tab: code = .tab
        default:
            guard let scalar = Unicode.Scalar(gdk_keyval_to_unicode(gdk_keyval_to_lower(keyval))), scalar.value > 32
            else { return nil }
            code = .letter(Character(scalar))
        }
        self.init(
            code, isControl: modifiers & GDK_CONTROL_MASK.rawValue != 0,
            isShift: modifiers & GDK_SHIFT_MASK.rawValue != 0 || Int32(bitPattern: keyval) == GDK_KEY_ISO_Left_Tab)
    }
}
