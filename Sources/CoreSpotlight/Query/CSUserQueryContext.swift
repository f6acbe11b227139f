// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The options of a user query.
open class CSUserQueryContext: CSSearchQueryContext {
    /// A Boolean value that indicates whether results have ranks. The default is `true`. Without
    /// ranks, ``CSSearchableItem/compare(byRank:)`` treats all results as equal.
    ///
    /// - Note: Differs on Linux: results are always returned best first.
    open var enableRankedResults = true
    /// The maximum number of results; 0, the default, for all.
    open var maxResultCount = 0
    /// The maximum number of suggestions; 0, the default, for ten. At most ten are returned.
    ///
    /// - Note: Differs on Linux: 0 means ten, and ten is the maximum.
    open var maxSuggestionCount = 0
    /// The maximum number of results with a rank; 100 by default. Further results follow without a
    /// rank.
    open var maxRankedResultCount = 100
    /// A Boolean value that indicates whether results must contain the typed words instead of only
    /// matching their meaning. The default is `false`.
    ///
    /// - Note: Differs on Linux: meanings are only compared if the user has installed an embedding
    ///   model, and only for texts of three or more words.
    open var disableSemanticSearch = false

    /// The last suggestion that the user chose.
    private(set) var currentSuggestion: CSSuggestion?

    /// Creates a context with the defaults.
    public override init() { super.init() }

    /// Creates a context for a query that follows a chosen suggestion. A query without its own text
    /// searches for the suggestion's text.
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

    /// Returns a copy of the context.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CSUserQueryContext()
        copy.assign(self)
        return copy
    }

    // MARK: Archiving

    /// Decodes a context. Missing values get their defaults.
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

    /// Encodes the context.
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
