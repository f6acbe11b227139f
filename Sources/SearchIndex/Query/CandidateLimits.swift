// SPDX-License-Identifier: Apache-2.0

/// The thresholds at which the query compiler switches between indexes (``QueryCompiler``). They do
/// not affect the results.
struct CandidateLimits: Sendable {
    /// The number of rows below which reading their keys is faster than looking up words.
    var fewRows: Int64 = 2048
    /// The number of texts up to which every word is looked up, because lookups in a small store
    /// are fast.
    var smallStore: Int64 = 20_000
    /// The number of newest texts in the sample that shows which words are common.
    var sample: Int64 = 1 << 16
    /// The divisor for common words. A word is common if more than one in this many texts of the
    /// sample contains it.
    var commonShare: Int64 = 100
    /// The divisor for scanned words. The texts of a word are scanned for other words only if fewer
    /// than one in this many texts contains the word.
    var skippedShare: Int64 = 16
    /// The largest number of words of a pattern that are checked.
    var words = 16
    /// The largest number of dictionary words that contain a part. FTS5 compares all of them for
    /// each text that matches.
    var expansions = 64
    /// The divisor for rare attributes. If an attribute has at most one row per this many texts,
    /// its keys are read instead of all items.
    var rareShare: Int64 = 16
    /// The divisor for bodies. If more than one in this many texts has a body, keys leave too many
    /// candidates for word parts in bodies.
    var bodyShare: Int64 = 4
}
