// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextAnalysis

/// The user's action on an item that a search found.
public enum EngagementKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The item was opened.
    case open
    /// The item was dropped somewhere, or a representation of it was saved.
    case drag
    /// The item's preview was shown: by the page for at least ten seconds, or by a command that
    /// displays a found item.
    case preview
    /// An app reports that the user chose the item in the app's own search.
    case select
    /// An app reports that the user viewed the item in the app's own search.
    case focus

    /// The amount that one event adds to the count.
    public var weight: Double {
        switch self {
        case .open, .drag, .select: 1
        case .preview: 0.5
        case .focus: 0.25
        }
    }
}

/// The source of an engagement report. The two sources are counted separately. An app cannot read
/// the user's own engagement, and its reports only affect the order of its own hits for the user.
public enum EngagementReporter: String, Hashable, Sendable, Codable, CaseIterable {
    /// The user's own programs: the command, the Quick Look page, and launchers.
    case user
    /// The app that donated the item.
    case app
}

/// A report of the user's action on one item.
///
/// ```swift
/// let engagement = Engagement(item: 12, text: "quart", kind: .open)
/// ```
public struct Engagement: Hashable, Sendable, Codable {
    /// The number of the item.
    public var item: Int64
    /// The typed text; empty if the user did not search for the item.
    public var text: String
    /// The action.
    public var kind: EngagementKind

    /// Creates a report.
    public init(item: Int64, text: String, kind: EngagementKind) {
        (self.item, self.text, self.kind) = (item, text, kind)
    }
}

/// The normalized form in which typed texts are counted and compared.
public enum EngagementText {
    /// The size to which texts are truncated, in UTF-8 bytes.
    public static let maximumBytes = 128

    /// Returns the text with runs of white space collapsed, folded by the text rule and truncated;
    /// `nil` if nothing is left.
    public static func folded(_ text: String) -> String? {
        // Folding changes the length, but text far beyond the limit need not be folded.
        let plain = cut(tidied(text), to: 4 * maximumBytes)
        let folded = TextFolding.folded(plain, case: true, diacritics: true)
        let result = cut(folded, to: maximumBytes).trimmingSpaces
        return result.isEmpty ? nil : result
    }

    /// Returns the text as typed, with runs of white space collapsed, and truncated for display.
    public static func shown(_ text: String) -> String { cut(tidied(text), to: maximumBytes).trimmingSpaces }

    /// Returns the text with runs of white space collapsed, and without NUL, at which SQLite ends a
    /// text.
    private static func tidied(_ text: String) -> String {
        cut(text, to: 16 * maximumBytes).split { $0.isWhitespace || $0 == "\0" }.joined(separator: " ")
    }

    /// Returns the beginning of a text, truncated between scalars.
    private static func cut(_ text: String, to bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: bytes)
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

/// A count that halves every ``halfLife``, stored as a single number.
///
/// The number is the time at which the count is 1. Of two counts, the one with the later time is
/// always larger, and stored counts need no updates as time passes.
public struct DecayedCount: Hashable, Sendable {
    /// The time it takes for a count to halve, in seconds: 30 days.
    public static let halfLife = 30.0 * 86400
    /// The largest count. It ensures that no habit lasts for years, and that repeated reports have
    /// no further effect.
    public static let maximum = 16.0

    /// The time at which the count is 1, in seconds since 2001-01-01 UTC.
    public private(set) var unity: Double

    /// Restores a stored count.
    ///
    /// - Parameter unity: The time at which the count is 1.
    public init(unity: Double) { self.unity = unity }

    /// Returns the count at a time, 0 to ``maximum``; 0 for values from a damaged store.
    public func value(at moment: Double) -> Double {
        guard unity.isFinite, moment.isFinite else { return 0 }
        return min(Self.maximum, exp2((unity - moment) / Self.halfLife))
    }

    /// Adds the weight of an event.
    public mutating func add(_ weight: Double, at moment: Double) {
        let value = min(Self.maximum, value(at: moment) + max(0, weight))
        unity = moment + Self.halfLife * log2(max(value, .leastNormalMagnitude))
    }
}
