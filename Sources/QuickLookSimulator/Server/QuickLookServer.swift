// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation
import FoundationNetworking
import SearchlightEngine
import Synchronization

/// Why the page cannot be served.
public enum QuickLookError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing can be listened on.
    case cannotListen(port: UInt16, reason: String)

    /// The error: what was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .cannotListen(let port, let reason):
            port == 0
                ? "Listening on 127.0.0.1 failed: \(reason). Check that the loopback interface is up."
                : "Listening on 127.0.0.1:\(port) failed: \(reason). Name another port, or leave --port out."
        }
    }
}

/// Serves Quick Look to one browser of this machine: listens on 127.0.0.1, hands what arrives to ``QuickLookRoutes``, and
/// sends what they answer.
public struct QuickLookServer: Sendable {
    /// Where and for how long.
    public struct Options: Hashable, Sendable {
        /// The port; 0 is any that is free.
        public var port: UInt16 = 0
        /// Ends once nothing was asked for so long; `nil` never.
        public var idleExit: Duration?
        /// What stands in the search field at first.
        public var query = ""

        /// Creates options.
        public init(port: UInt16 = 0, idleExit: Duration? = nil, query: String = "") {
            self.port = port
            self.idleExit = idleExit
            self.query = query
        }
    }

    private let store: any StoreService
    private let options: Options

    /// The longest an answer may take before its first byte: what a preview may take and its worker's start.
    private static let maximumSeconds = 120.0
    /// How long a connection may wait for a request, or for the rest of one.
    static let idleConnection = Duration.seconds(60)
    /// The most connections that do; of more the one that has waited longest is ended.
    package static let maximumIdleConnections = 64

    /// Creates a server. It listens once it runs.
    public init(_ store: any StoreService, options: Options = Options()) {
        self.store = store
        self.options = options
    }

    /// Serves until its task is cancelled or nobody has asked for long.
    ///
    /// - Parameter onReady: Told the address to open, which works once.
    /// - Throws: ``QuickLookError``, or what `onReady` throws.
    public func run(onReady: @escaping @Sendable (_ address: String) async throws -> Void) async throws {
        let session = Session()
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: options.port), timeout: Self.maximumSeconds,
            pool: Self.bounded(HTTPServer.defaultPool()), logger: .disabled,
            handler: ClosureHTTPHandler { request in
                guard let routes = session.routes.withLock({ $0 }) else {
                    return HTTPResponse(statusCode: .serviceUnavailable)
                }
                session.activity.begin()
                defer { session.activity.end() }
                return HTTPResponse(await Self.answer(request, routes))
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.serve(server, port: options.port) }
            group.addTask {
                try await server.waitUntilListening()
                guard case .ip4(_, let port)? = await server.listeningAddress else { return }
                var random = SystemRandomNumberGenerator()
                let access = PageAccess(port: port, random: &random)
                session.routes.withLock { $0 = QuickLookRoutes(store, access: access, query: options.query) }
                try await onReady(access.address)
                try await session.activity.waitForIdle(options.idleExit)
            }
            defer { group.cancelAll() }
            do { try await group.next() } catch  where Task.isCancelled {}
        }
    }

    private static func bounded(_ pool: some AsyncSocketPool) -> some AsyncSocketPool { BoundedSocketPool(pool) }

    private static func serve(_ server: HTTPServer, port: UInt16) async throws {
        do {
            try await server.run()
        } catch  where !Task.isCancelled {
            guard case SocketError.failed(_, let code, _) = error else { throw error }
            throw QuickLookError.cannotListen(port: port, reason: String(cString: strerror(code)))
        }
    }

    /// Answers for as long as the browser waits: one that has gone, or has given the request up, closes its connection.
    private static func answer(_ request: HTTPRequest, _ routes: QuickLookRoutes) async -> PageReply {
        let page = PageRequest(request)
        let task = Task { await routes.answer(page) }
        var watch: ClientWatch?
        if case .ip4(_, let port)? = request.remoteAddress { watch = ClientWatch(port: port) { task.cancel() } }
        defer { watch?.stop() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// What the connections share.
    private final class Session: Sendable {
        /// There once it is known which port is listened on.
        let routes = Mutex<QuickLookRoutes?>(nil)
        let activity = Activity()
    }
}

extension PageRequest {
    /// A request as the server's package reads it.
    fileprivate init(_ request: HTTPRequest) {
        // As it was sent: what stands for a slash is none here.
        let path = request.target.path().split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        self.init(
            method: request.method.rawValue, path: path == [""] ? [] : path.map(String.init),
            arguments: Self.arguments(request.target.query()),
            headers: Dictionary(grouping: request.headers.map { ($0.key.rawValue.lowercased(), $0.value) }) { $0.0 }
                .mapValues { $0.map(\.1) })
    }

    /// The arguments as a form's or a script's `URLSearchParams` are written.
    private static func arguments(_ query: String) -> [String: String] {
        let pairs = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                part.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (parts[0], parts.count == 2 ? parts[1] : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }
}

extension HTTPResponse {
    /// An answer as the server's package sends it.
    fileprivate init(_ reply: PageReply) {
        let headers = HTTPHeaders(
            Dictionary(uniqueKeysWithValues: reply.headers.map { (HTTPHeader($0.key), $0.value) }))
        let status = HTTPStatusCode(
            reply.status, phrase: HTTPURLResponse.localizedString(forStatusCode: reply.status))
        switch reply.body {
        case .bytes(let bytes):
            self.init(
                statusCode: status, headers: headers,
                body: HTTPBodySequence(data: Data(bytes), suggestedBufferSize: DescriptorBytes.chunk))
        case .stream(let descriptor, let length):
            self.init(
                statusCode: status, headers: headers,
                body: HTTPBodySequence(
                    from: DescriptorBytes(descriptor, length: length), count: Int(clamping: length),
                    suggestedBufferSize: DescriptorBytes.chunk))
        }
    }
}
