// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The memory budget for untrusted peers' large messages. All connections that share it get their
/// parts in request order, and none reads a large message without its part. A peer that has to wait
/// is not rejected; its socket is just not read.
///
/// Small messages need no part of the budget, so that a peer with large messages does not delay
/// other peers.
public final class ReceiveBudget: Sendable {
    /// The budget of this process.
    public static let shared = ReceiveBudget()

    /// The maximum size, in bytes, of a message that needs no part of the budget.
    static let freeBytes = 64 << 10
    /// The maximum total size, in bytes, of one connection's unanswered small messages. Above it,
    /// no further message is read.
    static let maximumFreeBytes = 128 << 10
    /// The maximum time, in microseconds, to receive a message that has its part of the budget
    /// while others wait.
    static let patience: UInt64 = 2_000_000

    /// A part of the budget for messages up to `messageBytes`. At most `capacity` bytes are granted
    /// at a time.
    struct Lane: Sendable {
        let messageBytes: Int
        let capacity: Int
    }

    /// A position in the queue, and later a part of the budget. Released when the object is
    /// deinitialized.
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

        /// `true` if the message may be read.
        var isGranted: Bool { state.withLock { $0 == .granted } }

        /// `true` if other messages are waiting in the lane.
        var isContended: Bool { budget.isContended(lane) }

        /// Releases the part of the budget, or the position in the queue.
        func end() { budget.end(self) }
    }

    private struct LaneState {
        var held = 0
        /// Weak references, so that an abandoned ticket is released.
        var line: [Place] = []
    }
    private struct Place: Sendable {
        let number: ObjectIdentifier
        weak var ticket: Ticket?
    }
    private let lanes: [Lane]
    private let states: Mutex<[LaneState]>
    private let onInspection: @Sendable () -> Void

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - lanes: The lanes, by ascending message size. The last lane takes all larger messages.
    ///   - onInspection: Called under the lock each time a waiting ticket is inspected; for tests.
    init(
        lanes: [Lane] = [Lane(messageBytes: 2 << 20, capacity: 8 << 20), Lane(messageBytes: .max, capacity: 34 << 20)],
        onInspection: @escaping @Sendable () -> Void = {}
    ) {
        self.lanes = lanes
        self.onInspection = onInspection
        states = Mutex(lanes.map { _ in LaneState() })
    }

    /// The number of bytes in use.
    var held: Int { states.withLock { $0.reduce(0) { $0 + $1.held } } }

    /// The number of messages that are waiting.
    public var waiting: Int {
        states.withLock { $0.reduce(0) { $0 + $1.line.count { $0.ticket != nil } } }
    }

    /// Requests a part of the budget.
    ///
    /// - Parameter onGrant: Called on any thread when the part is granted, unless it is granted
    ///   immediately.
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
        // Inspected tickets are kept until the lock is released, because the last release of a
        // ticket calls this function, which acquires the lock.
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
