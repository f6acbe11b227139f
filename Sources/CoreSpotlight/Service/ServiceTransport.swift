// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Dispatch
import Foundation
internal import ItemRecord
internal import ServiceMessages

/// Transports index requests, queries and promise requests to the service.
struct ServiceTransport: IndexTransport, QueryTransport, PromiseTransport {
    let connection: ServiceConnection

    // MARK: Index

    func send(_ request: IndexRequest, completion: @escaping @Sendable (IndexTransport.Outcome) -> Void) {
        connection.ask(.index(request)) { result in
            completion(
                Result { () throws(CSIndexError) in
                    do throws(BusError) {
                        let values = try result.get()
                        guard case .clientState = request else { return nil }
                        return try read(values, of: request.member) { (arguments) throws(BusError) in
                            try ClientStateReply(&arguments).state
                        }
                    } catch {
                        throw CSIndexError(error)
                    }
                })
        }
    }

    func list(
        index: String?, after: String, limit: Int,
        completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void
    ) {
        let request = IndexRequest.identifiers(index: index, after: after, limit: UInt64(limit))
        connection.ask(.index(request)) { result in
            completion(
                Result { () throws(CSIndexError) in
                    do throws(BusError) {
                        return try read(try result.get(), of: request.member) { (arguments) throws(BusError) in
                            try arguments.strings()
                        }
                    } catch {
                        throw CSIndexError(error)
                    }
                })
        }
    }

    // MARK: Queries

    func page(_ request: ResultPageRequest, number: UInt64) async throws(CSSearchQueryError) -> ResultPage {
        let page = QueryPageRequest(
            text: request.text, filters: request.filters, attributes: request.attributes, cursor: request.cursor,
            limit: UInt64(request.limit), classes: request.classes)
        let query: QueryRequest =
            switch request.kind {
            case .query: .query(number: number, page)
            case .userText: .search(number: number, page)
            case .userWords: .searchWords(number: number, page)
            }
        return try await ask(query) { (arguments) throws(BusError) in
            let reply = try QueryPageReply(&arguments)
            do throws(ItemRecordError) {
                let records = try RecordBatch.split(reply.records).map { Array($0) }
                return ResultPage(records: records, next: reply.next.isEmpty ? nil : reply.next)
            } catch {
                throw .malformed("a page of found items: \(error)")
            }
        }
    }

    func suggestions(for text: String, limit: Int, number: UInt64) async throws(CSSearchQueryError) -> [String] {
        let limit = min(UInt64(max(0, limit)), QueryRequest.maximumSuggestions)
        return try await ask(.suggest(number: number, text: text, limit: limit)) { (arguments) throws(BusError) in
            let texts = try arguments.strings()
            try arguments.finish()
            return texts
        }
    }

    func engaged(item: String, after text: String, kind: String, number: UInt64) {
        let request = QueryRequest.engaged(number: number, item: item, text: text, kind: kind)
        // Sent as a question, because questions are sent again over the next connection.
        connection.ask(.question(request.member, request.arguments)) { _ in }
    }

    func prepare(number: UInt64) {
        let request = QueryRequest.prepare(number: number)
        connection.ask(.question(request.member, request.arguments)) { _ in }
    }

    func cancel(number: UInt64) {
        let request = QueryRequest.cancel(number: number)
        connection.tell(request.member, request.arguments)
    }

    // MARK: Promises

    /// The maximum number of bytes that are fetched into memory.
    static let maximumFetchedBytes = 256 << 20

    func fetchData(bundle: String, item: String, type: String) async throws(CSIndexError) -> Data {
        let request = PromiseRequest.fetchData(bundle: bundle, item: item, type: type)
        do throws(BusError) {
            let values = try await connection.answer(request.member, request.arguments)
            let payload = try read(values, of: request.member) { (arguments) throws(BusError) in
                try Payload(&arguments)
            }
            return try await Self.data(payload).get()
        } catch {
            throw CSIndexError(promise: error)
        }
    }

    /// Reads a stream on a global queue, where it may block.
    private static func data(_ payload: Payload) async -> Result<Data, BusError> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(BusError) in
                        do throws(BusError) { return Data(try payload.bytes(upTo: maximumFetchedBytes)) } catch {
                            throw error
                        }
                    })
            }
        }
    }

    private func ask<Value: Sendable>(
        _ request: QueryRequest, _ body: (inout BusArguments) throws(BusError) -> Value
    ) async throws(CSSearchQueryError) -> Value {
        do throws(BusError) {
            return try read(try await connection.answer(request.member, request.arguments), of: request.member, body)
        } catch {
            throw CSSearchQueryError(error)
        }
    }
}

extension ServiceConnection {
    /// Makes a request and waits for the reply, even if the task is cancelled.
    func answer(_ member: BusMember, _ arguments: [BusValue]) async throws(BusError) -> [BusValue] {
        let result: Result<[BusValue], BusError> = await withCheckedContinuation { continuation in
            ask(.question(member, arguments)) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}

/// Decodes the arguments of a reply.
private func read<Value>(
    _ values: [BusValue], of member: BusMember, _ body: (inout BusArguments) throws(BusError) -> Value
) throws(BusError) -> Value {
    var arguments = BusArguments(values, of: member.member)
    do throws(BusError) { return try body(&arguments) } catch { throw error }
}
