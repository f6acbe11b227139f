// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How a query is carried out. A query copies its context when it is made.
open class CSSearchQueryContext: NSObject, NSCopying, NSSecureCoding {
    /// The attributes that results carry: names of properties of ``CSSearchableItemAttributeSet`` or custom keys. All others
    /// read as `nil` in a result; names of no attribute are ignored.
    open var fetchAttributes: [String] = []
    /// Queries, in the query language, that results must satisfy besides the query itself; all of them.
    open var filterQueries: [String] = []
    /// The language of the keyboard (BCP 47).
    ///
    /// - Note: Unused on Linux: the index finds words of all languages alike.
    open var keyboardLanguage: String?
    /// Where to look besides the app's own indexes.
    ///
    /// - Note: Unused on Linux: there are no other sources, see ``SourceOptions/allowMail``.
    open var sourceOptions: SourceOptions = []

    /// A context without attributes and filters.
    public override init() {}

    /// Takes over what another context says; called by copies.
    func assign(_ other: CSSearchQueryContext) {
        fetchAttributes = other.fetchAttributes
        filterQueries = other.filterQueries
        keyboardLanguage = other.keyboardLanguage
        sourceOptions = other.sourceOptions
    }

    /// A context that says the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CSSearchQueryContext()
        copy.assign(self)
        return copy
    }

    // MARK: Archiving

    /// Contexts can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a context from an archive; what the archive lacks has its default.
    public required init?(coder: NSCoder) {
        super.init()
        fetchAttributes = Self.texts(coder, "fetchAttributes")
        filterQueries = Self.texts(coder, "filterQueries")
        if coder.containsValue(forKey: "keyboardLanguage") {
            keyboardLanguage = coder.decodeObject(of: NSString.self, forKey: "keyboardLanguage")?.substring(from: 0)
        }
        sourceOptions = SourceOptions(rawValue: UInt(clamping: coder.decodeInteger(forKey: "sourceOptions")))
    }

    /// Writes the context to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(NSArray(array: fetchAttributes.map { NSString(string: $0) }), forKey: "fetchAttributes")
        coder.encode(NSArray(array: filterQueries.map { NSString(string: $0) }), forKey: "filterQueries")
        if let keyboardLanguage { coder.encode(NSString(string: keyboardLanguage), forKey: "keyboardLanguage") }
        coder.encode(Int(clamping: sourceOptions.rawValue), forKey: "sourceOptions")
    }

    private static func texts(_ coder: NSCoder, _ key: String) -> [String] {
        guard coder.containsValue(forKey: key) else { return [] }
        let texts = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? NSArray
        return texts?.compactMap { $0 as? String } ?? []
    }
}

extension CSSearchQueryContext {
    /// Where to look besides the app's own indexes.
    public struct SourceOptions: OptionSet, Sendable, BitwiseCopyable {
        /// The options as bits.
        public let rawValue: UInt

        /// Options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Also the system's mail.
        ///
        /// - Note: Unused on Linux: the system has no mail of its own, so nothing more is found.
        public static let allowMail = SourceOptions(rawValue: 1 << 0)
    }
}
