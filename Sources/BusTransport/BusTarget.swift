// SPDX-License-Identifier: Apache-2.0

/// To whom a call goes.
package struct BusTarget: Hashable, Sendable {
    /// The unique name on a message bus, or the bus itself; `nil` for the one at the other end of a socket.
    var destination: String?
    /// The object that is called.
    var path: String

    /// The only object of this protocol.
    package static let searchlightPath = "/com/searchlight"
    /// The one at the other end.
    static let peer = BusTarget(destination: nil, path: searchlightPath)
    static let messageBus = BusTarget(destination: MessageBus.busName, path: "/org/freedesktop/DBus")

    /// Somebody on a message bus.
    static func client(_ name: String) -> BusTarget { BusTarget(destination: name, path: searchlightPath) }
}
