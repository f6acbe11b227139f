// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Previews
import Promises
import SearchIndex
import Synchronization
import UniformTypeIdentifiers

extension SearchlightEngine {
    package func preview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview {
        let problem: String?
        do throws(EngineError) {
            return try await renderedPreview(of: item, query: query)
        } catch {
            switch error {
            case .extension(.cancelled) where Task.isCancelled: throw error
            case .extension(.notFound): problem = nil
            case .extension(.failed(_, _, .unsupported, let message)): problem = message.isEmpty ? nil : message
            default: problem = error.description
            }
        }
        return try await onPreviewWork { _ in
            let reference = item.record.thumbnailReference
            let preview = AttributePreview(
                item.record, query: query, thumbnail: reference.flatMap { try? Thumbnail.read($0) })
            return Preview(
                title: preview.title, contentType: UTType.html.identifier, content: Array(preview.html.utf8),
                source: .attributes, problem: problem)
        }
    }

    private func renderedPreview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview {
        let bundle = item.scope.bundle
        let reply = try await noticingAbsence(of: item) { (host) throws(ExtensionError) in
            try await host.preview(
                item: item.record.uniqueIdentifier, query: query, contentPath: item.record.contentPath, bundle)
        }
        let bytes = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(reply.content, limit: Preview.maximumBytes)
        }
        let title = AttributePreview(item.record, query: nil).title
        let result = try await onPreviewWork { isCancelled in
            Result { () throws(PreviewRefusal) in
                try PreviewComposer(query: query).preview(
                    reply.header, bytes: bytes, title: title, isCancelled: isCancelled)
            }
        }
        switch result {
        case .success(let preview?): return preview
        case .success(nil): throw .extension(.cancelled)
        case .failure(let refusal):
            throw .extension(
                .malformedAnswer(
                    identifier: bundle, during: "preview \(item.record.uniqueIdentifier)", reason: refusal.reason))
        }
    }
}

/// Runs a preview computation on a thread that may block. Cancelling the task sets a flag that the
/// computation polls.
///
/// - Parameter body: The computation. Its parameter returns `true` once the task is cancelled.
/// - Throws: ``ExtensionError/cancelled``.
private func onPreviewWork<Value: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: () -> Bool) -> Value
) async throws(EngineError) -> Value {
    guard !Task.isCancelled else { throw .extension(.cancelled) }
    let flag = CancelFlag()
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: body { flag.isSet.load(ordering: .relaxed) })
            }
        }
    } onCancel: {
        flag.isSet.store(true, ordering: .relaxed)
    }
}

private final class CancelFlag: Sendable {
    let isSet = Atomic(false)
}
