// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import BusTransport
import DesktopSearch
import SearchIndex
import SearchlightEngine
import ServiceMessages

/// Replies to KRunner: the interface `org.kde.krunner1`.
final class RunnerHandler: Sendable {
    private let searcher: DesktopSearcher
    private let programs: DesktopPrograms?

    /// The length of a passage below a title, in characters.
    private static let snippetLength = 120
    /// The maximum number of searches in progress. KRunner calls from up to 16 threads, most of
    /// them for other plugins, and in any order, and ignores answers for texts that are no longer
    /// typed. So a later call may be for an older text, and must not cancel a search.
    static let maximumSearches = 12

    init(_ searcher: DesktopSearcher, _ programs: DesktopPrograms?) {
        (self.searcher, self.programs) = (searcher, programs)
    }

    func take(_ request: RunnerRequest, _ call: IncomingCall) {
        switch request {
        case .match(let text):
            searcher.search(
                DesktopQuery.text(of: text), snippetLength: Self.snippetLength, maximum: Self.maximumSearches, call
            ) { hits in [RunnerMatch.matches(hits.map(\.desktopResult))] }
        case .actions: call.reply([RunnerMatch.actions])
        case .run(let identifier, let action): run(identifier, action, call)
        case .teardown:
            searcher.endSearches()
            call.reply()
        }
    }

    private func run(_ identifier: String, _ action: String, _ call: IncomingCall) {
        let text = searcher.text
        searcher.answer(call) { [searcher, programs] (engine) throws(QueryRefusal) in
            if action.isEmpty {
                try await searcher.open(identifier, text: text, timestamp: 0, engine)
                return []
            }
            guard let action = ResultAction(rawValue: action) else {
                let name = action.prefix(40).debugDescription
                throw QueryRefusal(name: BusErrorName.invalidArguments, message: "There is no action \(name).")
            }
            guard let programs else {
                throw QueryRefusal(
                    name: ExtensionStatus.unavailable.errorName,
                    message: "This client is not on the session bus, so the programs of its desktop are out of reach.")
            }
            let item = try await DesktopSearcher.item(identifier, engine)
            if let quick = QuickAction(rawValue: action.rawValue) {
                try await searcher.carryOut(quick, on: item, text: text, engine)
                return []
            }
            // The engine only lets an extension name files that it may read.
            let resource = engine.launchTarget(of: item).resource
            switch action {
            case .copy: try await programs.copy(resource?.plainText ?? item.displayTitle)
            case .showInFolder:
                guard case .file? = resource, let resource else {
                    throw QueryRefusal(
                        name: ExtensionStatus.notFound.errorName, message: "“\(item.displayTitle)” is not a file.")
                }
                try await programs.showInFolder(resource.uri)
            case .call, .navigate: break
            }
            return []
        }
    }
}

extension LaunchResource {
    /// The path or the URL, in the form in which users paste it.
    fileprivate var plainText: String {
        switch self {
        case .file(let path): path
        case .url(let url): url
        }
    }
}
