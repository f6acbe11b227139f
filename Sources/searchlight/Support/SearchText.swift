// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import ExtensionHost
import MetadataQuery
import SearchIndex
import SearchlightEngine

/// The words of a search, as given on the command line.
enum SearchText {
    /// Returns the reason why the words cannot be searched for; `nil` if they can.
    ///
    /// - Parameter example: A valid command.
    static func problem(of words: [String], example: String) -> String? {
        let text = words.joined(separator: " ")
        if let problem = lengthProblem(of: text) { return problem }
        let typed = text.split(whereSeparator: \.isWhitespace)
        guard typed.contains(where: { $0.contains(where: isSearchable) }) else {
            return "There is no word to search for. Type letters or digits: \(example)"
        }
        guard typed.contains(where: { $0.first != "-" && $0.contains(where: isSearchable) }) else {
            return "Every word is excluded. Add a word that must occur."
        }
        return nil
    }

    /// Returns the error for a text that is too long to search for; `nil` if it is short enough.
    static func lengthProblem(of text: String) -> String? {
        let (length, most) = (text.utf8.count, UserQuery.maximumBytes)
        guard length > most else { return nil }
        return "The text has \(length) bytes; a search has at most \(most). Search for fewer words."
    }

    /// Returns `true` if a character can be searched for. Punctuation alone finds nothing; symbols
    /// such as emoji may be names.
    private static func isSearchable(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || (character.isSymbol && !character.isASCII)
    }
}

extension SearchTotal {
    /// The number in words: “1 item”, “1000 items or more”.
    var phrase: String { counted(count, "item") + (isExact ? "" : " or more") }
}

/// Reports on standard error that the index contains no items of a bundle.
func warnOfUnknown(_ bundle: String?, in store: any EngineClient) async throws {
    guard let bundle else { return }
    let known = try await store.perform(ItemCountsCall())
    if known[bundle] == nil, await !hasLocked(bundle, in: store) {
        Output.complain("\(unknownBundle(bundle, among: known.keys.sorted()))")
    }
}

/// Reports on standard error that an answer lacks locked items, if the store has any.
///
/// - Parameter bundle: The bundle of the items in the answer; `nil` for all bundles.
func warnOfLocked(_ bundle: String?, in store: any EngineClient) async {
    if await hasLocked(bundle, in: store) { Output.complain("Note: \(lockedNote)") }
}

/// Returns `true` if there are locked items.
///
/// - Parameter bundle: The bundle of the items; `nil` for all bundles.
func hasLocked(_ bundle: String?, in store: any EngineClient) async -> Bool {
    let locked = await lockedBundles(in: store)
    return bundle.map(locked.contains) ?? !locked.isEmpty
}

/// Returns the bundles that have locked items.
func lockedBundles(in store: any EngineClient) async -> Set<String> {
    // An earlier service does not know the call.
    guard let status = try? await store.perform(ProtectionStatusCall()), !status.isUnlocked else { return [] }
    return Set(status.indexes.map(\.scope.bundle))
}

/// The note that an answer lacks locked items.
let lockedNote = "Some items are locked. To search them: searchlight unlock"

/// Returns the message that the index contains no items of a bundle, with a similar name.
func unknownBundle(_ bundle: String, among known: [String]) -> String {
    let near = SpellingSuggestions.sentence(to: bundle, among: known).map { " " + $0 } ?? ""
    return "The index has no items of \(bundle).\(near) “searchlight status” lists all apps."
}
