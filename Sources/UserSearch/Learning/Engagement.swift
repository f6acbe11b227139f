// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextAnalysis

/// What a user did with an item that a search found.
public enum EngagementKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The item was opened.
    case open
    /// The item was dropped somewhere, or one of its representations was saved.
    case drag
    /// The item's preview was shown: by the page for ten seconds or longer, or by a command to look at what was searched for.
    case preview
    /// An app reports that the item was chosen in its own search.
    case select
    /// An app reports that the item was looked at in its own search.
    case focus

    /// How much one event adds to a count.
    public var weight: Double {
        switch self {
        case .open, .drag, .select: 1
        case .preview: 0.5
        case .focus: 0.25
        }
    }
}

/// Who reports what was done with an item. The two are counted apart. An app sees nothing of the user's own use, and its reports
/// change only the order of its own hits for the user.
public enum EngagementReporter: String, Hashable, Sendable, Codable, CaseIterable {
    /// The user's own programs: the command, the Quick Look page, launchers.
    case user
    /// The app that donated the item.
    case app
}

/// What was done with one item.
///
/// ```swift
/// let engagement = Engagement(item: 12, text: "quart", kind: .open)
/// ```
public struct Engagement: Hashable, Sendable, Codable {
    /// The number of the item.
    public var item: Int64
    /// What the user had typed; empty if the item was not searched for.
    public var text: String
    /// What was done.
    public var kind: EngagementKind

    /// Creates a report of what was done with an item.
    public init(item: Int64, text: String, kind: EngagementKind) {
        (self.item, self.text, self.kind) = (item, text, kind)
    }
}

/// A typed text in the form in which texts are counted and compared.
public enum EngagementText {
    /// Longer texts are cut, in bytes of UTF-8.
    public static let maximumBytes = 128

    /// The text with single spaces, folded by the text rule and cut; `nil` if nothing is left.
    public static func folded(_ text: String) -> String? {
        // Folding makes texts longer or shorter; what is far behind the cut need not be folded.
        let plain = cut(tidied(text), to: 4 * maximumBytes)
        let folded = TextFolding.folded(plain, case: true, diacritics: true)
        let result = cut(folded, to: maximumBytes).trimmingSpaces
        return result.isEmpty ? nil : result
    }

    /// The text as it was typed, with single spaces and cut, to be shown.
    public static func shown(_ text: String) -> String { cut(tidied(text), to: maximumBytes).trimmingSpaces }

    /// With single spaces, and without NUL, at which SQLite ends a text.
    private static func tidied(_ text: String) -> String {
        cut(text, to: 16 * maximumBytes).split { $0.isWhitespace || $0 == "\0" }.joined(separator: " ")
    }

    /// The beginning of a text, between two scalars.
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

/// A count that halves every ``halfLife``: one number, whatever has been counted.
///
/// The number is the moment at which the count is 1. So of two counts the one with the later moment is larger, at any time, and
/// nothing has to be rewritten as time passes.
public struct DecayedCount: Hashable, Sendable {
    /// After so long a count is worth half, in seconds: 30 days.
    public static let halfLife = 30.0 * 86400
    /// No count grows beyond that, so that no habit stays for years and no report can be repeated to any effect.
    public static let maximum = 16.0

    /// The moment at which the count is 1, in seconds since 2001-01-01 UTC.
    public private(set) var unity: Double

    /// A count that was stored.
    ///
    /// - Parameter unity: The moment at which it is 1.
    public init(unity: Double) { self.unity = unity }

    /// The count at a moment, 0 to ``maximum``; 0 for what a damaged store says.
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
