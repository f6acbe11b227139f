// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import ServiceMessages
import SystemSupport
import UniformTypeIdentifiers

extension ExtensionHost {
    /// Has everything of a bundle donated. Returns once that was acknowledged, or once it is known that the extension wants
    /// to be asked page by page.
    ///
    /// - Parameters:
    ///   - origin: Who wants it; a person overrides a back-off.
    ///   - onAsking: Told who will be asked, before that; again if it is somebody else's turn.
    /// - Throws: ``ExtensionError``; then the reindex is still owed.
    public func reindexAll(
        _ identifier: String, origin: RequestOrigin = .person, onAsking: @Sendable (Donor) -> Void = { _ in }
    ) async throws(ExtensionError) -> WholeReindex {
        let answer = try await perform(.reindexAll, identifier, origin, onAsking: onAsking)
        return answer.isEmpty ? .acknowledged : .inPages
    }

    /// Has the extension of a bundle donate one page of everything; its app is not asked, for apps know no pages. Returns
    /// once the page was acknowledged.
    ///
    /// - Throws: ``ExtensionError``; then the page is still owed.
    public func reindexPage(
        _ page: ReindexPage, _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) -> ReindexPageReply {
        let request = WorkerRequest.reindexPage(page)
        let answer = try await perform(request, identifier, origin)
        return try read(answer, request, identifier) { (arguments) throws(BusError) in
            try ReindexPageReply(&arguments)
        }
    }

    /// Has some items of a bundle donated again, or deleted. Returns once that was acknowledged, but for those with which
    /// the extension fails and does not without: they are set aside (``ExtensionHealth/itemsSetAside``), and told as
    /// ``ExtensionEvent/setAside(bundle:item:reason:)``. Items that were set aside before are asked for if a person wants it.
    public func reindexItems(
        _ items: [String], _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) {
        _ = try await perform(.reindexItems(items), identifier, origin)
    }

    /// Has the items of some files donated, donated again or deleted. Returns once that was acknowledged.
    ///
    /// - Parameter changes: At most 1,024.
    /// - Throws: ``ExtensionError``, with the status `unsupported` if the extension has no interface `searchlight.changes/1`.
    public func updateFiles(
        _ changes: [FileChange], _ identifier: String, origin: RequestOrigin = .person
    ) async throws(ExtensionError) {
        _ = try await perform(.updateFiles(changes), identifier, origin)
    }

    /// Fulfils a data promise.
    ///
    /// - Parameter options: How it is asked for.
    public func data(
        item: String, type: String, _ identifier: String, options: RequestOptions = .standard
    ) async throws(ExtensionError) -> Payload {
        let request = WorkerRequest.provideData(item: item, type: type)
        let answer = try await perform(request, identifier, options: options)
        return try read(answer, request, identifier) { (arguments) throws(BusError) in try Payload(&arguments) }
    }

    /// Fulfils a file promise; with the original if `inPlace`.
    ///
    /// - Parameter options: How it is asked for.
    /// - Returns: A file or a folder, opened by the worker under its sandbox.
    public func file(
        item: String, type: String, inPlace: Bool, _ identifier: String, options: RequestOptions = .standard
    ) async throws(ExtensionError) -> FileReply {
        let request = WorkerRequest.provideFile(item: item, type: type, inPlace: inPlace)
        let answer = try await perform(request, identifier, options: options)
        let reply = try read(answer, request, identifier) { (arguments) throws(BusError) in try FileReply(&arguments) }
        var status = stat()
        // Of a type that nobody declares, nobody knows whether its files are folders.
        if let promised = UTType(type), !promised.isDynamic, !promised.conforms(to: .directory),
            fstat(reply.descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
        {
            throw .failed(
                identifier: identifier, during: request.purpose, status: .unsupported,
                message: "it gave a folder, not a regular file, and \(type) is no type of folders")
        }
        return reply
    }

    /// Has an item rendered.
    ///
    /// - Throws: ``ExtensionError``; `unsupported` if nobody renders it.
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

/// How an extension is asked something.
public struct RequestOptions: Sendable {
    /// Told how much is done: `completed` of `total` units of the extension's choice; `total` is 0 if it is not known.
    public typealias ProgressListener = @Sendable (_ completed: UInt64, _ total: UInt64) -> Void

    let mayRetry: Bool
    let onRetry: @Sendable () -> Void
    let onProgress: ProgressListener

    /// Creates options. What is called is called on any thread, and must not block.
    ///
    /// - Parameters:
    ///   - mayRetry: Whether a request that is under way when its worker ends is made once more in a fresh one.
    ///   - onRetry: Called when the second attempt begins.
    ///   - onProgress: Told of this request's progress, a few times a second at most.
    public init(
        mayRetry: Bool = true, onRetry: @escaping @Sendable () -> Void = {},
        onProgress: @escaping ProgressListener = { _, _ in }
    ) {
        self.mayRetry = mayRetry
        self.onRetry = onRetry
        self.onProgress = onProgress
    }

    /// One more attempt, as the design has it, and nobody who watches.
    public static let standard = RequestOptions()
}

/// What came of asking for everything.
public enum WholeReindex: Hashable, Sendable {
    /// All was donated.
    case acknowledged
    /// Nothing was: the extension is to be asked page by page (`searchlight.paging/1`).
    case inPages

    static let pagingInterface = "searchlight.paging/1"

    /// The arguments of the answer.
    var arguments: [BusValue] { self == .acknowledged ? [] : [.boolean(true)] }
}

extension WorkerRequest {
    /// Whether an app may be asked instead of its extension.
    var isForApps: Bool { if case .reindexPage = self { false } else { true } }

    /// Whether everything has been donated once the request was answered so.
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
    /// What tells the files of the bundle, and the worker that loads them, from those of another version.
    public func fingerprint(workerPath: String) -> String {
        let print = BundleFingerprint(self, workerPath: workerPath)
        return [print.manifest, print.library, print.worker].map { stamp in
            stamp.map { "\($0.device)/\($0.inode)/\($0.size)/\($0.seconds).\($0.nanoseconds)" } ?? "-"
        }.joined(separator: " ")
    }
}
