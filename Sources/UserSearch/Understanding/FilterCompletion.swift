// SPDX-License-Identifier: Apache-2.0

/// The names and values of filters, for completing a filter that is being typed.
///
/// ```swift
/// FilterCompletion.names(beginningWith: "ki")  // ["kind"]
/// FilterCompletion.values(of: "kind")          // .fixed(["app", "archive", …])
/// ```
public enum FilterCompletion {
    /// The source of values for a filter.
    public enum Values: Hashable, Sendable {
        /// A fixed list of values, as typed without quotes.
        case fixed([String])
        /// The values of these attributes.
        case attributes([String])
        /// The bundles that have items.
        case apps
        /// The folders and containers of items, as stored in these attributes.
        case folders([String])
        /// No source: a size, or a title.
        case free
    }

    /// Returns the filter names that begin with the typed text, most used first. Ignores case.
    public static func names(beginningWith typed: String) -> [String] {
        let typed = typed.lowercased()
        return FilterName.allCases.map(\.rawValue).filter { $0.hasPrefix(typed) }
    }

    /// Returns the attributes of which an item needs at least one to satisfy a filter; empty if any
    /// item may satisfy it.
    public static func attributes(of name: String) -> [String] {
        switch FilterName(name: name) {
        case .kind: ["contentType", "contentTypeTree"]
        case .from, .by: people
        case .to: recipients
        case .in: folders
        case .tag: ["keywords"]
        case .created: ["contentCreationDate", "recordingDate"]
        case .changed: ["contentModificationDate"]
        case .added: ["addedDate", "downloadedDate"]
        case .used: ["lastUsedDate"]
        case .due: ["dueDate"]
        case .before, .after, .until, .on: FilterName.dates
        case .larger, .smaller: ["fileSize"]
        case .app, .title, .has, nil: []
        }
    }

    /// Returns the values of a filter; `nil` if there is no such filter.
    public static func values(of name: String) -> Values? {
        guard let filter = FilterName(name: name) else { return nil }
        return switch filter {
        case .kind: .fixed(KindNames.names)
        case .from, .by: .attributes(people)
        case .to: .attributes(recipients)
        case .tag: .attributes(["keywords"])
        case .app: .apps
        case .has: .fixed(FilterName.presenceNames)
        case .in: .folders(folders)
        case .title, .larger, .smaller: .free
        case .before, .after, .until, .on, .created, .changed, .added, .used, .due: .fixed(dates)
        }
    }

    /// The attributes with names of people that may be typed without a filter.
    public static let people = ["authorNames"]
    /// The attributes with the names of recipients.
    public static let recipients = ["recipientNames"]

    private static let folders = ["path", "contentURL", "containerTitle", "containerDisplayName"]

    private static let dates = [
        "today", "yesterday", "this week", "last week", "this month", "last month", "this year", "last year",
        "tomorrow",
    ]

    /// Returns a filter as typed, with its value quoted if necessary.
    public static func text(name: String, value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789.-_@+".unicodeScalars.contains($0)
        }
        let harmless = String(value.map { $0.isNewline || $0 == "\"" || $0 == "“" || $0 == "”" ? " " : $0 })
        return isPlain && !value.isEmpty ? "\(name):\(value)" : "\(name):\"\(harmless)\""
    }
}
