// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How what a person typed is searched for.
open class CSUserQueryContext: CSSearchQueryContext {
    /// Whether results are ranked. Results come best first either way; without this they bear no rank, so that
    /// ``CSSearchableItem/compare(byRank:)`` finds them all alike. True unless set.
    ///
    /// - Note: Differs on Linux: results come best first either way.
    open var enableRankedResults = true
    /// The most results; 0, which is the default, for all.
    open var maxResultCount = 0
    /// The most suggestions; 0, which is the default, for ten. At most ten are given.
    ///
    /// - Note: Differs on Linux: 0 stands for ten, and at most ten are given.
    open var maxSuggestionCount = 0
    /// The most results that bear a rank, 100 unless set. Those behind them still come, and compare as less fitting.
    open var maxRankedResultCount = 100
    /// Whether results shall hold the words that were typed, and not only their meaning. False unless set.
    ///
    /// - Note: Unused on Linux: the index finds words only, so the results are the same either way.
    open var disableSemanticSearch = false

    /// The suggestion that the person chose last.
    private(set) var currentSuggestion: CSSuggestion?

    /// A context with the defaults.
    public override init() { super.init() }

    /// A context for a query that follows a suggestion. If the query has no text of its own, it looks for that of the
    /// suggestion.
    public init(currentSuggestion: CSSuggestion?) {
        self.currentSuggestion = currentSuggestion
        super.init()
    }

    override func assign(_ other: CSSearchQueryContext) {
        super.assign(other)
        guard let other = other as? CSUserQueryContext else { return }
        enableRankedResults = other.enableRankedResults
        maxResultCount = other.maxResultCount
        maxSuggestionCount = other.maxSuggestionCount
        maxRankedResultCount = other.maxRankedResultCount
        disableSemanticSearch = other.disableSemanticSearch
        currentSuggestion = other.currentSuggestion
    }

    /// A context that says the same.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CSUserQueryContext()
        copy.assign(self)
        return copy
    }

    // MARK: Archiving

    /// Reads a context from an archive; what the archive lacks has its default.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        func has(_ key: String) -> Bool { coder.containsValue(forKey: key) }
        if has("enableRankedResults") { enableRankedResults = coder.decodeBool(forKey: "enableRankedResults") }
        maxResultCount = coder.decodeInteger(forKey: "maxResultCount")
        maxSuggestionCount = coder.decodeInteger(forKey: "maxSuggestionCount")
        if has("maxRankedResultCount") { maxRankedResultCount = coder.decodeInteger(forKey: "maxRankedResultCount") }
        disableSemanticSearch = coder.decodeBool(forKey: "disableSemanticSearch")
        if has("currentSuggestion") {
            currentSuggestion = coder.decodeObject(of: CSSuggestion.self, forKey: "currentSuggestion")
        }
    }

    /// Writes the context to an archive.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(enableRankedResults, forKey: "enableRankedResults")
        coder.encode(maxResultCount, forKey: "maxResultCount")
        coder.encode(maxSuggestionCount, forKey: "maxSuggestionCount")
        coder.encode(maxRankedResultCount, forKey: "maxRankedResultCount")
        coder.encode(disableSemanticSearch, forKey: "disableSemanticSearch")
        if let currentSuggestion { coder.encode(currentSuggestion, forKey: "currentSuggestion") }
    }
}
