// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

/// One thing that is checked of an extension. The raw value is its name in commands and reports, and stays as it is.
public enum ValidationCheck: String, Sendable, Hashable, CaseIterable, Codable {
    /// What the Info.plist says.
    case manifest
    /// How long loading takes.
    case loadTime = "load-time"
    /// Whether loading alone donates or prints.
    case quietCreation = "quiet-creation"
    /// Whether what was asked is acknowledged.
    case acknowledgement
    /// Whether anything is answered twice.
    case doubleAcknowledgement = "double-acknowledgement"
    /// Whether answers from other threads, late and crossing each other, are right.
    case lateAcknowledgement = "late-acknowledgement"
    /// Whether a second reindex gives the same.
    case reindexTwice = "reindex-twice"
    /// Whether a reindex of some items does what it should.
    case reindexItems = "reindex-items"
    /// Whether a reindex of some items deletes those that are gone.
    case goneItems = "gone-items"
    /// Whether a reindex in pages gives the same.
    case paging
    /// What is answered about items that there are not.
    case unknownItems = "unknown-items"
    /// Whether what was promised is delivered.
    case promises
    /// What is answered about types that were not promised.
    case unsupportedTypes = "unsupported-types"
    /// Whether previews are what they say.
    case previews
    /// Whether a request can be cancelled.
    case cancellation
    /// Whether it lets itself be slowed down.
    case throttle
    /// Whether requests at the same time have the same answers.
    case concurrency
    /// Whether memory grows with every request.
    case memoryGrowth = "memory-growth"
    /// Whether threads or descriptors are left behind.
    case leftovers
    /// Whether wild identifiers do harm.
    case fuzzedIdentifiers = "fuzzed-identifiers"
    /// How much is printed and logged.
    case outputVolume = "output-volume"
    /// Whether a worker ends when its host has gone.
    case hangUp = "hang-up"
    /// Whether a rule of the header was broken in any check.
    case misuse
    /// Whether anything was tried in any check that the sandbox refuses.
    case sandbox

    /// What it checks, in one line.
    public var summary: String {
        switch self {
        case .manifest: "The Info.plist is complete, and says nothing that is not understood."
        case .loadTime: "Loading is quick."
        case .quietCreation: "Loading alone donates nothing and starts nothing."
        case .acknowledgement: "Every kind of reindex is acknowledged, and promises and previews are answered."
        case .doubleAcknowledgement: "Nothing is answered twice."
        case .lateAcknowledgement: "Requests that cross each other are each answered, from whatever thread."
        case .reindexTwice: "A second reindex, and one in a new process, give the same items."
        case .reindexItems: "A reindex of known, unknown, no, repeated and very many items does what it should."
        case .goneItems: "A reindex of items that are gone deletes them."
        case .paging: "A reindex in pages ends, keeps to its pages, and goes on from every cursor."
        case .unknownItems: "Promises and previews of items that do not exist are refused."
        case .promises: "Each promised type of each sampled item is delivered, and is of that type."
        case .unsupportedTypes: "Types that were not promised are refused."
        case .previews: "Previews are of the type they say, and refer only to what comes with them."
        case .cancellation: "A request that is cancelled is answered soon, and the next one too."
        case .throttle: "It can be slowed down and sped up, and does its work in between."
        case .concurrency: "Requests at the same time have the same answers as one after the other."
        case .memoryGrowth: "Memory does not grow with each request."
        case .leftovers: "No threads, descriptors, processes or files are left behind."
        case .fuzzedIdentifiers: "Wild identifiers and types do no harm."
        case .outputVolume: "It does not print or log more than anybody reads."
        case .hangUp: "Its process ends by itself when the host has gone."
        case .misuse: "No rule of searchlight_extension.h was broken in any check."
        case .sandbox: "Nothing was tried in any check that the manifest does not ask for."
        }
    }

    /// The checks whose names are like a text, for a person who misspelled one.
    public static func suggestions(for text: String) -> [ValidationCheck] {
        let text = text.lowercased()
        let near = NearNames.nearest(to: text, among: allCases.map(\.rawValue)).compactMap(
            ValidationCheck.init(rawValue:))
        let holding = allCases.filter { text.count >= 3 && $0.rawValue.contains(text) && !near.contains($0) }
        return Array((near + holding).prefix(3))
    }

    /// Whether it looks at the extension's process from outside, so that the process has to be one of its own.
    var needsProcess: Bool {
        switch self {
        case .memoryGrowth, .leftovers, .hangUp, .sandbox: true
        default: false
        }
    }
}
