// SPDX-License-Identifier: Apache-2.0

/// A parsed and checked binding: the request that it serves, and the functions that it calls.
/// docs/BINDINGS.md describes the language.
public struct SymbolBinding: Hashable, Sendable {
    /// The purpose.
    public let purpose: Purpose
    /// The libraries, in order of preference: names for the dynamic linker, or `./` followed by a
    /// file in the bundle.
    public let libraries: [String]
    /// The calls, in order; at least one.
    public let calls: [BoundCall]
    /// The repetition that follows the calls; `nil` if there is none.
    public let repetition: BoundRepetition?
    /// The value with which the request is answered.
    public let result: BoundValue?
    /// The title of a preview.
    public let title: BoundValue?
    /// The attributes that the binding sets, in order. Empty for other purposes.
    public let attributes: [BoundCallback.Assignment]
    /// `true` if the binding calls `type( )`, which needs a table of types.
    public let usesTypes: Bool

    /// All calls; the calls of the repetition come last.
    public var allCalls: [BoundCall] { calls + (repetition?.calls ?? []) }

    /// The purpose of a binding.
    public enum Purpose: Hashable, Sendable {
        /// Provides data of a type, for items of certain types.
        case data(type: String, of: [String])
        /// Provides a file of a type, for items of certain types.
        case file(type: String, of: [String])
        /// Provides a preview of a type, for items of certain types.
        case preview(type: String, of: [String])
        /// Provides attributes of donated items, for items of certain types.
        case attributes(of: [String])
        /// Donates all items.
        case reindexAll
        /// Donates the files below a folder: all of them, or one that has changed. The folder is in
        /// the form of ``BoundValue/Function/path``.
        case files(below: String)
        /// Donates the items with given identifiers.
        case reindexItems
        /// Receives a throttle notice.
        case throttle
    }
}

/// Repeats calls, for example for each page of a document. Rounds are numbered from 0.
public struct BoundRepetition: Hashable, Sendable {
    /// The name by which the calls refer to the number of the round.
    public let name: String
    /// The number of rounds. If it exceeds ``BindingLimits/rounds``, the request fails, or the
    /// excess is left out for ``SymbolBinding/Purpose/attributes(of:)``.
    public let count: BoundValue
    /// The calls in a round, in order; at least one. None has a callback.
    public let calls: [BoundCall]
    /// The gathered texts, to which each round adds a line; at least one.
    public let gathered: [BoundCallback.Assignment]
}

/// A call of a function.
public struct BoundCall: Hashable, Sendable {
    /// The name of the function.
    public let symbol: String
    /// The parameters, in order.
    public let parameters: [BoundParameter]
    /// The result; `nil` for void.
    public let returned: BoundResult?
    /// The condition on which the call is successful; `nil` if it always is.
    public let success: BoundCondition?
    /// The call that returns the reason for a failure; at most one.
    public let explanation: [BoundCall]

    /// `true` if a callback of this call acknowledges the request.
    public var acknowledges: Bool { callbacks.contains { $0.role == .acknowledge } }

    /// The names that are visible only in the call: its parameters and their fields, except those
    /// to which the function writes.
    public var localNames: [String] { parameters.flatMap { $0.localNames(prefix: "") } }

    /// The callbacks among the parameters.
    public var callbacks: [BoundCallback] {
        parameters.compactMap { if case .callback(let callback) = $0.form { callback } else { nil } }
    }
}

/// One parameter of a function, or one field of a struct parameter.
public struct BoundParameter: Hashable, Sendable {
    /// The name used in the rest of the binding; `_` if it is not used.
    public let name: String
    /// The type and the value.
    public let form: Form

    /// The type and the value of a parameter.
    public enum Form: Hashable, Sendable {
        /// A number.
        case scalar(ScalarType, BoundValue)
        /// A NUL-terminated copy of a text, or NULL.
        case text(BoundValue)
        /// An array of NUL-terminated texts.
        case texts(BoundValue)
        /// The address of some bytes, or NULL.
        case bytes(BoundValue)
        /// An address from an earlier result, or NULL.
        case pointer(BoundValue)
        /// The address of a zeroed buffer of the given size.
        case buffer(BoundValue)
        /// The address to which the function writes a result.
        case out(BoundResult.Form)
        /// The address of a number that the function reads and writes.
        case inOut(ScalarType, BoundValue)
        /// A struct by value.
        case structure([BoundParameter])
        /// A function to be called.
        case callback(BoundCallback)
    }
}

extension BoundParameter {
    fileprivate func localNames(prefix: String) -> [String] {
        switch form {
        case .scalar, .text, .texts, .bytes, .pointer: [prefix + name]
        case .structure(let fields): fields.flatMap { $0.localNames(prefix: prefix + name + ".") }
        case .buffer, .out, .inOut, .callback: []
        }
    }
}

/// A result of a function, or a field of a struct result.
public struct BoundResult: Hashable, Sendable {
    /// The name used in the rest of the binding; `_` if it is not used.
    public let name: String
    /// The type.
    public let form: Form

    /// The type of a result.
    public indirect enum Form: Hashable, Sendable {
        /// A number.
        case scalar(ScalarType)
        /// An address.
        case pointed(BoundPointer)
        /// A struct by value.
        case structure([BoundResult])
    }
}

/// A pointer result of a function.
public struct BoundPointer: Hashable, Sendable {
    /// The function that frees the pointer; `nil` if the library owns it.
    public let freedBy: String?
    /// The target of the pointer.
    public let target: Target
    /// `true` if NULL is allowed.
    public let isOptional: Bool

    /// The target of a pointer.
    public enum Target: Hashable, Sendable {
        /// NUL-terminated UTF-8.
        case text
        /// This number of bytes.
        case bytes(BoundValue)
        /// An opaque target, which is not read.
        case opaque
    }
}

/// A callback passed to a library.
public struct BoundCallback: Hashable, Sendable {
    /// The action of the callback.
    public let role: Role
    /// The parameters of the callback. Pointers are borrowed.
    public let parameters: [BoundResult]
    /// The constant that the callback returns; `nil` for void.
    public let returned: Returned?
    /// The success condition of an acknowledgement; for other roles, the condition on which a call
    /// is considered. `nil` for none.
    public let condition: BoundCondition?
    /// The reported or donated values, in order.
    public let assignments: [Assignment]

    /// The action of a callback.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// Acknowledges the request, reports progress, or donates an item.
        case acknowledge, progress, donate
    }
    /// A typed constant.
    public struct Returned: Hashable, Sendable {
        /// The type, which is a whole number type.
        public let type: ScalarType
        /// The value, which is in the range of the type.
        public let value: Int128
    }
    /// A reported or donated value.
    public struct Assignment: Hashable, Sendable {
        /// The name: `completed` or `total`; `identifier`, `domain` or an attribute.
        public let name: String
        /// The value.
        public let value: BoundValue
    }
}
