// SPDX-License-Identifier: Apache-2.0
import DesktopSearch
import Foundation
import Previews
import SearchIndex
import SearchlightEngine

/// A result as the list displays it. All texts are safe to display, single-line and limited in
/// length.
package struct ResultRow: Hashable, Sendable, Identifiable {
    /// A part of a text.
    package struct Piece: Hashable, Sendable {
        /// The text.
        package var text: String
        /// `true` if it matches the search.
        package var isFound: Bool

        package init(_ text: String, isFound: Bool = false) { (self.text, self.isFound) = (text, isFound) }
    }

    /// The item, with the attributes of ``WindowRequest``.
    package var item: StoredItem
    /// The title; never empty.
    package var title: [Piece]
    /// A passage of the item's text around the search words; may be empty.
    package var snippet: [Piece]
    /// The name of the item's kind; empty if unknown.
    package var kind: String
    /// The name of the item's app.
    package var app: String
    /// The day of the last change; empty if unknown.
    package var day: String
    /// The icon for the kind.
    package var icon: ResultIcon
    /// `true` if the item has a thumbnail.
    package var hasThumbnail: Bool

    package var id: Int64 { item.number }
    /// The title as plain text.
    package var plainTitle: String { title.map(\.text).joined() }

    private static let (titleLength, nameLength) = (200, 60)
    private static let untitled = "Untitled"

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - hit: The result.
    ///   - highlighter: Finds the search words in the title.
    ///   - zone, locale: The time zone and the locale of days.
    package init(
        _ hit: FoundItem, _ highlighter: Highlighter, zone: TimeZone = .current, locale: Locale = .ofDates
    ) {
        item = hit.item
        let line = DisplayText.line(hit.title, limit: Self.titleLength)
        title =
            line.isEmpty
            ? [Piece(Self.untitled)]
            : highlighter.pieces(of: line).map { Piece(String($0.text), isFound: $0.isHighlight) }
        snippet = (hit.snippet?.pieces ?? []).map { Piece(DisplayText.safe(String($0.text)), isFound: $0.isMarked) }
        kind = hit.kindName.map { DisplayText.line($0, limit: Self.nameLength) } ?? ""
        app = DisplayText.line(hit.bundleName, limit: Self.nameLength)
        icon = ResultIcon(contentType: hit.contentType)
        hasThumbnail = hit.hasThumbnail == true
        day = Self.day(of: hit, zone, locale)
    }

    private static func day(of hit: FoundItem, _ zone: TimeZone, _ locale: Locale) -> String {
        guard let moment = hit.date else { return "" }
        let style = Date.FormatStyle(date: .abbreviated, time: .omitted, locale: locale, timeZone: zone)
        return Date(timeIntervalSinceReferenceDate: moment).formatted(style)
    }
}
