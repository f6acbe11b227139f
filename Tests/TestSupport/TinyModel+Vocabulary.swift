// SPDX-License-Identifier: Apache-2.0

extension TinyModel {
    /// Returns a model that knows some words, and treats each given pair as synonyms.
    public static func ofWords(_ words: [String], synonyms: [(String, String)], seed: UInt64 = 1) -> TinyModel {
        var model = TinyModel()
        model.vocabulary += words.filter { !model.vocabulary.contains($0) }
        model.hidden = 64
        model.fill(seed: seed)
        for (one, other) in synonyms { model.makeSynonyms(one, other) }
        return model
    }

    /// A hundred short words in an invented language.
    public static let manyWords: [String] = ["ka", "ri", "to", "mo", "ne", "sa", "lu", "pe", "di", "vo"].flatMap {
        one in
        ["ban", "chi", "rem", "qua", "fir", "gre", "sto", "zel", "hum", "wit"].map { one + $0 }
    }
}
