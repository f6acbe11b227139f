// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Renders previews.
///
/// Searchlight shows data-based previews: implement ``providePreview(for:)`` for items with a file, and
/// ``providePreviewOfSearchableItem(identifier:queryString:)`` for items without. The methods that prepare a view are here
/// so that source written for Apple's SDK compiles; nothing calls them. Where Apple's protocol has optional methods, this
/// one has default implementations.
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

    /// Renders a file.
    @preconcurrency
    func providePreview(
        for request: QLFilePreviewRequest,
        completionHandler handler: @escaping @Sendable (QLPreviewReply?, (any Error)?) -> Void)

    /// Renders a file.
    ///
    /// - Throws: Why it cannot; the item is shown by its attributes then.
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply

    /// Renders an indexed item, whether it has a file or not; asked before the file is. An addition for Linux, where there
    /// are no views to prepare.
    ///
    /// - Parameters:
    ///   - identifier: the item's unique identifier.
    ///   - queryString: what the person typed, if anything.
    /// - Throws: Why it cannot; the item is shown by its attributes then.
    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply
}

extension QLPreviewingController {
    /// Says that it is not implemented.
    @preconcurrency
    public func preparePreviewOfSearchableItem(
        identifier: String, queryString: String?, completionHandler handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        handler(UnservedRequest("preparePreviewOfSearchableItem(identifier:queryString:)", Self.self))
    }

    /// Calls the form with a handler.
    public func preparePreviewOfSearchableItem(identifier: String, queryString: String?) async throws {
        try await answer { (answer: FirstAnswer<Void>) in
            preparePreviewOfSearchableItem(identifier: identifier, queryString: queryString) { error in
                answer.give((), error)
            }
        }
    }

    /// Says that it is not implemented.
    @preconcurrency
    public func preparePreviewOfFile(at url: URL, completionHandler handler: @escaping @Sendable ((any Error)?) -> Void)
    {
        handler(UnservedRequest("preparePreviewOfFile(at:)", Self.self))
    }

    /// Calls the form with a handler.
    public func preparePreviewOfFile(at url: URL) async throws {
        try await answer { (answer: FirstAnswer<Void>) in
            preparePreviewOfFile(at: url) { error in answer.give((), error) }
        }
    }

    /// Says that it is not implemented.
    @preconcurrency
    public func providePreview(
        for request: QLFilePreviewRequest,
        completionHandler handler: @escaping @Sendable (QLPreviewReply?, (any Error)?) -> Void
    ) {
        handler(nil, UnservedRequest("providePreview(for:)", Self.self))
    }

    /// Calls the form with a handler.
    public func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        try await answer { (answer: FirstAnswer<QLPreviewReply>) in
            providePreview(for: request) { reply, error in answer.give(reply, error) }
        }
    }

    /// Says that it is not implemented.
    public func providePreviewOfSearchableItem(
        identifier: String, queryString: String?
    ) async throws -> QLPreviewReply {
        throw UnservedRequest("providePreviewOfSearchableItem(identifier:queryString:)", Self.self)
    }
}
