// SPDX-License-Identifier: Apache-2.0

/// A problem in the type declarations of a bundle. It does not prevent the other declarations from
/// being registered.
public enum UTTypeDiagnostic: Hashable, Sendable {
    /// The value of a declarations key is not an array.
    case notAList(key: String, bundle: String)
    /// An element of a declarations array is not a dictionary.
    case notADictionary(key: String, position: Int, bundle: String)
    /// An element has no string identifier.
    case missingIdentifier(key: String, position: Int, bundle: String)
    /// The value of a key has the wrong type or is too long. It is omitted.
    case unreadableValue(key: String, identifier: String)
    /// The identifier contains invalid characters. The declaration is ignored.
    case illegalIdentifier(String, bundle: String)
    /// The identifier is in the `public.` domain, which is reserved for the system. The declaration
    /// is ignored.
    case reservedIdentifier(String, bundle: String)
    /// The identifier is dynamic and cannot be declared. The declaration is ignored.
    case dynamicIdentifier(String, bundle: String)
    /// A parent is not a valid identifier. It is omitted.
    case illegalParent(String, identifier: String)
    /// A tag is empty, begins with a dot, or contains control characters. It is omitted.
    case illegalTag(String, tagClass: UTTagClass, identifier: String)
    /// A limit is exceeded. Everything in excess is omitted.
    case tooMany(String, limit: Int, identifier: String)
    /// The bundle declares an identifier twice. The first declaration is used.
    case duplicate(String, bundle: String)
    /// An exported declaration is not in effect, because another bundle's declaration is (`nil` for
    /// the system).
    case notInForce(String, bundle: String, winner: String?)
    /// A parent is not declared. The type conforms to its name, but inherits nothing from it.
    case undeclaredParent(String, identifier: String)
    /// Types conform to each other in a cycle. The last link is ignored.
    case cycle([String])
    /// The type conforms to neither data nor directory, so no file can have it.
    case neverOfAFile(String)
}

extension UTTypeDiagnostic: CustomStringConvertible {
    /// A line that states the problem and its consequence.
    public var description: String {
        switch self {
        case .notAList(let key, let bundle): "\(bundle): \(key) is not an array; ignored"
        case .notADictionary(let key, let position, let bundle):
            "\(bundle): \(key), element \(position) is not a dictionary; ignored"
        case .missingIdentifier(let key, let position, let bundle):
            "\(bundle): \(key), element \(position) has no UTTypeIdentifier; ignored"
        case .unreadableValue(let key, let identifier):
            "\(identifier): the value of \(key) cannot be read; left out"
        case .illegalIdentifier(let identifier, let bundle):
            "\(bundle): \"\(identifier)\" is not an identifier (letters, digits, - and . only); ignored"
        case .reservedIdentifier(let identifier, let bundle):
            "\(bundle): \(identifier) is in the domain public., which is reserved for the system; ignored"
        case .dynamicIdentifier(let identifier, let bundle):
            "\(bundle): \(identifier) is a dynamic identifier and cannot be declared; ignored"
        case .illegalParent(let parent, let identifier):
            "\(identifier): the parent \"\(parent)\" is not an identifier; left out"
        case .illegalTag(let tag, let tagClass, let identifier):
            "\(identifier): \"\(tag)\" is not a tag of the class \(tagClass); left out"
        case .tooMany(let what, let limit, let identifier):
            "\(identifier): more than \(limit) \(what); the rest left out"
        case .duplicate(let identifier, let bundle):
            "\(bundle): \(identifier) is declared twice; the first declaration is used"
        case .notInForce(let identifier, let bundle, let winner):
            "\(bundle): its declaration of \(identifier) is not used; the type is declared by \(winner ?? "the system")"
        case .undeclaredParent(let parent, let identifier):
            "\(identifier): no declaration of its parent \(parent); only its name is used"
        case .cycle(let identifiers):
            "\(identifiers.joined(separator: " → ")): the types conform to each other in a circle; the last step is ignored"
        case .neverOfAFile(let identifier):
            "\(identifier): reaches neither public.data nor public.directory, so no file can be of this type"
        }
    }
}
