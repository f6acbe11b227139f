// SPDX-License-Identifier: Apache-2.0

/// The room for further events in a recording. All sessions in a file share it.
///
/// ```swift
/// var room = RecordingRoom()
/// let fits = room.take(event, bytes: event.encoded.count)
/// ```
package struct RecordingRoom: Sendable {
    /// The number of bytes left.
    package private(set) var bytes: Int
    private var events: Int
    private var values: Int
    /// `true` once an event did not fit.
    package private(set) var isFull = false

    /// The room for the headers of the file and its sessions, in bytes.
    package static let headBytes = 1 << 20

    /// Creates the room of an empty recording. It reserves room for the final
    /// ``BoundaryEvent/truncated``.
    package init(
        bytes: Int = CallRecording.maximumBytes - Self.headBytes, events: Int = CallRecording.maximumEvents - 1,
        values: Int = CallRecording.maximumValues
    ) {
        (self.bytes, self.events, self.values) = (bytes, events, values)
    }

    /// Reserves room for an event.
    ///
    /// - Parameter bytes: The size of the encoded event, in bytes.
    /// - Returns: `false` if there is not enough room; then also for all later events.
    package mutating func take(_ event: BoundaryEvent, bytes count: Int) -> Bool {
        let number = event.valueCount
        guard !isFull, count <= bytes, events > 0, number <= values else {
            isFull = true
            return false
        }
        (bytes, events, values) = (bytes - count, events - 1, values - number)
        return true
    }
}

extension BoundaryEvent {
    /// The number of values, including values in lists.
    package var valueCount: Int {
        switch self {
        case .hostCall(_, _, _, let arguments), .extensionCall(_, _, _, let arguments):
            arguments.reduce(0) { $0 + $1.count }
        case .hostReturn(_, let value), .extensionReturn(_, let value): value.count
        case .cancelled, .truncated: 0
        }
    }
}

extension BoundaryValue {
    /// The number of values: 1 for the value itself, plus those in a list.
    fileprivate var count: Int {
        guard case .list(let values) = self else { return 1 }
        return values.reduce(1) { $0 + $1.count }
    }
}
