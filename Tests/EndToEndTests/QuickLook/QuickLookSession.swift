// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import QuickLookServer
import SearchIndex
import SearchlightEngine
import ServiceMessages
import TestSupport

/// The page's side of a session: its requests to the routes over an engine, without a connection.
struct QuickLookSession: Sendable {
    let access: PageAccess
    let routes: QuickLookRoutes
    private let engine: SearchlightEngine

    init(_ engine: SearchlightEngine, query: String = "", environment: [String: String] = [:]) {
        var random = SplitMix64(seed: 1)
        access = PageAccess(port: 4711, random: &random)
        routes = QuickLookRoutes(engine, access: access, query: query, environment: environment)
        self.engine = engine
    }

    /// An answer with all its bytes.
    struct Answer {
        var status: Int
        var headers: [String: String]
        var bytes: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }
        func json() throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
        }
    }

    /// Sends a request in the session's folder, with its cookie.
    func get(_ path: String, _ arguments: [String: String] = [:]) async throws -> Answer {
        try await ask("GET", path, arguments)
    }

    /// Sends a POST request, as the page's script does.
    func post(_ path: String, _ arguments: [String: String] = [:]) async throws -> Answer {
        try await ask("POST", path, arguments, ["origin": ["http://127.0.0.1:4711"]])
    }

    private func ask(
        _ method: String, _ path: String, _ arguments: [String: String], _ headers: [String: [String]] = [:]
    ) async throws -> Answer {
        let request = PageRequest(
            method: method,
            path: [access.session] + path.split(separator: "/", omittingEmptySubsequences: false).map(String.init),
            arguments: arguments,
            headers: ["host": ["127.0.0.1:4711"], "cookie": [String(access.cookie.prefix { $0 != ";" })]]
                .merging(headers) { $1 })
        let reply = await routes.answer(request)
        let bytes: [UInt8]
        switch reply.body {
        case .bytes(let all): bytes = all
        case .stream(let descriptor, let length):
            bytes = try Payload.stream(descriptor, length: length).bytes(upTo: 64 << 20)
        }
        return Answer(status: reply.status, headers: reply.headers, bytes: bytes)
    }

    func number(of item: String) async throws -> Int64 { try await engine.item(named: item).number }

    /// Puts items into the index, as if a bundle had donated them.
    static func donate(_ records: [ItemRecord], to engine: SearchlightEngine, bundle: String) async throws {
        var batch = IndexBatch(scope: IndexScope(bundle: bundle))
        batch.index(try records.map { try EncodedItem($0) })
        try await engine.commit(batch)
        try await engine.settle()
    }
}
