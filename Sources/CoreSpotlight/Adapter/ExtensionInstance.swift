// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension

/// The extension object behind the C interface: the principal object and the connection to its host.
final class ExtensionInstance: @unchecked Sendable {
    // Sendable: nothing changes after init. The principal object is called from several threads at once by contract, as
    // on Apple's systems; guarding its own state is up to the class.

    let connection: HostConnection
    private let sender: RequestSender
    let index: CSSearchableIndex
    private let handler: CSIndexExtensionRequestHandler?
    private let previewing: (any QLPreviewingController)?

    var servesIndex: Bool { handler != nil }
    var servesPreviews: Bool { previewing != nil }

    /// Makes the principal object that the host's manifest names.
    init(_ connection: HostConnection) throws(HostFailure) {
        self.connection = connection
        sender = RequestSender(transport: WorkerTransport(connection: connection))
        index = CSSearchableIndex(name: nil, sender: sender)
        // Before the object is made, for its init may ask whether there is an index.
        ProcessSenders.add(sender)
        do throws(HostFailure) {
            let principal = try PrincipalClass.make(connection.principalClass, in: connection.bundlePath)
            handler = principal as? CSIndexExtensionRequestHandler
            previewing = principal as? any QLPreviewingController
            principal.beginRequest(with: NSExtensionContext())
        } catch {
            ProcessSenders.remove(sender)
            throw error
        }
    }

    /// Lets nothing more through to the host, which is about to go.
    func close() {
        ProcessSenders.remove(sender)
        connection.close()
        PendingCompletions.failAll(of: connection)
    }

    // MARK: Requests

    func reindexAll(_ answer: RequestAnswer) {
        handler?.searchableIndex(index, reindexAllSearchableItemsWithAcknowledgementHandler: { answer.acknowledge() })
    }

    func reindex(_ identifiers: [String], _ answer: RequestAnswer) {
        handler?.searchableIndex(
            index, reindexSearchableItemsWithIdentifiers: identifiers,
            acknowledgementHandler: { answer.acknowledge() })
    }

    func throttle() { handler?.searchableIndexDidThrottle(index) }

    func finishThrottle() { handler?.searchableIndexDidFinishThrottle(index) }

    func provideData(of item: String, as type: String, _ answer: RequestAnswer) {
        do {
            guard let data = try handler?.data(for: index, itemIdentifier: item, typeIdentifier: type) else { return }
            // Apple's template answers for unknown items with empty data.
            if data.isEmpty {
                answer.fail(SEARCHLIGHT_NOT_FOUND, "The extension has no data of type \(type) for item \"\(item)\".")
            } else {
                answer.finish(data: data)
            }
        } catch {
            answer.fail(HostFailure(thrown: error))
        }
    }

    /// The file is the handler's: it may be an original wherever it lies, so what is made for the request only is for the
    /// handler to clear away.
    func provideFile(of item: String, as type: String, inPlace: Bool, _ answer: RequestAnswer) {
        do {
            let url = try handler?.fileURL(for: index, itemIdentifier: item, typeIdentifier: type, inPlace: inPlace)
            guard let url else { return }
            guard url.isFileURL else {
                return answer.fail(
                    SEARCHLIGHT_FAILED, "The extension answered with \(url.absoluteString), which is not a file.")
            }
            // Apple's template answers for unknown items with the URL "file://".
            guard !["", "/"].contains(url.path) else {
                return answer.fail(
                    SEARCHLIGHT_NOT_FOUND, "The extension has no file of type \(type) for item \"\(item)\".")
            }
            answer.finish(path: url.path)
        } catch {
            answer.fail(HostFailure(thrown: error))
        }
    }

    func preview(_ item: String, query: String?, file: URL?, _ answer: RequestAnswer) async {
        guard let previewing else { return }
        do {
            let reply = try await Self.reply(previewing, item, query, file)
            guard !answer.isCancelled else {
                return answer.fail(SEARCHLIGHT_CANCELLED, "The preview was cancelled.")
            }
            answer.finish(preview: try RenderedPreview(reply))
        } catch {
            answer.fail(HostFailure(thrown: error))
        }
    }

    private static func reply(
        _ previewing: any QLPreviewingController, _ item: String, _ query: String?, _ file: URL?
    ) async throws -> QLPreviewReply {
        do {
            return try await previewing.providePreviewOfSearchableItem(identifier: item, queryString: query)
        } catch let error as UnservedRequest {
            guard let file else { throw error }
            return try await previewing.providePreview(for: QLFilePreviewRequest(fileURL: file))
        }
    }
}

extension HostFailure {
    /// What an extension's method threw, as the host is told.
    init(thrown error: any Error) {
        switch error {
        case let failure as HostFailure: self = failure
        case let unserved as UnservedRequest: self.init(SEARCHLIGHT_UNSUPPORTED, unserved.description)
        case is CancellationError: self.init(SEARCHLIGHT_CANCELLED, "The extension cancelled the request.")
        case let error as any CustomStringConvertible & Error where !(error is any LocalizedError):
            self.init(SEARCHLIGHT_FAILED, error.description)
        default: self.init(SEARCHLIGHT_FAILED, error.localizedDescription)
        }
    }
}
