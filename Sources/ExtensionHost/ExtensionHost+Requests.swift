// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import ServiceMessages
import SystemSupport
import UniformTypeIdentifiers

extension ExtensionHost {
    /// Asks a bundle to donate all of its items. Returns once the bundle has acknowledged, or has
    /// replied that it wants to be asked page by page.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request. An interactive request (`.person`) overrides a
    ///     back-off.
    ///   - lockedIndexes: The names of the bundle's encrypted indexes while they are locked. An app
    ///     is then asked through the delegates of its other indexes only.
    ///   - onAsking: Called with the responder before it is asked, and again for each further
    ///     responder.
    /// - Throws: ``ExtensionError``; the reindex is then still pending.
    public func reindexAll(
        _ identifier: String, origin: RequestOrigin = .person, lockedIndexes: Set<String> = [],
        onAsking: @Sendable (Donor) -> Void = { _ in }
    ) async throws(ExtensionError) -> WholeReindex {
        let toApps: WorkerRequest? =
            lockedIndexes.isEmpty ? nil : .reindexUnlocked(lockedIndexes: lockedIndexes.sorted())
        let answer = try await perform(.reindexAll, toApps: toApps, identifier, origin, onAsking: onAsking)
        return answer.isEmpty ? .acknowledged : .inPages
    }

    /// Asks a bundle's extension to donate one page of its items. Returns once the extension has
    /// acknowledged the page. The bundle's app is not asked, because delegates have no paging
    /// interface.
    ///
    /// - Throws: ``ExtensionError``; the page is then still pending.
    public func reindexPage(
        _ page: ReindexPage, _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) -> ReindexPageReply {
        let request = WorkerRequest.reindexPage(page)
        let answer = try await perform(request, identifier, origin)
        return try read(answer, request, identifier) { (arguments) throws(BusError) in
            try ReindexPageReply(&arguments)
        }
    }

    /// Asks a bundle to donate some items again, or to delete them. Returns once the bundle has
    /// acknowledged.
    /// Items that make the extension fail on their own are skip-listed
    /// (``ExtensionHealth/itemsSetAside``) and reported as
    /// ``ExtensionEvent/setAside(bundle:item:reason:)``. Only an interactive request includes items
    /// that were skip-listed before.
    public func reindexItems(
        _ items: [String], _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) {
        _ = try await perform(.reindexItems(items), identifier, origin)
    }

    /// Asks a bundle to donate some items of an encrypted index again, or to delete them. Returns
    /// once the bundle has acknowledged.
    ///
    /// The identifiers are written nowhere, so items that make the extension fail on their own are
    /// not skip-listed. The other items are requested without them.
    ///
    /// - Throws: ``ExtensionError``, without the words and the output of the extension, which may
    ///   contain identifiers.
    public func reindexEncrypted(
        _ items: EncryptedItems, _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) {
        _ = try await perform(.reindexEncrypted(items), identifier, origin, options: .confidential)
    }

    /// Asks a bundle to donate some items again, as ``reindexItems(_:_:origin:)`` does, and records
    /// nothing about them, as ``reindexEncrypted(_:_:origin:)`` does.
    public func reindexUnrecorded(
        _ items: [String], _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) {
        _ = try await perform(.reindexItems(items), identifier, origin, options: .confidential)
    }

    /// Asks an extension to update the items for the given files. Returns once the extension has
    /// acknowledged.
    ///
    /// - Parameter changes: At most 1,024 changes.
    /// - Throws: ``ExtensionError``, with the status `unsupported` if the extension does not
    ///   implement `searchlight.changes/1`.
    public func updateFiles(
        _ changes: [FileChange], _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) {
        _ = try await perform(.updateFiles(changes), identifier, origin)
    }

    /// Returns the data that an item promises in a type.
    ///
    /// - Parameter options: Retry and progress options.
    public func data(
        item: String, type: String, _ identifier: String, options: RequestOptions = .standard
    ) async throws(ExtensionError) -> Payload {
        let request = WorkerRequest.provideData(item: item, type: type)
        let answer = try await perform(request, identifier, options: options)
        return try read(answer, request, identifier) { (arguments) throws(BusError) in try Payload(&arguments) }
    }

    /// Returns the file that an item promises in a type.
    ///
    /// - Parameters:
    ///   - inPlace: `true` to get the original file instead of a copy.
    ///   - options: Retry and progress options.
    /// - Returns: A file or a folder, opened by the worker under its sandbox.
    public func file(
        item: String, type: String, inPlace: Bool, _ identifier: String, options: RequestOptions = .standard
    ) async throws(ExtensionError) -> FileReply {
        let request = WorkerRequest.provideFile(item: item, type: type, inPlace: inPlace)
        let answer = try await perform(request, identifier, options: options)
        let reply = try read(answer, request, identifier) { (arguments) throws(BusError) in try FileReply(&arguments) }
        var status = stat()
        // An undeclared (dynamic) type may be used for files or folders, so only declared types are
        // checked.
        if let promised = UTType(type), !promised.isDynamic, !promised.conforms(to: .directory),
            fstat(reply.descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
        {
            throw .failed(
                identifier: identifier, during: request.purpose, status: .unsupported,
                message: "it provided a folder, not a regular file, and \(type) is not a folder type")
        }
        return reply
    }

    /// Returns the extension's preview of an item.
    ///
    /// - Throws: ``ExtensionError``; the status is `unsupported` if no responder renders the item.
    public func preview(
        item: String, query: String?, contentPath: String?, _ identifier: String
    ) async throws(ExtensionError) -> PreviewReply {
        let request = WorkerRequest.preview(item: item, query: query, contentPath: contentPath)
        return try read(try await perform(request, identifier), request, identifier) { (arguments) throws(BusError) in
            try PreviewReply(&arguments)
        }
    }

    private func read<Value>(
        _ answer: [BusValue], _ request: WorkerRequest, _ identifier: String,
        _ read: (inout BusArguments) throws(BusError) -> Value
    ) throws(ExtensionError) -> Value {
        var arguments = BusArguments(answer, of: request.member.member)
        do throws(BusError) {
            let value = try read(&arguments)
            try arguments.finish()
            return value
        } catch {
            throw .malformedAnswer(identifier: identifier, during: request.purpose, reason: error.description)
        }
    }
}

/// Retry and progress options for a request to an extension.
public struct RequestOptions: Sendable {
    /// A progress callback: `completed` of `total` units, which the extension defines. `total` is 0
    /// if it is unknown.
    public typealias ProgressListener = @Sendable (_ completed: UInt64, _ total: UInt64) -> Void

    let mayRetry: Bool
    /// `true` if nothing about the request may be recorded.
    private(set) var isConfidential = false
    let onRetry: @Sendable () -> Void
    let onProgress: ProgressListener

    /// Creates options. The closures are called on any thread and must not block.
    ///
    /// - Parameters:
    ///   - mayRetry: `true` to send the request once more, to a fresh worker, if its worker exits
    ///     during the request.
    ///   - onRetry: Called when the second attempt begins.
    ///   - onProgress: Called with this request's progress, at most a few times per second.
    public init(
        mayRetry: Bool = true, onRetry: @escaping @Sendable () -> Void = {},
        onProgress: @escaping ProgressListener = { _, _ in }
    ) {
        self.mayRetry = mayRetry
        self.onRetry = onRetry
        self.onProgress = onProgress
    }

    /// Options with one retry and without callbacks.
    public static let standard = RequestOptions()

    static let confidential = {
        var options = RequestOptions()
        options.isConfidential = true
        return options
    }()
}

/// The outcome of a request to donate all items.
public enum WholeReindex: Hashable, Sendable {
    /// All items were donated.
    case acknowledged
    /// No item was donated. The extension must be asked page by page (`searchlight.paging/1`).
    case inPages

    static let pagingInterface = "searchlight.paging/1"

    /// The arguments of the reply to the caller.
    var arguments: [BusValue] { self == .acknowledged ? [] : [.boolean(true)] }
}

extension WorkerRequest {
    /// `true` if a delegate app may handle the request instead of the extension.
    var isForApps: Bool { if case .reindexPage = self { false } else { true } }

    /// Returns `true` if this reply to the request means that all items have been donated.
    func donatesAll(_ answer: [BusValue]) -> Bool {
        switch self {
        case .reindexAll: return answer.isEmpty
        case .reindexPage:
            var arguments = BusArguments(answer, of: member.member)
            guard let reply = try? ReindexPageReply(&arguments) else { return false }
            return reply.next == nil
        default: return false
        }
    }
}

extension ExtensionBundle {
    /// Returns a string that identifies the version of the bundle's files and of the worker program
    /// that loads them.
    public func fingerprint(workerPath: String) -> String {
        let print = BundleFingerprint(self, workerPath: workerPath)
        return [print.manifest, print.library, print.worker].map { stamp in
            stamp.map { "\($0.device)/\($0.inode)/\($0.size)/\($0.seconds).\($0.nanoseconds)" } ?? "-"
        }.joined(separator: " ")
    }
}
