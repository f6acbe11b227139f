// SPDX-License-Identifier: Apache-2.0

/// What a parameter, an attribute or a result is made of.
public indirect enum BoundValue: Hashable, Sendable {
    /// A whole number.
    case integer(Int128)
    /// A number with a fraction.
    case float(Double)
    /// A text in quotes.
    case text(String)
    /// Several.
    case texts([String])
    /// No address.
    case null
    /// Something the request or its item has.
    case source(Source)
    /// An attribute of the item, and what to take where it has none.
    case attribute(AttributeForm, String, default: BoundValue?)
    /// A parameter or result, or a field of one (`point.x`).
    case name(String)
    /// The first so many bytes of a buffer.
    case slice(String, count: BoundValue)
    /// Something computed from another value.
    case function(Function, BoundValue)
    /// Whole numbers, computed without overflow.
    case arithmetic(Operator, BoundValue, BoundValue)

    /// What a request and its item have.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// The identifier of the item.
        case identifier = "item.identifier"
        /// The bytes of the file the item stands for.
        case contents = "item.contents"
        /// The path of that file.
        case path = "item.path"
        /// The type that is asked for.
        case type = "request.type"
        /// The words that were searched for, if a preview is asked for.
        case query = "request.query"
        /// Whether the file itself is wanted, not a copy.
        case inPlace = "request.inPlace"
        /// The path of an empty file that is to be filled.
        case destination = "request.destination"
        /// The identifiers of the items that are to be donated.
        case identifiers = "request.identifiers"
        /// The folder whose files are to be donated, or the one file of it that changed.
        case filePath = "request.path"
        /// Why less is to be done.
        case reason = "request.reason"
        /// How much may still be done.
        case rate = "request.rate"
        /// The extension's own folder.
        case bundlePath = "bundle.path"
    }

    /// As what an attribute is wanted.
    public enum AttributeForm: String, Hashable, Sendable, CaseIterable {
        /// A text.
        case text = "item.attribute"
        /// A whole number.
        case integer = "item.integer"
        /// A number with a fraction.
        case float = "item.float"
    }

    /// What can be computed from a value.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        /// How many bytes a text or bytes have; how many texts there are.
        case length
        /// A path with `~` or `$XDG_…` at its beginning written out.
        case path
        /// The last part of a path.
        case name
        /// What follows the last dot of the last part of a path.
        case suffix
        /// The uniform type of a file of that name, by its extension; `public.data` if nobody declares one.
        case type
        /// 1 for a path with a name that begins with a dot, those of the home folder's own path aside; else 0.
        case hidden
        /// The bytes of the file at a path.
        case contents
        /// Bytes as text; what is not UTF-8 is replaced.
        case text
        /// The URL of a path.
        case url
        /// A date, from seconds since 1970.
        case date
        /// The file at a path, as the answer of a request for a file.
        case file
    }

    /// What can be done with two whole numbers.
    public enum Operator: String, Hashable, Sendable, CaseIterable {
        /// The sum.
        case plus = "+"
        /// The difference.
        case minus = "-"
        /// The product.
        case times = "*"
        /// The quotient without its fraction.
        case divided = "/"
    }
}

enum ValueKind: String, Hashable {
    case integer = "a whole number"
    case float = "a number"
    case text = "text"
    case texts = "several texts"
    case bytes = "bytes"
    case pointer = "a pointer"
    case null = "null"
    case url = "a URL"
    case date = "a date"
    case file = "a file"
}

/// A condition on values: all, or any, of some comparisons.
public struct BoundCondition: Hashable, Sendable {
    /// Two values compared.
    public struct Comparison: Hashable, Sendable {
        /// What stands first.
        public let left: BoundValue
        /// How the two are to be.
        public let relation: Relation
        /// What stands second.
        public let right: BoundValue
    }
    /// How. There is no “less than”, since a manifest would have to escape it; turn the values round.
    public enum Relation: String, Hashable, Sendable, CaseIterable {
        /// The same.
        case equal = "=="
        /// Not the same.
        case unequal = "!="
        /// The first is as large or larger.
        case atLeast = ">="
        /// The first is larger.
        case greater = ">"
    }
    /// At least one.
    public let comparisons: [Comparison]
    /// Whether one that holds is enough.
    public let isAny: Bool
}
