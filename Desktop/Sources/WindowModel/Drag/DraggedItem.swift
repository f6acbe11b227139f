// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import Foundation
import Glibc
import Promises
import Synchronization
import UniformTypeIdentifiers

/// An item in a drag. It fulfils promises when a receiver requests them, and keeps the results,
/// because receivers request some types repeatedly while the pointer is above them.
///
/// A representation is complete before the receiver gets its first byte, so a failed promise leaves
/// no partial content. May be used from any task.
package actor DraggedItem<Provider: PromiseProvider>: DragContent {
    /// The title, for messages.
    package nonisolated let title: String
    /// The offered media types with their promises.
    package nonisolated let offer: DragOffer
    package nonisolated var mediaTypes: [String] { offer.mediaTypes }
    private let item: Provider.Item
    private let name: @Sendable (_ type: String?) -> FileName
    private let provider: Provider
    private let folder: DropFolder
    private let onProgress: @Sendable (_ percentage: Int?) -> Void
    private var fulfilled: [Representation: Task<Result<String, DragFailure>, Never>] = [:]
    private var ownFolder: String?

    /// The maximum size of a representation, in bytes.
    package static var maximumBytes: UInt64 { 1 << 30 }

    /// Creates a drag of an item.
    ///
    /// - Parameters:
    ///   - name: Returns the name for a file with a given type.
    ///   - onProgress: Called while a promise is fulfilled, with the percentage if it is known;
    ///     called on any thread.
    package init(
        _ item: Provider.Item, title: String, offer: DragOffer, provider: Provider, folder: DropFolder,
        name: @escaping @Sendable (_ type: String?) -> FileName,
        onProgress: @escaping @Sendable (_ percentage: Int?) -> Void = { _ in }
    ) {
        (self.item, self.title, self.offer, self.provider, self.folder) = (item, title, offer, provider, folder)
        (self.name, self.onProgress) = (name, onProgress)
    }

    /// Announces that requests will follow soon.
    package func prewarm() async { await provider.prewarm([item]) }

    /// Returns the content for a media type.
    ///
    /// - Throws: ``DragFailure``.
    package func content(of mediaType: String) async throws(DragFailure) -> DroppedContent {
        switch offer.answer(to: mediaType) {
        case .text(let text): return .bytes(Array(text.utf8))
        case .content(let resolution): return .file(path: try await path(resolution))
        // The same file also serves a receiver that requests the bytes.
        case .copy(let resolution), .original(let resolution):
            let path = try await path(resolution)
            if MediaType.fileTransfers.contains(mediaType) { return .transfer(path: path) }
            return .bytes(Array((LaunchResource.file(path).uri + "\r\n").utf8))
        case nil:
            throw DragFailure(.unsupportedType, "The item does not offer \(mediaType).")
        }
    }

    /// Ends a drag without a drop: cancels requests and removes files.
    package func discard() {
        for task in fulfilled.values { task.cancel() }
        fulfilled = [:]
        if let ownFolder { try? FileManager.default.removeItem(atPath: ownFolder) }
        ownFolder = nil
    }

    /// Returns the path of a fulfilled representation. Requests for the same representation share a
    /// task.
    private func path(_ resolution: PromiseResolution) async throws(DragFailure) -> String {
        guard let choice = resolution.choice else {
            throw DragFailure(.unsupportedType, "No representation is available.")
        }
        let task = fulfilled[choice] ?? Task { await self.fulfil(choice, resolution) }
        fulfilled[choice] = task
        let result = await task.value
        if case .failure = result, fulfilled[choice] == task { fulfilled[choice] = nil }
        return try result.get()
    }

    private func fulfil(_ choice: Representation, _ resolution: PromiseResolution) async -> Result<String, DragFailure>
    {
        let target: DropTarget
        if choice.form == .inPlaceFile {
            target = .inPlace
        } else {
            do throws(DropFolder.Unusable) {
                if ownFolder == nil { ownFolder = try self.folder.makeFolder() }
                target = .deliver(.folder(path: ownFolder ?? self.folder.path, name: name(choice.type)))
            } catch {
                return .failure(DragFailure(.inputOutput, error.description))
            }
        }
        var options = DragOptions()
        options.consentLimit = Self.maximumBytes
        options.consent = { bytes, _ in
            DragFailure(
                .refused,
                "Its size is \(bytes.formatted(.byteCount(style: .file))), too much for a drag. "
                    + "“searchlight drag” has no limit.")
        }
        let session = DragSession(
            provider, items: [.init(item, resolution: resolution, target: target)], options: options
        ) { [onProgress] progress in
            onProgress(progress.preparing.map(\.percentage) ?? nil)
        }
        switch await session.drop().first {
        case .fulfilled(let fulfilment):
            guard let path = fulfilment.path else {
                return .failure(DragFailure(.failed, "The content has no file."))
            }
            return .success(path)
        case .failed(let failure): return .failure(failure)
        case nil: return .failure(DragFailure(.cancelled, "The drag was cancelled."))
        }
    }
}
