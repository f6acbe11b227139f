// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

/// A kind of app that receives drops, with the types and forms that it accepts.
public struct ReceiverProfile: Hashable, Sendable {
    /// The name for commands: lower case letters, digits and hyphens.
    public var name: String
    /// The title for display.
    public var title: String
    /// The accepted uniform type identifiers, best first.
    public var accepts: [String]
    /// The accepted forms, best first. If an item offers several forms, the first of these is used.
    public var takes: [Representation.Form]
    /// The side that chooses between several accepted types: the receiver by its order, or the
    /// source if the receiver accepts all of them equally.
    public var order: UTTypeResolver.Preference
    /// The file's path; `nil` for a built-in profile.
    public var path: String?
}

/// The error for an unusable profile.
public struct ReceiverProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path, or the profile's name if there is no file.
    public var path: String
    /// The problem, as a sentence.
    public var reason: String

    /// A sentence with the path and the problem.
    public var description: String { "The receiver profile \(path) cannot be used: \(reason)" }
}
