// SPDX-License-Identifier: Apache-2.0

/// Where the compiler of queries changes from one index to another (``QueryCompiler``). What is found is the same with any.
struct CandidateLimits: Sendable {
    /// The keys of so few rows are read faster than words are looked up.
    var fewRows: Int64 = 2048
    /// In a store with fewer texts no word takes long to look up.
    var smallStore: Int64 = 20_000
    /// So many of the newest texts are a sample of which words are common.
    var sample: Int64 = 1 << 16
    /// A word is common if one of so many texts in the sample has it.
    var commonShare: Int64 = 100
    /// The texts of a word may be gone through, to find those that have others too, if at most one of so many has it.
    var skippedShare: Int64 = 16
    /// So many words of a pattern are looked at.
    var words = 16
    /// The most words in which a part is looked for. FTS5 compares all of them for each text it finds.
    var expansions = 64
    /// Where an attribute has fewer rows than one for so many texts, its keys are read rather than all items.
    var rareShare: Int64 = 16
    /// Where one of so many items has a body, keys leave too many candidates of a query for parts of words in bodies.
    var bodyShare: Int64 = 4
}
