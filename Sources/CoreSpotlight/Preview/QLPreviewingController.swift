// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The methods that render previews.
///
/// Searchlight shows data-based previews. Implement ``providePreview(for:)`` for items with a file,
/// and ``providePreviewOfSearchableItem(identifier:queryString:)`` for items without a file. The
/// methods that prepare a view only exist so that source code written for Apple's SDK compiles;
/// nothing calls them. Optional methods of Apple's protocol have default implementations here.
public protocol QLPreviewingController: NSObjectProtocol {
    /// Prepares a view of an indexed item.
    ///
    /// - Note: Unused on Linux: there are no views; previews are data.
    @preconcurrency
    func preparePreviewOfSearchableItem(
        identifier: String, queryString: String?, completionHandler handler: @escaping @Sendable ((any Error)?) -> Void)

    /// Prepares a view of an indexed item.
    ///
    /// - Note: Unused on Linux: there are no views; previews are data.
    func preparePreviewOfSearchableItem(identifier: String, queryString: String?) async throws

    /// Prepares a view of a file.
    ///
    /// - Note: Unused on Linux: there are no views; previews are data.
    @preconcurrency
    func preparePreviewOfFile(at url: URL, completionHandler handler: @escaping @Sendable ((any Error)?) -> Void)

    /// Prepares a view of a file.
    ///
    /// - Note: Unused on Linux: there are no views; previews are data.
    func preparePreviewOfFile(at url: URL) async throws

    /// Renders the preview of a file.
    @preconcurrency
    func providePreview(
        for request: QLFilePreviewRequest,
        completionHandler handler: @escaping @Sendable (QLPreviewReply?, (any Error)?) -> Void)

    /// Renders the preview of a file.
    ///
    /// - Throws: An error if the file cannot be rendered. The preview then shows the item's
    ///   attributes.
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply

    /// Renders the preview of an indexed item, which may or may not have a file. Called before the
    /// method for files. An addition for Linux, which has no views to prepare.
    ///
    /// - Parameters:
    ///   - identifier: The item's unique identifier.
    ///   - queryString: The user's search text; `nil` if there is none.
    /// - Throws: An error if the item cannot be rendered. The preview then shows the item's
    ///   attributes.
    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply
}

extension QLPreviewingController {
    /// Calls the handler with an error that says that the method is not implemented.
    @preconcurrency
    public func preparePreviewOfSearchableItem(
        identifier: String, queryString: String?, completionHandler handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        handler(UnservedRequest("preparePreviewOfSearchableItem(identifier:queryString:)", Self.self))
    }

    /// Calls the variant with a handler.
    public func preparePreviewOfSearchableItem(identifier: String, queryString: String?) async throws {
        try await answer { (answer: FirstAnswer<Void>) in
            preparePreviewOfSearchableItem(identifier: identifier, queryString: queryString) { error in
                answer.give((), error)
            }
        }
    }

    /// Calls the handler with an error that says that the method is not implemented.
    @preconcurrency
    public func preparePreviewOfFile(at url: URL, completionHandler handler: @escaping @Sendable ((any Error)?) -> Void)
    {
        handler(UnservedRequest("preparePreviewOfFile(at:)", Self.self))
    }

    /// Calls the variant with a handler.
    public func preparePreviewOfFile(at url: URL) async throws {
        try await answer { (answer: FirstAnswer<Void>) in
            preparePreviewOfFile(at: url) { error in answer.give((), error) }
        }
    }

    /// Calls the handler with an error that says that the method is not implemented.
    @preconcurrency
    public func providePreview(
        for request: QLFilePreviewRequest,
        completionHandler handler: @escaping @Sendable (QLPreviewReply?, (any Error)?) -> Void
    ) {
        handler(nil, UnservedRequest("providePreview(for:)", Self.self))
    }

    /// Calls the variant with a handler.
    public func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        try await answer { (answer: FirstAnswer<QLPreviewReply>) in
            providePreview(for: request) { reply, error in answer.give(reply, error) }
        }
    }

    /// Throws an error that says that the method is not implemented.
    public func providePreviewOfSearchableItem(
        identifier: String, queryString: String?
    ) async throws -> QLPreviewReply {
        throw UnservedRequest("providePreviewOfSearchableItem(identifier:queryString:)", Self.self)
    }
}
