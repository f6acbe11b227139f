// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// That indexing is slowed down: why, and by how much.
public struct ThrottleNotice: Sendable, Hashable, Codable {
    /// Why (`SEARCHLIGHT_THROTTLE_…`).
    public enum Reason: UInt64, Sendable, Codable, CaseIterable {
        /// None of the others.
        case other = 0
        /// Somebody works at the machine.
        case userActive = 1
        /// It runs on little battery, or is to save power.
        case battery = 2
        /// Others need its processors, memory or disks.
        case pressure = 3
        /// A person asked for it.
        case requested = 4
    }
    /// Why.
    public var reason: Reason
    /// As fast as donations are welcome, in items per second; 0 means not at all for now.
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
