// SPDX-License-Identifier: Apache-2.0
import CSystemd

/// Has the session bus start the service, where an activation file says how.
public enum ServiceActivation {
    /// The name of the service on the session bus.
    public static let busName = "com.searchlight.Searchlight1"
    /// How long the start may take, in seconds.
    static let timeout: UInt64 = 20

    /// Returns once the service has its name on the session bus. Blocks.
    ///
    /// - Throws: ``BusError``: `system` without a session bus, `remote` when it cannot start the service.
    public static func start() throws(BusError) {
        var opened: OpaquePointer?
        try BusMessage.check(sd_bus_open_user(&opened), "connecting to the session bus")
        guard let bus = opened else { return }
        defer { sd_bus_flush_close_unref(bus) }
        var created: OpaquePointer?
        try BusMessage.check(
            sd_bus_message_new_method_call(
                bus, &created, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "StartServiceByName"), "creating a call")
        guard let created else { return }
        let message = BusMessage(adopting: created)
        try message.append([.string(busName)])
        // Flags, of which there are none.
        let flags = withUnsafePointer(to: UInt32(0)) {
            sd_bus_message_append_basic(message.pointer, CChar(UInt8(ascii: "u")), $0)
        }
        try BusMessage.check(flags, "appending to a message")
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var reply: OpaquePointer?
        let result = sd_bus_call(bus, message.pointer, timeout * 1_000_000, &error, &reply)
        if let reply { sd_bus_message_unref(reply) }
        if result < 0, let name = error.name {
            throw .remote(
                name: String(cString: name), message: error.message.map { String(cString: $0) } ?? "no reason was given"
            )
        }
        try BusMessage.check(result, "having the session bus start \(busName)")
    }
}
