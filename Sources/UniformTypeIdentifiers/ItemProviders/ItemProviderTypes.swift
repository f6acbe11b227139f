// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The visibility of a representation.
///
/// - Note: Unused on Linux: a provider does not leave its process.
public enum NSItemProviderRepresentationVisibility: Int, Hashable, Sendable {
    /// All processes.
    case all = 0
    /// Apps of the same team.
    case team = 1
    /// Apps of the same group.
    case group = 2
    /// Only the process itself.
    case ownProcess = 3
}

/// The options of a file representation.
public struct NSItemProviderFileOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The original file may be opened in place.
    public static let openInPlace = NSItemProviderFileOptions(rawValue: 1)
}

/// An object that can be converted to data of certain types.
public protocol NSItemProviderWriting: NSObjectProtocol {
    /// The types to which objects of the class can be converted, best first.
    static var writableTypeIdentifiersForItemProvider: [String] { get }

    /// The types to which this object can be converted, best first. Optional.
    var writableTypeIdentifiersForItemProvider: [String] { get }

    /// Returns the visibility of one of the class's types. Optional.
    static func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility

    /// Returns the visibility of one of this object's types. Optional.
    func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility

    /// Converts the object to data of one of its types, and calls the handler once, on any thread.
    ///
    /// - Returns: The progress of the conversion, which can be used to cancel it.
    @preconcurrency
    func loadData(
        withTypeIdentifier typeIdentifier: String,
        forItemProviderCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress?
}

extension NSItemProviderWriting {
    /// The types of the class.
    public var writableTypeIdentifiersForItemProvider: [String] { Self.writableTypeIdentifiersForItemProvider }

    /// The visibility ``NSItemProviderRepresentationVisibility/all``.
    public static func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility {
        .all
    }

    /// Returns the visibility declared by the class.
    public func itemProviderVisibilityForRepresentation(
        withTypeIdentifier typeIdentifier: String
    ) -> NSItemProviderRepresentationVisibility {
        Self.itemProviderVisibilityForRepresentation(withTypeIdentifier: typeIdentifier)
    }
}

/// An object that can be created from data of certain types.
public protocol NSItemProviderReading: NSObjectProtocol {
    /// The types from which objects of the class can be created, best first.
    static var readableTypeIdentifiersForItemProvider: [String] { get }

    /// Creates an object from data of one of these types.
    ///
    /// - Throws: An error if the data is invalid.
    static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> Self
}

extension NSItemProvider {
    /// A handler that receives an item or an error.
    public typealias CompletionHandler = @Sendable ((any NSSecureCoding)?, (any Error)?) -> Void

    /// A handler that creates an item and passes it to the completion handler. The class is the
    /// receiver's preferred class, if known.
    public typealias LoadHandler = @Sendable (CompletionHandler?, AnyClass?, [AnyHashable: Any]?) -> Void

    /// The domain of item provider errors.
    public static let errorDomain = "NSItemProviderErrorDomain"

    /// The codes of item provider errors.
    public enum ErrorCode: Int, Hashable, Sendable {
        /// An error that is not covered by the other codes.
        case unknownError = -1
        /// The representation does not exist.
        case itemUnavailableError = -1000
        /// The representation has a class other than the declared one.
        case unexpectedValueClassError = -1100
        /// The representation cannot be converted as requested.
        case unavailableCoercionError = -1200
    }

    package static func error(_ code: ErrorCode, _ description: String, _ cause: (any Error)? = nil) -> NSError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        userInfo[NSUnderlyingErrorKey] = cause
        return NSError(domain: errorDomain, code: code.rawValue, userInfo: userInfo)
    }
}
