// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import BusTransport

@Suite("Memory for large messages")
struct ReceiveBudgetTests {
    private final class Grants: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private static func budget() -> ReceiveBudget {
        ReceiveBudget(lanes: [.init(messageBytes: 10, capacity: 20), .init(messageBytes: .max, capacity: 100)])
    }

    @Test("Memory is granted in the order of the requests, and large messages do not delay small ones")
    func order() {
        let (budget, grants) = (Self.budget(), Grants())
        let first = budget.ask(60) { grants.add("first") }
        let second = budget.ask(60) { grants.add("second") }
        let third = budget.ask(30) { grants.add("third") }
        let small = budget.ask(10) { grants.add("small") }
        #expect(first.isGranted && !second.isGranted && small.isGranted)
        // The small request would fit, but does not overtake the earlier ones.
        #expect(!third.isGranted && first.isContended && !small.isContended)
        first.end()
        #expect(grants.all == ["second", "third"] && second.isGranted && third.isGranted)
        for ticket in [second, third, small] { ticket.end() }
        first.end()
        #expect(budget.held == 0)
    }

    @Test("A released ticket returns its memory or its position in the queue")
    func dropped() {
        let (budget, grants) = (Self.budget(), Grants())
        var first: ReceiveBudget.Ticket? = budget.ask(100) {}
        var second: ReceiveBudget.Ticket? = budget.ask(100) { grants.add("second") }
        let third = budget.ask(100) { grants.add("third") }
        withExtendedLifetime((first, second)) {}
        second = nil
        first = nil
        #expect(grants.all == ["third"] && third.isGranted && budget.held == 100)
    }

    @Test("A ticket that is released during an inspection returns its position, and nothing deadlocks")
    func droppedWhileInspected() {
        let (tickets, grants) = (Dropped(), Grants())
        let budget = ReceiveBudget(lanes: [.init(messageBytes: .max, capacity: 100)], onInspection: { tickets.drop() })
        let first = budget.ask(60) {}
        let small = budget.ask(30) {}
        tickets.keep(budget.ask(90) { grants.add("large") })
        let last = budget.ask(20) { grants.add("last") }
        // There is no room yet for the next message in the queue, whose last owner releases it at
        // this moment.
        small.end()
        #expect(grants.all == ["last"] && last.isGranted && budget.held == 80)
        first.end()
        last.end()
        #expect(budget.held == 0)
    }

    @Test("Tickets that several threads request, return and release leave nothing behind")
    func concurrent() async {
        let budget = ReceiveBudget(lanes: [.init(messageBytes: .max, capacity: 1000)])
        let large = budget.ask(700) {}
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    for _ in 0..<20_000 {
                        // The first messages fit in addition to the large one. The others wait, and
                        // are only dropped.
                        let ticket = budget.ask(number % 2 == 0 ? 200 : 900) {}
                        if number % 2 == 0 { ticket.end() }
                    }
                }
            }
        }
        #expect(budget.held == 700 && !large.isContended)
        large.end()
        #expect(budget.held == 0)
    }

    /// The only reference to a ticket, until it is dropped.
    private final class Dropped: Sendable {
        private let ticket = Mutex<ReceiveBudget.Ticket?>(nil)
        func keep(_ new: ReceiveBudget.Ticket) { ticket.withLock { $0 = new } }
        func drop() {
            let dropped = ticket.withLock { ticket in
                defer { ticket = nil }
                return ticket
            }
            _ = dropped
        }
    }

    @Test("A message larger than the whole budget is read alone")
    func larger() {
        let budget = Self.budget()
        let first = budget.ask(500) {}
        let second = budget.ask(20) {}
        #expect(first.isGranted && !second.isGranted)
        first.end()
        #expect(second.isGranted)
    }

    @Test(
        "Granted tickets never exceed the budget, and all are granted in the end",
        arguments: 1...10 as ClosedRange<UInt64>)
    func bounded(seed: UInt64) {
        let budget = Self.budget()
        var random = SplitMix64(seed: seed)
        var tickets: [ReceiveBudget.Ticket] = []
        for _ in 0..<300 {
            if random.below(2) == 0 {
                tickets.append(budget.ask(11 + random.below(80)) {})
            } else if let index = tickets.firstIndex(where: { $0.isGranted }) {
                tickets.remove(at: index).end()
            }
            #expect(budget.held <= 100)
        }
        while let index = tickets.firstIndex(where: { $0.isGranted }) { tickets.remove(at: index).end() }
        #expect(tickets.isEmpty && budget.held == 0)
    }
}
