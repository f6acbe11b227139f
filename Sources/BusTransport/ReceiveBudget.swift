// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The room for large messages of peers that are not trusted: all connections that share one get it in the order in which
/// they ask, and nobody reads a large message before it has room for it. A peer that has to wait is not refused: its socket
/// is not read.
///
/// Small messages need none, so that a peer that sends much holds up nobody who sends little.
public final class ReceiveBudget: Sendable {
    /// The room of this process.
    public static let shared = ReceiveBudget()

    /// Messages up to so many bytes need no room.
    static let freeBytes = 64 << 10
    /// How many bytes of such messages of one connection may wait for an answer before no further one is read.
    static let maximumFreeBytes = 128 << 10
    /// How long a message that has room may take while others wait for room, in microseconds.
    static let patience: UInt64 = 2_000_000

    /// Messages of up to so many bytes share a lane.
    struct Lane: Sendable {
        let messageBytes: Int
        let capacity: Int
    }

    /// A place in the line, and then the room. Given back at its end.
    final class Ticket: Sendable {
        fileprivate enum State { case waiting, granted, ended }
        fileprivate let state = Mutex(State.waiting)
        fileprivate let lane: Int
        let bytes: Int
        private let budget: ReceiveBudget
        fileprivate let onGrant: @Sendable () -> Void

        fileprivate init(_ budget: ReceiveBudget, lane: Int, bytes: Int, onGrant: @escaping @Sendable () -> Void) {
            (self.budget, self.lane, self.bytes, self.onGrant) = (budget, lane, bytes, onGrant)
        }

        deinit { end() }

        /// Whether the message may be read.
        var isGranted: Bool { state.withLock { $0 == .granted } }

        /// Whether others wait for room.
        var isContended: Bool { budget.isContended(lane) }

        /// Gives the room back, or the place in the line.
        func end() { budget.end(self) }
    }

    private struct LaneState {
        var held = 0
        /// Weak, so that a ticket that nobody has any more ends.
        var line: [Place] = []
    }
    private struct Place: Sendable {
        let number: ObjectIdentifier
        weak var ticket: Ticket?
    }
    private let lanes: [Lane]
    private let states: Mutex<[LaneState]>
    private let onInspection: @Sendable () -> Void

    /// - Parameters:
    ///   - lanes: By the bytes of their messages; the last takes all that are larger.
    ///   - onInspection: Called each time a ticket of a line is inspected, with the lock held; for tests.
    init(
        lanes: [Lane] = [Lane(messageBytes: 2 << 20, capacity: 8 << 20), Lane(messageBytes: .max, capacity: 34 << 20)],
        onInspection: @escaping @Sendable () -> Void = {}
    ) {
        self.lanes = lanes
        self.onInspection = onInspection
        states = Mutex(lanes.map { _ in LaneState() })
    }

    /// How many bytes have room.
    var held: Int { states.withLock { $0.reduce(0) { $0 + $1.held } } }

    /// How many messages wait for room.
    public var waiting: Int {
        states.withLock { $0.reduce(0) { $0 + $1.line.count { $0.ticket != nil } } }
    }

    /// Takes a place in the line.
    ///
    /// - Parameter onGrant: Called on any thread once there is room, unless there is at once.
    func ask(_ bytes: Int, onGrant: @escaping @Sendable () -> Void) -> Ticket {
        let lane = lanes.firstIndex { bytes <= $0.messageBytes } ?? lanes.count - 1
        let ticket = Ticket(self, lane: lane, bytes: bytes, onGrant: onGrant)
        states.withLock { states in
            if states[lane].line.isEmpty, fits(bytes, lane, states) {
                states[lane].held += bytes
                ticket.state.withLock { $0 = .granted }
            } else {
                states[lane].line.append(Place(number: ObjectIdentifier(ticket), ticket: ticket))
            }
        }
        return ticket
    }

    private func fits(_ bytes: Int, _ lane: Int, _ states: [LaneState]) -> Bool {
        states[lane].held == 0 || states[lane].held + bytes <= lanes[lane].capacity
    }

    fileprivate func isContended(_ lane: Int) -> Bool { states.withLock { !$0[lane].line.isEmpty } }

    fileprivate func end(_ ticket: Ticket) {
        let lane = ticket.lane
        // All tickets that were inspected are kept until the lock is given back: if one loses its last other owner meanwhile, it
        // ends here, which takes the lock.
        let (granted, inspected) = states.withLock { states -> ([Ticket], [Ticket]) in
            let before = ticket.state.withLock { state in
                defer { state = .ended }
                return state
            }
            switch before {
            case .ended: return ([], [])
            case .waiting: states[lane].line.removeAll { $0.number == ObjectIdentifier(ticket) }
            case .granted: states[lane].held -= ticket.bytes
            }
            var (granted, inspected): ([Ticket], [Ticket]) = ([], [])
            while let first = states[lane].line.first {
                guard let next = first.ticket else {
                    states[lane].line.removeFirst()
                    continue
                }
                inspected.append(next)
                onInspection()
                guard fits(next.bytes, lane, states) else { break }
                states[lane].line.removeFirst()
                states[lane].held += next.bytes
                next.state.withLock { $0 = .granted }
                granted.append(next)
            }
            return (granted, inspected)
        }
        for ticket in granted { ticket.onGrant() }
        withExtendedLifetime(inspected) {}
    }
}
