// SPDX-License-Identifier: Apache-2.0

/// A value of a parameter, an attribute or a result.
public indirect enum BoundValue: Hashable, Sendable {
    /// A whole number.
    case integer(Int128)
    /// A number with a fraction.
    case float(Double)
    /// A quoted text.
    case text(String)
    /// A list of texts.
    case texts([String])
    /// NULL.
    case null
    /// A value from the request or its item.
    case source(Source)
    /// An attribute of the item, and a default for items without it.
    case attribute(AttributeForm, String, default: BoundValue?)
    /// A parameter, a result, or a field of either (`point.x`).
    case name(String)
    /// The first `count` bytes of a buffer.
    case slice(String, count: BoundValue)
    /// A function applied to another value.
    case function(Function, BoundValue)
    /// An operation on whole numbers. An overflow is an error.
    case arithmetic(Operator, BoundValue, BoundValue)

    /// A source of values: the request or its item.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// The item's identifier.
        case identifier = "item.identifier"
        /// The bytes of the item's file.
        case contents = "item.contents"
        /// The path of the item's file.
        case path = "item.path"
        /// The requested type.
        case type = "request.type"
        /// The search words, for a preview.
        case query = "request.query"
        /// 1 if the original file is requested instead of a copy; otherwise 0.
        case inPlace = "request.inPlace"
        /// The path of an empty file to which the function must write.
        case destination = "request.destination"
        /// The identifiers of the items to donate.
        case identifiers = "request.identifiers"
        /// The folder whose files are to be donated, or one of its changed files.
        case filePath = "request.path"
        /// The reason for throttling.
        case reason = "request.reason"
        /// The allowed number of items per second.
        case rate = "request.rate"
        /// The extension's bundle folder.
        case bundlePath = "bundle.path"
    }

    /// The type to which an attribute is converted.
    public enum AttributeForm: String, Hashable, Sendable, CaseIterable {
        /// A text.
        case text = "item.attribute"
        /// A whole number.
        case integer = "item.integer"
        /// A number with a fraction.
        case float = "item.float"
    }

    /// A function that can be applied to a value.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        /// The number of bytes of a text or of bytes; the number of texts in a list.
        case length
        /// A path in which a leading `~` or `$XDG_…` is expanded.
        case path
        /// The last component of a path.
        case name
        /// The part of a path's last component after its last dot.
        case suffix
        /// The uniform type for a filename extension; `public.data` if no type declares it.
        case type
        /// 1 for a path with a hidden component, ignoring components of the home folder's own path;
        /// otherwise 0.
        case hidden
        /// The bytes of the file at a path.
        case contents
        /// Bytes decoded as UTF-8, with invalid bytes replaced.
        case text
        /// The URL of a path.
        case url
        /// A date, from seconds since 1970.
        case date
        /// The file at a path, as the answer to a file request.
        case file
    }

    /// An operation on two whole numbers.
    public enum Operator: String, Hashable, Sendable, CaseIterable {
        /// The sum.
        case plus = "+"
        /// The difference.
        case minus = "-"
        /// The product.
        case times = "*"
        /// The quotient, rounded towards zero.
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

/// A condition: all of several comparisons, or any of them.
public struct BoundCondition: Hashable, Sendable {
    /// A comparison of two values.
    public struct Comparison: Hashable, Sendable {
        /// The left value.
        public let left: BoundValue
        /// The relation between the two values.
        public let relation: Relation
        /// The right value.
        public let right: BoundValue
    }
    /// A relation between two values. There is no “less than”, because it would have to be escaped
    /// in a manifest; swap the values instead.
    public enum Relation: String, Hashable, Sendable, CaseIterable {
        /// The values are equal.
        case equal = "=="
        /// The values are not equal.
        case unequal = "!="
        /// The left value is greater than or equal to the right.
        case atLeast = ">="
        /// The left value is greater.
        case greater = ">"
    }
    /// The comparisons; at least one.
    public let comparisons: [Comparison]
    /// `true` if any of the comparisons is sufficient; `false` if all must be satisfied.
    public let isAny: Bool
}
