// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@testable import SearchlightEngine

@Suite("Quick actions")
struct QuickActionTests {
    private func record(_ attributes: [String: AttributeValue]) -> ItemRecord {
        ItemRecord(uniqueIdentifier: "x", attributes: attributes)
    }

    private func url(_ action: QuickAction, _ attributes: [String: AttributeValue]) -> String? {
        action.resource(for: record(attributes))?.uri
    }

    @Test(
        "The first plain phone number is called, without its separators",
        arguments: [
            (["+49 (30) 123-456"], "tel:+4930123456"), (["030/123456"], "tel:030123456"),
            (["office", "112"], "tel:112"), (["٠٣٠١٢٣"], "tel:030123"), (["*#06#"], nil), (["+"], nil), ([""], nil),
            (["1"], nil), ([String(repeating: "1", count: 21)], nil), (["12;phone-context=x"], nil), (["1+2"], nil),
        ] as [([String], String?)])
    func calls(numbers: [String], expected: String?) {
        let values = AttributeValue.array(numbers.map { .string($0) })
        #expect(url(.call, ["supportsPhoneCall": .boolean(true), "phoneNumbers": values]) == expected)
        #expect(url(.call, ["supportsPhoneCall": .boolean(false), "phoneNumbers": values]) == nil)
        #expect(url(.call, ["phoneNumbers": values]) == nil)
    }

    @Test("Directions use the position, or else the address")
    func directions() {
        let wanted = ["supportsNavigation": AttributeValue.integer(1)]
        func merged(_ other: [String: AttributeValue]) -> [String: AttributeValue] { wanted.merging(other) { $1 } }
        let place = merged(["latitude": .double(59.9139), "longitude": .integer(-10)])
        #expect(url(.navigate, place) == "geo:59.913900,-10.000000")
        #expect(
            url(.navigate, merged(["fullyFormattedAddress": .string("Pier 3&4, Øslo")]))
                == "geo:0,0?q=Pier%203%264%2C%20%C3%98slo")
        for wrong in [
            merged(["latitude": .double(91), "longitude": .double(0)]), merged(["latitude": .double(1)]),
            merged(["latitude": .double(.nan), "longitude": .double(0)]), wanted,
            merged(["fullyFormattedAddress": .string(String(repeating: "a", count: 501))]),
        ] { #expect(url(.navigate, wrong) == nil, "\(wrong)") }
        #expect(QuickAction.offered(by: record(place)) == [.navigate])
        #expect(QuickAction.offered(by: record([:])).isEmpty)
    }
}
