// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// What is logged at once for one scope: all of it becomes durable, or none.
package struct LogEntry: Hashable, Sendable {
    /// Whose items change.
    package var scope: IndexScope
    /// The changes, in the order in which they apply. Each put has one record, as its donor encoded it; the log does not look
    /// inside.
    package var changes: [EncodedChange]
    /// The client state from now on; `nil` leaves it as it is, empty is a state. It applies after the changes.
    package var clientState: [UInt8]?
    /// When it was donated; `nil` in entries of earlier versions.
    package var moment: Moment?

    /// What the clocks said of a donation. So the dates of its items can move along with a clock that is set before the
    /// entry is applied, also after a crash.
    package struct Moment: Hashable, Sendable {
        /// The wall clock, in seconds since 2001-01-01 UTC.
        package var wall: Double
        /// Which run of the machine it was; 0 if that is not known.
        package var boot: UInt64
        /// Seconds since that run began.
        package var seconds: Double

        /// Notes what the clocks said.
        package init(wall: Double, boot: UInt64, seconds: Double) {
            self.wall = wall
            self.boot = boot
            self.seconds = seconds
        }
    }

    /// The longest bundle identifier or index name, in bytes.
    package static let maximumNameBytes = 4096
    /// The longest unique identifier or domain to delete, in bytes; what an item record allows.
    package static let maximumIdentifierBytes = 4096
    /// The most changes in an entry, and the most identifiers in one change.
    package static let maximumCount = 1 << 20
    /// The longest encoded entry, in bytes: twice the largest batch of records that a client may send in one message.
    package static let maximumBytes = 64 << 20

    /// Creates an entry from its parts.
    package init(
        scope: IndexScope, changes: [EncodedChange], clientState: [UInt8]? = nil, moment: Moment? = nil
    ) {
        self.scope = scope
        self.changes = changes
        self.clientState = clientState
        self.moment = moment
    }

    /// What this entry does to the client state of its scope.
    package var stateChange: ClientStateChange {
        if let clientState { return .set(clientState) }
        return changes.contains(.deleteAll) ? .cleared : .unchanged
    }
}
