// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import Dispatch
import Foundation
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import Synchronization
import UserSearch

/// The request handlers of the page, which use only the store. May be called from any task.
package final class QuickLookRoutes: Sendable {
    private let store: any EngineClient
    private let access: PageAccess
    private let query: String
    private let turns = Turns()
    private let searches: SearchHandler
    private let previews: PreviewHandler
    private let opener: ItemOpener
    private let underWay = Atomic(0)

    /// The number of requests in progress.
    package var requestsUnderWay: Int { underWay.load(ordering: .relaxed) }

    /// The maximum number of requests in progress. A page has six connections.
    package static let maximumRequests = 32
    /// The maximum length of a query, in bytes.
    package static let maximumQueryBytes = 2000
    /// The maximum length of a page name, in bytes.
    private static let maximumPageBytes = 40

    /// Creates the routes for a session.
    ///
    /// - Parameters:
    ///   - store: The store in which the page searches.
    ///   - access: The access control.
    ///   - query: The initial text of the search field.
    ///   - environment: The environment for apps that open items.
    package init(
        _ store: any EngineClient, access: PageAccess, query: String = "", environment: [String: String] = [:]
    ) {
        opener = ItemOpener(environment: environment, activities: ClientActivities(store))
        self.store = store
        self.access = access
        self.query = query
        searches = SearchHandler(store)
        previews = PreviewHandler(store)
    }

    /// The decision whether to admit a request.
    package enum Admission: Sendable {
        /// The request gets this small reply. `isWelcome` is `true` if the reply starts the
        /// session.
        case answered(PageReply, isWelcome: Bool)
        /// The request comes from the session's browser. The path is relative to the session
        /// folder.
        case granted(path: [String])
    }

    /// Grants or rejects a request. The cost is small for every request.
    package func admit(_ request: PageRequest) -> Admission {
        switch access.decide(request) {
        case .invited: .answered(Page.invitation, isWelcome: false)
        case .welcome: .answered(Page.welcome(to: access.session, cookie: access.cookie), isWelcome: true)
        case .refused(let status, let reason): .answered(Page.refusal(status, reason), isWelcome: false)
        case .granted(let path): .granted(path: path)
        }
    }

    /// Replies to a request. If the caller is cancelled, the work in the store and the extensions
    /// is cancelled too.
    package func answer(_ request: PageRequest) async -> PageReply {
        switch admit(request) {
        case .answered(let reply, _): reply
        case .granted(let path): await answer(granted: path, request.arguments)
        }
    }

    /// Replies to a granted request.
    package func answer(granted path: [String], _ arguments: [String: String]) async -> PageReply {
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.maximumRequests else {
            underWay.subtract(1, ordering: .relaxed)
            return PageFailure(503, "Too many requests are in progress. Try again in a moment.").reply
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        do {
            return try await answer(path, arguments)
        } catch let failure as PageFailure {
            return failure.reply
        } catch let error as EngineError {
            return PageFailure(error).reply
        } catch is Turns.Stale {
            return PageFailure(409, "A newer request replaced this one.").reply
        } catch {
            return PageFailure(PageFailure.cancelled, "The request was cancelled.").reply
        }
    }

    private func answer(_ path: [String], _ arguments: [String: String]) async throws -> PageReply {
        let query = arguments["q"] ?? ""
        guard query.utf8.count <= Self.maximumQueryBytes else {
            throw PageFailure(414, "A query has at most \(Self.maximumQueryBytes) bytes.")
        }
        switch path {
        case [""]: return Page.document(query: self.query)
        case ["style.css"]: return Page.style
        case ["script.js"]: return Page.script
        case ["icon.svg"]: return Page.icon
        case ["api", "search"]:
            let cursor = arguments["cursor"]
            let filters = SearchHandler.Filters(app: arguments["app"], kind: arguments["kind"])
            return try await turn("search", arguments) { [searches] in
                try await searches.reply(query, filters, correctsSpelling: arguments["typed"] == nil, after: cursor)
            }
        case ["api", "suggest"]:
            return try await turn("suggest", arguments) { [searches] in try await searches.suggestions(for: query) }
        default: break
        }
        guard let last = path.last, path.count >= 2 else { throw PageFailure(404, "There is nothing here.") }
        switch (path.count, path[0], path[1]) {
        case (3, "api", "preview"):
            return try await turn("preview", arguments) { [self] in
                try await previews.reply(for: item(last), query: query)
            }
        case (3, "api", "prewarm"):
            let bundle = try await item(last).scope.bundle
            _ = try? await store.perform(PrewarmCall(bundle: bundle))
            return .json(["status": "done"])
        case (3, "api", "open"):
            let action = arguments["action"].map { QuickAction(rawValue: $0) }
            if case .some(.none) = action { throw PageFailure(400, "The action must be call or navigate.") }
            return try await open(item(last), query, action ?? nil)
        case (3, "api", "engaged"):
            let kinds: [EngagementKind] = [.open, .drag, .preview]
            guard let kind = kinds.first(where: { $0.rawValue == arguments["kind"] }) else {
                throw PageFailure(400, "The kind of use must be open, drag or preview.")
            }
            await store.count(Engagement(item: try await item(last).number, text: query, kind: kind))
            return .json(["status": "done"])
        case (3, "preview", let name) where last == "content" || last == "frame":
            let key = arguments["v"].flatMap { Int($0) }
            return try await previews.content(key: key, query: query, isFramed: last == "frame") { [self] in
                try await item(name)
            }
        case (2, "thumbnail", _): return try await thumbnail(of: item(last))
        case (2, "promise", _): return try await promise(of: item(last), as: arguments["type"] ?? "")
        default: throw PageFailure(404, "There is nothing here.")
        }
    }

    /// Runs a closure unless the page has made a newer request.
    private func turn(
        _ kind: String, _ arguments: [String: String], _ body: @escaping @Sendable () async throws -> PageReply
    ) async throws -> PageReply {
        guard let page = arguments["page"], let number = arguments["n"].flatMap({ Int($0) }) else {
            return try await body()
        }
        guard page.utf8.count <= Self.maximumPageBytes else {
            throw PageFailure(400, "The name of the page is too long.")
        }
        return try await turns.take(number, in: Turns.Line(page: page, kind: kind), body)
    }

    private func item(_ number: String) async throws -> StoredItem {
        guard let number = Int64(number), number >= 0 else {
            throw PageFailure(404, "An item must be named by its number.")
        }
        return try await store.item(named: "@\(number)")
    }

    /// Opens an item in its app, or executes an action on it.
    private func open(_ item: StoredItem, _ query: String, _ action: QuickAction?) async throws -> PageReply {
        let target = try await store.perform(LaunchTargetCall(item: item.number, action: action))
        do throws(LaunchError) {
            let opened = try await opener.open(target)
            await store.count(Engagement(item: item.number, text: query, kind: .open))
            return .json(["status": "done", "app": opened.plan.app, "delivery": opened.plan.delivery.rawValue])
        } catch {
            throw PageFailure(error)
        }
    }

    private func thumbnail(of item: StoredItem) async throws -> PageReply {
        guard let reference = item.record.thumbnailReference else {
            throw PageFailure(404, "The item has no thumbnail.")
        }
        let result = await onBlockingWork { Result { () throws(Thumbnail.Problem) in try Thumbnail.read(reference) } }
        switch result {
        case .success(let thumbnail):
            return PageReply(type: thumbnail.header.mediaType, policy: .data, body: .bytes(thumbnail.bytes))
        case .failure(let problem): throw PageFailure(404, problem.description)
        }
    }

    /// Requests a promise from the extension. The body is read while the browser receives it.
    private func promise(of item: StoredItem, as type: String) async throws -> PageReply {
        let promised = item.record.promisedRepresentations
        guard let choice = promised.first(where: { $0.type == type }) else {
            throw PageFailure(.promise(.unsupportedType(offered: promised.map(\.type), accepted: [type])))
        }
        let body: PageReply.Body
        var name = DownloadName.suggested(title: item.displayTitle, type: type)
        switch try await store.fulfil(choice, of: item) {
        case .data(.inline(let bytes)): body = .bytes(bytes)
        case .data(.stream(let descriptor, let length)): body = .stream(descriptor, length: length)
        case .file(let file):
            var status = stat()
            guard fstat(file.descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw PageFailure(502, "The file that the extension opened for \(type) is not a regular file.")
            }
            body = .stream(file.descriptor, length: UInt64(max(0, status.st_size)))
            if !file.name.isEmpty { name = DownloadName.safe(file.name) }
        }
        var reply = PageReply(type: DownloadName.mediaType(of: type), policy: .data, body: body)
        reply.headers["Content-Disposition"] = DownloadName.disposition(name)
        return reply
    }
}

/// Runs a closure on a thread that may block.
func onBlockingWork<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global(qos: .userInitiated).async { continuation.resume(returning: body()) }
    }
}
