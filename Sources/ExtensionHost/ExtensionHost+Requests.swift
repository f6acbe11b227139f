// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

extension ExtensionHost {
    /// Has everything of a bundle donated. Returns once that was acknowledged.
    ///
    /// - Parameter onAsking: Told who will be asked, before that; again if it is somebody else's turn.
    /// - Throws: ``ExtensionError``; then the reindex is still owed.
    public func reindexAll(
        _ identifier: String, onAsking: @Sendable (Donor) -> Void = { _ in }
    ) async throws(ExtensionError) {
        _ = try await perform(.reindexAll, identifier, onAsking: onAsking)
    }

    /// Has some items of a bundle donated again, or deleted. Returns once that was acknowledged.
    ///
    /// - Throws: ``ExtensionError``.
    public func reindexItems(_ items: [String], _ identifier: String) async throws(ExtensionError) {
        _ = try await perform(.reindexItems(items), identifier)
    }

    /// Fulfils a data promise.
    ///
    /// - Parameters:
    ///   - passedOver: Delegates that are not asked.
    ///   - onAsking: Told who will be asked, as by ``reindexAll(_:onAsking:)``.
    /// - Throws: ``ExtensionError``.
    public func data(
        item: String, type: String, _ identifier: String, passingOver passedOver: Set<DelegateToken> = [],
        onAsking: @Sendable (Donor) -> Void = { _ in }
    ) async throws(ExtensionError) -> Payload {
        let request = WorkerRequest.provideData(item: item, type: type)
        let answer = try await perform(request, identifier, passingOver: passedOver, onAsking: onAsking)
        return try read(answer, request, identifier) { (arguments) throws(BusError) in try Payload(&arguments) }
    }

    /// Fulfils a file promise; with the original if `inPlace`.
    ///
    /// - Throws: ``ExtensionError``.
    public func file(
        item: String, type: String, inPlace: Bool, _ identifier: String
    ) async throws(ExtensionError) -> FileReply {
        let request = WorkerRequest.provideFile(item: item, type: type, inPlace: inPlace)
        return try read(try await perform(request, identifier), request, identifier) { (arguments) throws(BusError) in
            try FileReply(&arguments)
        }
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
