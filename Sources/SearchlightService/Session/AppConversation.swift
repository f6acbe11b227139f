// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import SearchlightEngine
import ServiceMessages
import Synchronization

/// An app's session: donations to its own index, queries about its own items, and its registration
/// as a delegate.
///
/// The bundle always comes from the connection, never from an argument of a call.
final class AppConversation: ClientSession.Conversation {
    private let bundle: String
    private let core: ServiceCore
    private let donations: AppDonations
    private let queries: ClientRequests
    private let delegate: AppDelegate
    private let promises: PromiseHandler
    private let activities: AppActivities

    init(bundle: String, link: (any ClientLink)?, core: ServiceCore) {
        self.bundle = bundle
        self.core = core
        let registration = DelegateRegistration()
        donations = AppDonations(bundle: bundle, link: link, registration: registration, core: core)
        // An app's query waits only for the app's own donations.
        queries = ClientRequests(core.engine, .own(bundle), maximum: core.limits.queries, link: link)
        delegate = AppDelegate(
            bundle: bundle, link: link, intake: donations.intake, registration: registration, core: core)
        promises = PromiseHandler(core, .own(bundle))
        activities = AppActivities(bundle: bundle, link: link, handlers: core.activities)
    }

    func receive(_ request: any ClientRequest, _ call: IncomingCall) {
        switch request {
        case let request as IndexRequest: donations.take(request, call)
        case let request as QueryRequest: take(request, call)
        case let request as DelegateRequest: delegate.take(request, call)
        case let request as PromiseRequest: promises.take(request, call)
        case let request as ActivityRequest: activities.take(request, call)
        default: call.refuse(.unknownMethod(call.member))
        }
    }

    func mayReadLarge(onOpen: @escaping @Sendable (Bool) -> Void) -> Bool { donations.mayRead(onOpen: onOpen) }

    private func take(_ request: QueryRequest, _ call: IncomingCall) {
        switch request {
        case .query(let number, let page):
            answer(call, number) { (queries) throws(QueryRefusal) in try await queries.query(page).arguments }
        case .search(let number, let page):
            answer(call, number) { (queries) throws(QueryRefusal) in try await queries.search(page).arguments }
        case .searchWords(let number, let page):
            answer(call, number) { (queries) throws(QueryRefusal) in
                try await queries.search(page, usesMeaning: false).arguments
            }
        case .prepare(let number):
            answer(call, number) { (queries) throws(QueryRefusal) in
                await queries.prepare()
                return []
            }
        case .suggest(let number, let text, let limit):
            answer(call, number) { (queries) throws(QueryRefusal) in
                [.strings(try await queries.suggestions(text, limit: limit).map(\.fitForBus))]
            }
        case .engaged(let number, let item, let text, let kind):
            answer(call, number) { (queries) throws(QueryRefusal) in
                [.boolean(try await queries.engaged(item, after: text, kind: kind))]
            }
        case .cancel(let number):
            queries.cancel(number)
            call.reply()
        }
    }

    private func answer(
        _ call: IncomingCall, _ number: UInt64,
        _ body: @escaping @Sendable (AppQueries) async throws(QueryRefusal) -> [BusValue]
    ) {
        queries.answer(call, number: number) { [bundle, limits = core.limits] (engine) throws(QueryRefusal) in
            try await body(AppQueries(engine: engine, bundle: bundle, limits: limits))
        }
    }

    func rejoin(_ engine: SearchlightEngine) { delegate.rejoin(engine) }
    func part() { delegate.part() }

    func end() async {
        delegate.end()
        activities.end()
        queries.cancelAll()
        promises.cancelAll()
        await donations.end()
    }
}
