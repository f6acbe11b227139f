// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

/// A check of an extension. The raw value is its stable name in commands and reports.
public enum ValidationCheck: String, Sendable, Hashable, CaseIterable, Codable {
    /// The contents of the Info.plist.
    case manifest
    /// The time to load the extension.
    case loadTime = "load-time"
    /// No donations and no output while the extension is loaded.
    case quietCreation = "quiet-creation"
    /// An acknowledgement of each reindex.
    case acknowledgement
    /// No second answers.
    case doubleAcknowledgement = "double-acknowledgement"
    /// Correct answers from other threads, late and out of order.
    case lateAcknowledgement = "late-acknowledgement"
    /// Known attributes with values of their kinds.
    case attributes
    /// Equal items in a second reindex.
    case reindexTwice = "reindex-twice"
    /// A correct reindex of some items.
    case reindexItems = "reindex-items"
    /// Deletion of items that no longer exist, in a reindex of some items.
    case goneItems = "gone-items"
    /// Equal items in a paged reindex.
    case paging
    /// Answers about items that do not exist.
    case unknownItems = "unknown-items"
    /// Delivery of promised types.
    case promises
    /// Answers about types that are not promised.
    case unsupportedTypes = "unsupported-types"
    /// Previews of the stated type.
    case previews
    /// Cancellation of requests.
    case cancellation
    /// Reaction to throttle notices.
    case throttle
    /// Equal answers to concurrent requests.
    case concurrency
    /// No memory growth with each request.
    case memoryGrowth = "memory-growth"
    /// No leaked threads or descriptors.
    case leftovers
    /// No harm from hostile identifiers.
    case fuzzedIdentifiers = "fuzzed-identifiers"
    /// The amount of printed and logged lines.
    case outputVolume = "output-volume"
    /// A worker exits after its host has exited.
    case hangUp = "hang-up"
    /// No violation of the header's rules in any check.
    case misuse
    /// No attempt that the sandbox denies, in any of the checks.
    case sandbox

    /// A one-line description.
    public var summary: String {
        switch self {
        case .manifest: "The Info.plist is complete and has only known keys."
        case .loadTime: "Loading is quick."
        case .quietCreation: "Loading alone donates nothing and starts nothing."
        case .acknowledgement: "Every kind of reindex is acknowledged, and promises and previews are answered."
        case .doubleAcknowledgement: "Nothing is answered twice."
        case .lateAcknowledgement: "Overlapping requests are all answered, from any thread."
        case .attributes: "Items have known attributes, with values of the right kinds."
        case .reindexTwice: "A second reindex, and a reindex in a new process, give the same items."
        case .reindexItems: "A reindex of known, unknown, no, repeated and very many items works."
        case .goneItems: "A reindex of missing items deletes them."
        case .paging: "A reindex in pages ends, keeps its budget, and continues from every cursor."
        case .unknownItems: "Promises and previews of items that do not exist are refused."
        case .promises: "Each promised type of each sampled item is delivered and has the right type."
        case .unsupportedTypes: "Types that were not promised are refused."
        case .previews: "Previews have their declared type, and refer only to their attachments."
        case .cancellation: "A cancelled request is answered soon, and so is the next request."
        case .throttle: "Throttling works, and the work is completed."
        case .concurrency: "Concurrent requests have the same answers as sequential requests."
        case .memoryGrowth: "Memory does not grow with each request."
        case .leftovers: "No threads, descriptors, processes or files are left behind."
        case .fuzzedIdentifiers: "Hostile identifiers and types do no harm."
        case .outputVolume: "It does not print or log too much."
        case .hangUp: "Its process ends by itself after the end of the host."
        case .misuse: "No rule of searchlight_extension.h was broken in any check."
        case .sandbox: "No check tried anything that the manifest does not declare."
        }
    }

    /// Returns the checks whose names are similar to a misspelled text.
    public static func suggestions(for text: String) -> [ValidationCheck] {
        let text = text.lowercased()
        let near = SpellingSuggestions.nearest(to: text, among: allCases.map(\.rawValue)).compactMap(
            ValidationCheck.init(rawValue:))
        let holding = allCases.filter { text.count >= 3 && $0.rawValue.contains(text) && !near.contains($0) }
        return Array((near + holding).prefix(3))
    }

    /// `true` if the check observes the extension's process from outside, so that it needs a
    /// separate process.
    var needsProcess: Bool {
        switch self {
        case .memoryGrowth, .leftovers, .hangUp, .sandbox: true
        default: false
        }
    }
}
