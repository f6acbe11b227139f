// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The options of a query. A query copies its context when it is created.
open class CSSearchQueryContext: NSObject, NSCopying, NSSecureCoding {
    /// The attributes to include in the results: names of properties of
    /// ``CSSearchableItemAttributeSet``, or custom keys. Other attributes are `nil` in the results.
    /// Unknown names are ignored.
    open var fetchAttributes: [String] = []
    /// Additional queries in the query language. Results must satisfy all of them.
    open var filterQueries: [String] = []
    /// The language of the keyboard (BCP 47).
    ///
    /// - Note: Unused on Linux: the index handles words of all languages in the same way.
    open var keyboardLanguage: String?
    /// The sources to search in addition to the app's indexes.
    ///
    /// - Note: Unused on Linux: there are no other sources; see ``SourceOptions/allowMail``.
    open var sourceOptions: SourceOptions = []

    /// Creates a context without attributes or filters.
    public override init() {}

    /// Copies the options of another context.
    func assign(_ other: CSSearchQueryContext) {
        fetchAttributes = other.fetchAttributes
        filterQueries = other.filterQueries
        keyboardLanguage = other.keyboardLanguage
        sourceOptions = other.sourceOptions
    }

    /// Returns a copy of the context.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CSSearchQueryContext()
        copy.assign(self)
        return copy
    }

    // MARK: Archiving

    /// A Boolean value that indicates that contexts support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes a context. Missing values get their defaults.
    public required init?(coder: NSCoder) {
        super.init()
        fetchAttributes = Self.texts(coder, "fetchAttributes")
        filterQueries = Self.texts(coder, "filterQueries")
        if coder.containsValue(forKey: "keyboardLanguage") {
            keyboardLanguage = coder.decodeObject(of: NSString.self, forKey: "keyboardLanguage")?.substring(from: 0)
        }
        sourceOptions = SourceOptions(rawValue: UInt(clamping: coder.decodeInteger(forKey: "sourceOptions")))
    }

    /// Encodes the context.
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
    /// The sources to search in addition to the app's indexes.
    public struct SourceOptions: OptionSet, Sendable, BitwiseCopyable {
        /// The options as bits.
        public let rawValue: UInt

        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The system's mail.
        ///
        /// - Note: Unused on Linux: the system has no mail store of its own, so nothing more is
        ///   found.
        public static let allowMail = SourceOptions(rawValue: 1 << 0)
    }
}
