// SPDX-License-Identifier: Apache-2.0

/// A binding that was read and checked: which request it serves, and by calls of which functions. The language is described
/// in docs/BINDINGS.md.
public struct SymbolBinding: Hashable, Sendable {
    /// What it serves.
    public let purpose: Purpose
    /// Where the functions are, in order of preference: names the dynamic linker knows, or `./` and a file of the bundle.
    public let libraries: [String]
    /// What is called, in order; at least one.
    public let calls: [BoundCall]
    /// What is called over and over afterwards.
    public let repetition: BoundRepetition?
    /// What the request is answered with.
    public let result: BoundValue?
    /// The title of a preview.
    public let title: BoundValue?
    /// The attributes that an item is given, in order.
    public let attributes: [BoundCallback.Assignment]

    /// All calls, those that are repeated at the end.
    public var allCalls: [BoundCall] { calls + (repetition?.calls ?? []) }

    /// What a binding serves.
    public enum Purpose: Hashable, Sendable {
        /// Items of types, as bytes of a type.
        case data(type: String, of: [String])
        /// Items of types, as a file of a type.
        case file(type: String, of: [String])
        /// What is shown of items of types.
        case preview(type: String, of: [String])
        /// Giving attributes to items of types, as they are donated.
        case attributes(of: [String])
        /// Donating everything.
        case reindexAll
        /// Donating the files below a folder: all of them, or one that changed. The folder as ``BoundValue/Function/path`` takes it.
        case files(below: String)
        /// Donating the items of given identifiers.
        case reindexItems
        /// Doing less, or as much as before.
        case throttle
    }
}

/// Calls that are made once for each number below another, such as for the pages of a document.
public struct BoundRepetition: Hashable, Sendable {
    /// How the calls name the number, from 0.
    public let name: String
    /// How often they are made; no more than ``BindingLimits/rounds``.
    public let count: BoundValue
    /// What is called, in order; at least one, and none with a callback.
    public let calls: [BoundCall]
    /// The texts that the rounds give, each with a line for each round; at least one.
    public let gathered: [BoundCallback.Assignment]
}

/// One call of a function.
public struct BoundCall: Hashable, Sendable {
    /// The function's name.
    public let symbol: String
    /// What it is given, in order.
    public let parameters: [BoundParameter]
    /// What it returns; `nil` for void.
    public let returned: BoundResult?
    /// What must hold after it; `nil`: nothing.
    public let success: BoundCondition?
    /// What says in words why it failed.
    public let explanation: [BoundCall]

    /// Whether the request is acknowledged by a callback of this call.
    public var acknowledges: Bool { callbacks.contains { $0.role == .acknowledge } }

    /// The names that only the call knows: its parameters and their fields, but for what the function writes.
    public var localNames: [String] { parameters.flatMap { $0.localNames(prefix: "") } }

    /// The callbacks among the parameters.
    public var callbacks: [BoundCallback] {
        parameters.compactMap { if case .callback(let callback) = $0.form { callback } else { nil } }
    }
}

/// One parameter of a function, or field of a struct that is passed.
public struct BoundParameter: Hashable, Sendable {
    /// How the rest of the binding names it; `_` for nobody does.
    public let name: String
    /// What it is, and what it is filled from.
    public let form: Form

    /// What a parameter can be.
    public enum Form: Hashable, Sendable {
        /// A number.
        case scalar(ScalarType, BoundValue)
        /// A NUL-terminated copy of a text, or NULL.
        case text(BoundValue)
        /// An array of them.
        case texts(BoundValue)
        /// The address of bytes, or NULL.
        case bytes(BoundValue)
        /// An address that a function gave, or NULL.
        case pointer(BoundValue)
        /// The address of memory for so many bytes, zeros at first.
        case buffer(BoundValue)
        /// The address of a place where the function writes a result.
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

/// Something a function gives back, or a field of a struct it gives back.
public struct BoundResult: Hashable, Sendable {
    /// How the rest of the binding names it; `_` for nobody does.
    public let name: String
    /// What it is.
    public let form: Form

    /// What a function can give back.
    public indirect enum Form: Hashable, Sendable {
        /// A number.
        case scalar(ScalarType)
        /// An address.
        case pointed(BoundPointer)
        /// A struct by value.
        case structure([BoundResult])
    }
}

/// An address that a function gives back.
public struct BoundPointer: Hashable, Sendable {
    /// The function that frees it; `nil` if it stays the library's.
    public let freedBy: String?
    /// What is there.
    public let target: Target
    /// Whether NULL is no failure.
    public let isOptional: Bool

    /// What an address can be of.
    public enum Target: Hashable, Sendable {
        /// NUL-terminated UTF-8.
        case text
        /// So many bytes.
        case bytes(BoundValue)
        /// Nothing is read there.
        case opaque
    }
}

/// A function that a library is given to call.
public struct BoundCallback: Hashable, Sendable {
    /// What a call of it does.
    public let role: Role
    /// What it is called with; pointers are borrowed.
    public let parameters: [BoundResult]
    /// What it returns, always; `nil` for void.
    public let returned: Returned?
    /// For an acknowledgement, what means success; else, which calls count. `nil`: all.
    public let condition: BoundCondition?
    /// What is reported or donated, in order.
    public let assignments: [Assignment]

    /// What a callback can do.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// Says that the request is done, reports how far it is, or hands over an item.
        case acknowledge, progress, donate
    }
    /// A constant of a type.
    public struct Returned: Hashable, Sendable {
        /// A whole number type.
        public let type: ScalarType
        /// A number that it can hold.
        public let value: Int128
    }
    /// One thing that is reported or donated.
    public struct Assignment: Hashable, Sendable {
        /// `completed` or `total`; `identifier`, `domain` or an attribute.
        public let name: String
        /// What it is.
        public let value: BoundValue
    }
}
