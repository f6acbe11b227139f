// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Who may load a representation.
///
/// - Note: Unused on Linux: a provider does not leave its process.
public enum NSItemProviderRepresentationVisibility: Int, Hashable, Sendable {
    /// Everybody.
    case all = 0
    /// Apps of the same team.
    case team = 1
    /// Apps of the same group.
    case group = 2
    /// The process itself.
    case ownProcess = 3
}

/// How a file is offered.
public struct NSItemProviderFileOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The original may be opened where it lies.
    public static let openInPlace = NSItemProviderFileOptions(rawValue: 1)
}

/// An object that can be turned into data of some types.
public protocol NSItemProviderWriting: NSObjectProtocol {
    /// The types that objects of the class can be turned into, the best first.
    static var writableTypeIdentifiersForItemProvider: [String] { get }

    /// The types that this object can be turned into, the best first. Optional.
    var writableTypeIdentifiersForItemProvider: [String] { get }

    /// Who may load data of a type. Optional.
    static func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility

    /// Who may load data of a type of this object. Optional.
    func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility

    /// Turns the object into data of one of its types, and calls the handler once, from any thread.
    ///
    /// - Returns: what tells how far it is, and can be cancelled.
    @preconcurrency
    func loadData(
        withTypeIdentifier typeIdentifier: String,
        forItemProviderCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress?
}

extension NSItemProviderWriting {
    /// The types of the class.
    public var writableTypeIdentifiersForItemProvider: [String] { Self.writableTypeIdentifiersForItemProvider }

    /// Everybody.
    public static func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility {
        .all
    }

    /// What the class says.
    public func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility {
        Self.itemProviderVisibilityForRepresentation(withTypeIdentifier: typeIdentifier)
    }
}

/// An object that can be made from data of some types.
public protocol NSItemProviderReading: NSObjectProtocol {
    /// The types that objects of the class are made from, the best first.
    static var readableTypeIdentifiersForItemProvider: [String] { get }

    /// Makes an object from data of one of these types.
    ///
    /// - Throws: Why the data is none.
    static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> Self
}

extension NSItemProvider {
    /// Given an item, or the reason why there is none.
    public typealias CompletionHandler = @Sendable ((any NSSecureCoding)?, (any Error)?) -> Void

    /// Makes an item and gives it to the handler; the class is what the receiver would like best, if it is known.
    public typealias LoadHandler = @Sendable (CompletionHandler?, AnyClass?, [AnyHashable: Any]?) -> Void

    /// The domain of the errors of item providers.
    public static let errorDomain = "NSItemProviderErrorDomain"

    /// The codes of the errors of item providers.
    public enum ErrorCode: Int, Hashable, Sendable {
        /// None of the others.
        case unknownError = -1
        /// There is no such representation.
        case itemUnavailableError = -1000
        /// The representation is of another class than was said.
        case unexpectedValueClassError = -1100
        /// The representation cannot be turned into what was asked for.
        case unavailableCoercionError = -1200
    }

    package static func error(_ code: ErrorCode, _ description: String, _ cause: (any Error)? = nil) -> NSError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        userInfo[NSUnderlyingErrorKey] = cause
        return NSError(domain: errorDomain, code: code.rawValue, userInfo: userInfo)
    }
}
