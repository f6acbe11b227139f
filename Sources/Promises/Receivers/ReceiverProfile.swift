// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

/// A kind of app that things are dropped on: which types it accepts, and how it takes them.
public struct ReceiverProfile: Hashable, Sendable {
    /// What commands call it: lower case letters, digits and hyphens.
    public var name: String
    /// What people call it.
    public var title: String
    /// The uniform type identifiers it accepts, best first.
    public var accepts: [String]
    /// What it takes, best first: an item that can be had in several forms is had in the first of these.
    public var takes: [Representation.Form]
    /// Whether what it accepts is in an order, or a set whose members are all the same to it, so that the source decides.
    public var order: UTTypeResolver.Preference
    /// The file it was read from; `nil` for one that Searchlight brings.
    public var path: String?
}

/// Why a profile cannot be used.
public struct ReceiverProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, or what it is called if it is none.
    public var path: String
    /// What is wrong, as a sentence.
    public var reason: String

    /// The problem with its place.
    public var description: String { "The receiver profile \(path) cannot be used: \(reason)" }
}
