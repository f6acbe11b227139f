// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SearchlightService

@Suite("Donations of one app over several connections")
struct DonationOrderTests {
    private let order = DonationOrder()

    @Test("Donations from before another connection's donation are dropped once their client has ended")
    func stale() {
        let (old, new) = (order.connect("com.example.a"), order.connect("com.example.a"))
        let arrival = old.now
        #expect(new.accept(since: new.now) { false })
        #expect(!old.accept(since: arrival) { true })
        // While both connections exist, no order is guaranteed.
        #expect(old.accept(since: arrival) { false })
        // A donation that follows the other connection's donation is the newest, even if that
        // connection has been closed.
        #expect(old.accept(since: old.now) { true })
    }

    @Test("Donations that a client did not wait for are kept if its app has since donated over no other connection")
    func nobodyElse() {
        let (app, other) = (order.connect("com.example.a"), order.connect("com.example.b"))
        let arrivals = [app.now, app.now, app.now]
        for arrival in arrivals {
            #expect(other.accept(since: other.now) { false })
            #expect(app.accept(since: arrival) { true })
        }
    }

    @Test("Only connected apps are remembered")
    func forgotten() {
        let (first, second) = (order.connect("com.example.a"), order.connect("com.example.a"))
        let other = order.connect("com.example.b")
        #expect(order.bundles == 2)
        first.end()
        first.end()
        #expect(order.bundles == 2)
        second.end()
        other.end()
        #expect(order.bundles == 0)
    }
}
