// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SearchlightService

@Suite("Donations of one app over several connections")
struct DonationOrderTests {
    private let order = DonationOrder()

    @Test("What came before another connection's donation was accepted is dropped once its client has gone")
    func stale() {
        let (old, new) = (order.connect("com.example.a"), order.connect("com.example.a"))
        let arrival = old.now
        #expect(new.accept(since: new.now) { false })
        #expect(!old.accept(since: arrival) { true })
        // While both are there, no order is promised.
        #expect(old.accept(since: arrival) { false })
        // A donation after the other connection's donation is the newest, even if that connection
        // is gone.
        #expect(old.accept(since: old.now) { true })
    }

    @Test("What a client did not wait for is kept if its app has donated nothing since over another connection")
    func nobodyElse() {
        let (app, other) = (order.connect("com.example.a"), order.connect("com.example.b"))
        let arrivals = [app.now, app.now, app.now]
        for arrival in arrivals {
            #expect(other.accept(since: other.now) { false })
            #expect(app.accept(since: arrival) { true })
        }
    }

    @Test("Only apps that are connected are remembered")
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
