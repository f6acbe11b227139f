// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import Foundation
import ItemRecord
import Previews
import SearchIndex

/// An action on an item other than opening it. The default app for a URL scheme performs it.
///
/// ```swift
/// let offered = QuickAction.offered(by: item.record)    // [.call]
/// ```
package enum QuickAction: String, Hashable, Sendable, Codable, CaseIterable {
    /// Calls the first phone number (`tel:`) of an item with `supportsPhoneCall`.
    case call
    /// Shows an item with `supportsNavigation` on a map (`geo:`).
    case navigate

    /// The attributes that determine an item's actions.
    static let attributes: Set<String> = [
        "supportsPhoneCall", "phoneNumbers", "supportsNavigation", "latitude", "longitude", "fullyFormattedAddress",
    ]

    /// Returns the actions that an item offers.
    package static func offered(by record: ItemRecord) -> [QuickAction] {
        allCases.filter { $0.resource(for: record) != nil }
    }

    /// Returns the URL for the action; `nil` if the item does not offer it.
    package func resource(for record: ItemRecord) -> LaunchResource? {
        switch self {
        case .call:
            guard record.isTrue("supportsPhoneCall") else { return nil }
            return record.texts("phoneNumbers").lazy.compactMap(Self.phoneURL).first.flatMap { LaunchResource(url: $0) }
        case .navigate:
            guard record.isTrue("supportsNavigation") else { return nil }
            return Self.placeURL(record).flatMap { LaunchResource(url: $0) }
        }
    }

    /// The allowed numbers of digits in a phone number. E.164 numbers have at most 15; some
    /// exchanges add more.
    private static let digits = 2...20
    private static let separators = Set(" -.()/\u{A0}\u{2010}\u{2011}")
    private static let maximumAddressBytes = 500

    /// Returns the URL for a phone number without its separators; `nil` if the text is not a plain
    /// number. Codes with `*` and `#` are rejected, because dialling them may change settings.
    private static func phoneURL(_ text: String) -> String? {
        var number = ""
        for character in text.trimmingCharacters(in: .whitespaces) {
            if let digit = character.wholeNumberValue, character.unicodeScalars.count == 1 {
                number += "\(digit)"
            } else if character == "+", number.isEmpty {
                number = "+"
            } else if !separators.contains(character) {
                return nil
            }
        }
        let count = number.count - (number.hasPrefix("+") ? 1 : 0)
        return digits.contains(count) ? "tel:" + number : nil
    }

    private static func placeURL(_ record: ItemRecord) -> String? {
        if let latitude = record.number("latitude"), let longitude = record.number("longitude"),
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        {
            return String(format: "geo:%.6f,%.6f", locale: nil, latitude, longitude)
        }
        guard let address = record.text("fullyFormattedAddress"), !address.isEmpty,
            address.utf8.count <= maximumAddressBytes,
            let encoded = address.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        else { return nil }
        return "geo:0,0?q=" + encoded
    }
}

extension ItemRecord {
    fileprivate func isTrue(_ name: String) -> Bool {
        switch attributes[name] {
        case .boolean(let value): value
        case .integer(let value): value != 0
        case .double(let value): value != 0
        default: false
        }
    }

    fileprivate func number(_ name: String) -> Double? {
        switch attributes[name] {
        case .integer(let value): Double(value)
        case .double(let value) where value.isFinite: value
        default: nil
        }
    }
}

extension SearchlightEngine {
    /// Returns the facts that determine which app performs an action on an item; `nil` if the item
    /// does not offer the action. The item's own app is not preferred.
    package func launchTarget(of item: StoredItem, for action: QuickAction) -> LaunchTarget? {
        action.resource(for: item.record).map { resource in
            LaunchTarget(
                bundle: item.scope.bundle, bundleName: displayName(of: item.scope.bundle),
                identifier: item.record.uniqueIdentifier, title: item.displayTitle, desktopEntry: "",
                ownsEntry: false, activity: .item(item.record.uniqueIdentifier), resource: resource)
        }
    }
}
