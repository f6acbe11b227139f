// SPDX-License-Identifier: Apache-2.0
import BusTransport
import DesktopSearch
import Dispatch
import Previews
import SearchIndex
import SearchlightEngine
import ServiceMessages

/// Replies to GNOME Shell: the interface `org.gnome.Shell.SearchProvider2`.
final class ShellSearchHandler: Sendable {
    private let searcher: DesktopSearcher

    /// The length of a passage in a description, in characters.
    private static let snippetLength = 120

    init(_ searcher: DesktopSearcher) { self.searcher = searcher }

    func take(_ request: ShellSearchRequest, _ call: IncomingCall) {
        switch request {
        case .initialResults(let terms): search(DesktopQuery.text(of: terms), previous: nil, call)
        case .subsearchResults(let previous, let terms):
            search(
                DesktopQuery.text(of: terms), previous: Array(previous.prefix(SearchSession.maximumResults + 1)), call)
        case .metas(let identifiers):
            let text = searcher.text
            let wanted = identifiers.prefix(ShellMeta.maximumResults).compactMap { ResultIdentifier($0) }
            call.releaseArguments()
            searcher.answer(call) { (engine) throws(QueryRefusal) in
                [.dictionaries(try await Self.metas(of: wanted, text, engine))]
            }
        case .activate(let identifier, let terms, let timestamp):
            let text = DesktopQuery.text(of: terms)
            searcher.answer(call) { [searcher] (engine) throws(QueryRefusal) in
                try await searcher.open(identifier, text: text, timestamp: timestamp, engine)
                return []
            }
        case .launchSearch(let terms, let timestamp):
            let text = DesktopQuery.text(of: terms)
            searcher.answer(call) { [searcher] (engine) throws(QueryRefusal) in
                try await searcher.showResults(text, timestamp: timestamp, engine)
                return []
            }
        }
    }

    private func search(_ text: String, previous: [String]?, _ call: IncomingCall) {
        searcher.search(text, previous: previous, call) { hits in
            [.strings(hits.map { ResultIdentifier(item: $0.item.number).text })]
        }
    }

    // MARK: Descriptions

    private static func metas(
        of identifiers: [ResultIdentifier], _ text: String, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> [[String: BusValue]] {
        let highlighter = Highlighter(query: text)
        var metas: [[String: BusValue]] = []
        var room = ShellMeta.maximumPicturesBytes
        for identifier in identifiers {
            guard let item = try await DesktopSearcher.item(identifier, engine) else {
                metas.append(ShellMeta.gone(identifier))
                continue
            }
            let picture = await picture(of: item, room: room)
            room -= picture?.count ?? 0
            let result = DesktopResult(
                item: item.number, title: item.displayTitle, app: engine.displayName(of: item.scope.bundle),
                detail: highlighter.snippet(of: item.snippetTexts, length: snippetLength), kind: item.kindName,
                place: item.record.contentPath ?? item.record.text("url"), contentType: item.contentType)
            metas.append(ShellMeta.values(of: result, picture: picture))
        }
        return metas
    }

    /// Returns an item's thumbnail, if it has one that is small enough. The shell decodes it.
    private static func picture(of item: StoredItem, room: Int) async -> [UInt8]? {
        guard let reference = item.record.thumbnailReference else { return nil }
        let limit = min(room, ShellMeta.maximumPictureBytes)
        let thumbnail: Thumbnail? = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: try? Thumbnail.read(reference))
            }
        }
        return thumbnail.flatMap { $0.bytes.count <= limit ? $0.bytes : nil }
    }
}
