// SPDX-License-Identifier: Apache-2.0

/// The names and values of filters, to complete one that is being typed.
///
/// ```swift
/// FilterCompletion.names(beginningWith: "ki")  // ["kind"]
/// FilterCompletion.values(of: "kind")          // .fixed(["app", "archive", …])
/// ```
public enum FilterCompletion {
    /// Where the values of a filter come from.
    public enum Values: Hashable, Sendable {
        /// From a list, each as it is typed without quotes.
        case fixed([String])
        /// From the values of these attributes of items.
        case attributes([String])
        /// From the bundles that have items.
        case apps
        /// From the folders and containers of items, which these attributes name.
        case folders([String])
        /// From nowhere: a size, or a title.
        case free
    }

    /// The names of filters that begin so, in the order of how often filters are used; case does not matter.
    public static func names(beginningWith typed: String) -> [String] {
        let typed = typed.lowercased()
        return FilterName.allCases.map(\.rawValue).filter { $0.hasPrefix(typed) }
    }

    /// The attributes of which an item has one, if it may satisfy a filter; empty if every item may.
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

    /// The values of a filter; `nil` if there is no such filter.
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

    /// The attributes with names of people who may be typed without a filter.
    public static let people = ["authorNames"]
    /// The same for recipients.
    public static let recipients = ["recipientNames"]

    private static let folders = ["path", "contentURL", "containerTitle", "containerDisplayName"]

    private static let dates = [
        "today", "yesterday", "this week", "last week", "this month", "last month", "this year", "last year",
        "tomorrow",
    ]

    /// A filter as it is typed: the value in quotes where it has to be.
    public static func text(name: String, value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789.-_@+".unicodeScalars.contains($0)
        }
        let harmless = String(value.map { $0.isNewline || $0 == "\"" || $0 == "“" || $0 == "”" ? " " : $0 })
        return isPlain && !value.isEmpty ? "\(name):\(value)" : "\(name):\"\(harmless)\""
    }
}
