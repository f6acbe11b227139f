// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension

/// The extension behind the C interface: the principal object and the connection to its host.
final class ExtensionInstance: @unchecked Sendable {
    // Sendable: nothing changes after `init`. By contract, the principal object may be called from
    // several threads at once, as on Apple's systems, and its class must protect its own state.

    let connection: HostConnection
    private let sender: RequestSender
    let index: CSSearchableIndex
    /// The principal object, if it handles index requests.
    private let asked: AskedDelegate?
    private let previewing: (any QLPreviewingController)?

    var servesIndex: Bool { asked != nil }
    var servesPages: Bool { asked?.handlesPages == true }
    var servesFileChanges: Bool { asked?.handlesFileChanges == true }
    var servesPreviews: Bool { previewing != nil }

    /// Creates the principal object that the manifest names.
    init(_ connection: HostConnection) throws(HostFailure) {
        self.connection = connection
        sender = RequestSender(transport: WorkerTransport(connection: connection))
        index = CSSearchableIndex(name: nil, sender: sender)
        // The sender is added first, because the object's `init` may check whether an index is
        // available.
        ProcessSenders.add(sender)
        do throws(HostFailure) {
            let principal = try PrincipalClass.make(connection.principalClass, in: connection.bundlePath)
            asked = (principal as? CSIndexExtensionRequestHandler).map { [index] in
                AskedDelegate(index: index, delegate: $0)
            }
            previewing = principal as? any QLPreviewingController
            principal.beginRequest(with: NSExtensionContext())
        } catch {
            ProcessSenders.remove(sender)
            throw error
        }
    }

    /// Blocks further calls to the host before the host is released.
    func close() {
        ProcessSenders.remove(sender)
        connection.close()
        PendingCompletions.failAll(of: connection)
    }

    // MARK: Requests

    func reindexAll(_ answer: RequestAnswer) { asked?.reindexAll(answer) }

    func reindex(_ identifiers: [String], _ answer: RequestAnswer) { asked?.reindex(identifiers, answer) }

    func refresh(
        _ identifiers: [String], inIndex name: String, _ protection: FileProtectionType, _ answer: RequestAnswer
    ) async {
        guard let asked else { return }
        let index = CSSearchableIndex(name: name, sender: sender, protectionClass: protection)
        await AskedDelegate(index: index, delegate: asked.delegate).refresh(identifiers, protection, answer)
    }

    func reindexPage(_ page: CSReindexPage, _ answer: RequestAnswer) { asked?.reindexPage(page, answer) }

    func updateFiles(_ changes: [CSFileChange], _ answer: RequestAnswer) { asked?.updateFiles(changes, answer) }

    func throttle() { asked?.throttle() }

    func finishThrottle() { asked?.finishThrottle() }

    func provideData(of item: String, as type: String, _ answer: RequestAnswer) {
        if let asked { answer.give(asked.data(of: item, as: type)) }
    }

    func provideFile(of item: String, as type: String, inPlace: Bool, _ answer: RequestAnswer) {
        if let asked { answer.give(asked.file(of: item, as: type, inPlace: inPlace)) }
    }

    func preview(_ item: String, query: String?, file: URL?, _ answer: RequestAnswer) async {
        guard let previewing else { return }
        do {
            let reply = try await Self.reply(previewing, item, query, file)
            guard !answer.isCancelled else {
                return answer.give(.failed(HostFailure(SEARCHLIGHT_CANCELLED, "The preview was cancelled.")))
            }
            answer.give(.preview(try RenderedPreview(reply)))
        } catch {
            answer.give(.failed(HostFailure(thrown: error)))
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
    /// Converts an error thrown by an extension's method to a failure for the host.
    init(thrown error: any Error) {
        switch error {
        case let failure as HostFailure: self = failure
        case let unserved as UnservedRequest: self.init(SEARCHLIGHT_UNSUPPORTED, unserved.description)
        case is CancellationError: self.init(SEARCHLIGHT_CANCELLED, "The extension cancelled the request.")
        case CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile, POSIXError.ENOENT:
            self.init(SEARCHLIGHT_NOT_FOUND, error.localizedDescription)
        case let error as any CustomStringConvertible & Error where !(error is any LocalizedError):
            self.init(SEARCHLIGHT_FAILED, error.description)
        default: self.init(SEARCHLIGHT_FAILED, error.localizedDescription)
        }
    }
}
