// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A notice that indexing is slowed down, with the reason and the rate.
public struct ThrottleNotice: Sendable, Hashable, Codable {
    /// The reason (`SEARCHLIGHT_THROTTLE_…`).
    public enum Reason: UInt64, Sendable, Codable, CaseIterable {
        /// Another reason.
        case other = 0
        /// The user is active.
        case userActive = 1
        /// The battery is low, or power saving is on.
        case battery = 2
        /// Other programs need the processors, memory or disks.
        case pressure = 3
        /// The user requested it.
        case requested = 4
    }
    /// The reason.
    public var reason: Reason
    /// The acceptable rate of donations, in items per second; 0 if the host currently wants no
    /// donations.
    public var itemsPerSecond: Double

    /// Creates a notice.
    public init(reason: Reason, itemsPerSecond: Double = 0) {
        self.reason = reason
        self.itemsPerSecond = itemsPerSecond
    }

    var arguments: [BusValue] { [.unsigned(reason.rawValue), .double(itemsPerSecond)] }

    init(_ arguments: inout BusArguments) throws(BusError) {
        reason = Reason(rawValue: try arguments.unsigned()) ?? .other
        let rate = try arguments.double()
        itemsPerSecond = rate.isFinite && rate > 0 ? rate : 0
    }
}
