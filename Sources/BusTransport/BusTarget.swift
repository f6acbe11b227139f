// SPDX-License-Identifier: Apache-2.0

/// The destination of a call.
package struct BusTarget: Hashable, Sendable {
    /// The unique name on a message bus, or the name of the bus itself; `nil` for the peer of a
    /// socket.
    var destination: String?
    /// The object path of the call.
    var path: String

    /// The path of this protocol's only object.
    package static let searchlightPath = "/com/searchlight"
    /// The peer of a socket connection.
    static let peer = BusTarget(destination: nil, path: searchlightPath)
    static let messageBus = BusTarget(destination: MessageBus.busName, path: "/org/freedesktop/DBus")

    /// Returns a client on a message bus.
    static func client(_ name: String) -> BusTarget { BusTarget(destination: name, path: searchlightPath) }
}
