// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A text in several languages. As a string, it is the text in the user's language.
///
/// A Swift `String` has no languages. On Linux, assign a localized text to an attribute with
/// ``CSSearchableItemAttributeSet/setLocalizedString(_:for:)``, or use it as the value of a custom
/// key. When it is converted to `String`, only the text in the current language is kept.
///
/// - Note: Differs on Linux: a text that is assigned as a `String` has one language;
///   `setLocalizedString(_:for:)` preserves all languages.
open class CSLocalizedString: NSString {
    /// The texts by language code.
    let texts: [String: String]
    private let characters: [unichar]

    /// Creates a text from its translations: language codes (BCP 47) with texts. Entries that are
    /// not texts are ignored.
    public convenience init(localizedStrings: [AnyHashable: Any]) {
        var texts: [String: String] = [:]
        for (language, text) in localizedStrings {
            guard let language = language as? String, let text = text as? String else { continue }
            texts[language] = text
        }
        self.init(texts: texts)
    }

    init(texts: [String: String]) {
        self.texts = texts
        characters = Array(Self.text(in: texts).utf16)
        super.init(characters: [0], length: 0)
    }

    /// Creates a text without a language.
    public override init(characters: UnsafePointer<unichar>, length: Int) {
        self.characters = Array(UnsafeBufferPointer(start: characters, count: max(length, 0)))
        texts = ["": String(decoding: self.characters, as: UTF16.self)]
        super.init(characters: [0], length: 0)
    }

    /// Creates a text without a language.
    public required convenience init(string: String) { self.init(texts: ["": string]) }

    /// Creates a text without a language.
    public required convenience init(stringLiteral value: StaticString) { self.init(texts: ["": "\(value)"]) }

    /// Creates a text without a language.
    public required convenience init(unicodeScalarLiteral value: StaticString) {
        self.init(texts: ["": "\(value)"])
    }

    /// Creates a text without a language.
    public required convenience init(extendedGraphemeClusterLiteral value: StaticString) {
        self.init(texts: ["": "\(value)"])
    }

    /// Decodes a text without a language, because an archived string only contains the current
    /// text.
    public required convenience init?(coder: NSCoder) {
        guard let text = NSString(coder: coder) else { return nil }
        self.init(texts: ["": text.substring(from: 0)])
    }

    /// Returns the text in the user's language, or else in English, or else in the first available
    /// language.
    open func localizedString() -> String { Self.text(in: texts) }

    /// The length of the current text, in UTF-16 units.
    open override var length: Int { characters.count }

    /// Returns the UTF-16 unit at a position in the current text.
    open override func character(at index: Int) -> unichar { characters[index] }

    /// Returns the text itself, because texts are immutable.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns the languages in the environment in order of preference, according to the gettext
    /// manual. On Linux, `Locale` ignores these variables.
    static func languages(_ environment: [String: String]) -> [String] {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"]
        let locale = variables.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        // `de_AT.UTF-8@euro` becomes `de_AT`.
        let name = String(locale.prefix { $0 != "." && $0 != "@" })
        guard !["C", "POSIX"].contains(name) else { return [] }
        return (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init) + [name]
    }

    private static let personsLanguages = languages(ProcessInfo.processInfo.environment)

    static func text(in texts: [String: String], languages: [String] = personsLanguages) -> String {
        guard let fallback = texts.min(by: { $0.key < $1.key })?.value else { return "" }
        for wanted in languages + ["en"] {
            // `pt-BR` matches `pt_BR`, then `pt`.
            var subtags = wanted.split { $0 == "-" || $0 == "_" }
            while !subtags.isEmpty {
                if let text = texts[subtags.joined(separator: "-")] ?? texts[subtags.joined(separator: "_")] {
                    return text
                }
                subtags.removeLast()
            }
        }
        return fallback
    }
}

extension CSSearchableItemAttributeSet {
    /// Stores a text with all its translations in a text attribute, such as `\.displayName`.
    /// Reading the attribute then returns the text in the user's language. An addition for Linux;
    /// see ``CSLocalizedString``.
    public func setLocalizedString(
        _ text: CSLocalizedString?, for attribute: ReferenceWritableKeyPath<CSSearchableItemAttributeSet, String?>
    ) {
        lastTextAttribute = nil
        self[keyPath: attribute] = text?.localizedString()
        guard let text, let lastTextAttribute else { return }
        values[lastTextAttribute] = .localizedString(text.texts)
    }
}
