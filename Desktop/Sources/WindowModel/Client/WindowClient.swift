// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import Dispatch
import Previews
import SearchIndex
import SearchlightEngine
import Synchronization
import UniformTypeIdentifiers
import UserSearch

/// Executes the window's effects that concern the store. Each runs in its own task, and a newer
/// effect of the same kind cancels the older one, including its work in the service. The answers
/// are events.
///
/// May be used from any thread.
package final class WindowClient: Sendable {
    /// The kinds of work for which only the newest request matters.
    private enum Line: Hashable { case search, suggest, preview, thumbnails, apps }

    private let store: @Sendable () async throws -> any EngineClient
    private let environment: [String: String]
    private let installed: @Sendable () -> ExtensionListing
    private let clock: any Clock<Duration>
    private let send: @Sendable (WindowEvent) -> Void
    private let tasks = Mutex<[Line: Task<Void, Never>]>([:])

    /// The time without a keystroke before a preview is rendered. Extensions render previews, so a
    /// preview for each keystroke would only waste energy.
    private static let previewDelay = Duration.milliseconds(120)
    /// The time after which a displayed preview counts as use of the item.
    private static let viewingTime = Duration.seconds(10)
    /// The maximum length of an app's name, in characters.
    private static let nameLength = 40

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - store: Returns the store; the first call may connect.
    ///   - environment: The environment for apps that open items.
    ///   - installed: Returns the installed extensions if there is no index yet.
    ///   - clock: The clock for delays.
    ///   - send: Called with each answer, on any thread.
    package init(
        store: @escaping @Sendable () async throws -> any EngineClient, environment: [String: String],
        installed: @escaping @Sendable () -> ExtensionListing,
        clock: any Clock<Duration> = ContinuousClock(), send: @escaping @Sendable (WindowEvent) -> Void
    ) {
        (self.store, self.environment, self.installed) = (store, environment, installed)
        (self.clock, self.send) = (clock, send)
    }

    /// Executes an effect. Effects that concern only the views are ignored.
    package func perform(_ effect: WindowEffect) {
        switch effect {
        case .search(let number, let text, let correctsSpelling):
            begin(.search) { [self] in
                await answer({ .found(search: number, $0) }, withoutIndex: { .nothing }) { store in
                    try await store.find(WindowRequest.search(text, correctsSpelling: correctsSpelling))
                }
            }
        case .findMore(let number, let text, let correctsSpelling, let cursor):
            begin(.search) { [self] in
                await answer({ .foundMore(search: number, $0) }) { store in
                    try await store.find(
                        WindowRequest.search(text, correctsSpelling: correctsSpelling, after: cursor))
                }
            }
        case .suggest(let number, let text):
            begin(.suggest) { [self] in
                // If there are no suggestions, the search has not failed.
                let suggested = try? await store().suggestions(WindowRequest.suggest(text))
                if !Task.isCancelled { send(.suggested(search: number, suggested ?? [])) }
            }
        case .cancelSearch: for line in [Line.search, .suggest, .preview, .thumbnails] { cancel(line) }
        case .preview(let number, let item, let text):
            begin(.preview) { [self] in await preview(number, item, text) }
        case .open(let item, let text): Task { await open(item, text) }
        case .findCopy(let item): Task { await answer({ .copies($0) }) { try await Self.copyText(of: item, $0) } }
        case .listApps:
            begin(.apps) { [self] in
                await answer({ .knows($0) }, withoutIndex: { Self.apps(installed(), [:]) }, Self.apps)
            }
        case .setField, .focusField, .copy, .notify, .close, .quit: break
        }
    }

    /// Reads the thumbnails of items, replacing an earlier list.
    ///
    /// - Parameter onPicture: Called with each item and its encoded picture, on any thread. Not
    ///   called for items without a thumbnail.
    package func readThumbnails(of items: [Int64], onPicture: @escaping @Sendable (Int64, Thumbnail) async -> Void) {
        begin(.thumbnails) { [self] in
            for number in items {
                guard !Task.isCancelled, let item = try? await store().item(named: "@\(number)"),
                    let reference = item.record.thumbnailReference, !Task.isCancelled
                else { continue }
                if let thumbnail = await Self.read(reference), !Task.isCancelled { await onPicture(number, thumbnail) }
            }
        }
    }

    private static func read(_ reference: Thumbnail.Reference) async -> Thumbnail? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: try? Thumbnail.read(reference)) }
        }
    }

    /// Reports the use of an item.
    package func count(_ kind: EngagementKind, of item: Int64, text: String) async {
        await (try? store())?.count(Engagement(item: item, text: text, kind: kind))
    }

    /// Cancels all work whose result only the window needs.
    package func cancelAll() { for line in tasks.withLock({ Array($0.keys) }) { cancel(line) } }

    // MARK: Tasks

    private func begin(_ line: Line, _ body: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            tasks[line]?.cancel()
            tasks[line] = Task { await body() }
        }
    }

    private func cancel(_ line: Line) { tasks.withLock { $0.removeValue(forKey: line) }?.cancel() }

    /// Sends the result of a request, or a message, unless the request was cancelled.
    ///
    /// - Parameter withoutIndex: Returns the result for the time before the first donation.
    ///
    /// - Returns: `true` if there is a result.
    @discardableResult
    private func answer<Value: Sendable>(
        _ event: (WindowEvent.Answer<Value>) -> WindowEvent, withoutIndex: () -> Value? = { nil },
        _ body: (any EngineClient) async throws -> Value
    ) async -> Bool {
        let answer: WindowEvent.Answer<Value>
        do {
            answer = .value(try await body(try await store()))
        } catch {
            answer =
                if case .index(.noStore)? = error as? EngineError, let value = withoutIndex() { .value(value) } else {
                    .problem(Self.message(error))
                }
        }
        if !Task.isCancelled { send(event(answer)) }
        return if case .value = answer { true } else { false }
    }

    /// Returns the message for an error.
    static func message(_ error: any Error) -> String { DisplayText.safe("\(error)") }

    // MARK: Previews

    private func preview(_ number: UInt64, _ item: Int64, _ text: String) async {
        guard (try? await clock.sleep(for: Self.previewDelay)) != nil else { return }
        let isShown = await answer({ .previewed(number: number, $0) }) { store in
            let found = try await store.item(named: "@\(item)")
            let preview = try await store.preview(of: found, query: text)
            let isPDF = preview.contentType == UTType.pdf.identifier
            let picture = isPDF ? await PromisedPicture.bytes(of: found, in: store) : nil
            return await PreviewMaker(query: text).shown(preview, of: found, picture: picture)
        }
        guard isShown, (try? await clock.sleep(for: Self.viewingTime)) != nil else { return }
        await count(.preview, of: item, text: text)
    }

    // MARK: Actions

    private func open(_ item: Int64, _ text: String) async {
        do {
            let store = try await store()
            let target = try await store.perform(LaunchTargetCall(item: item))
            let opener = ItemOpener(environment: environment, activities: ClientActivities(store))
            let opened = try await opener.open(target)
            let app = DisplayText.line(opened.plan.app, limit: 60)
            send(
                .opened(
                    .value(
                        opened.plan.delivery == .nothing
                            ? "Started \(app), which has no way to be given the item." : "Opened in \(app).")))
            await store.count(Engagement(item: item, text: text, kind: .open))
        } catch {
            send(.opened(.problem(Self.message(error))))
        }
    }

    /// Returns the text that represents an item on the clipboard: the path of its file, its URL, or
    /// else its title.
    private static func copyText(of item: Int64, _ store: any EngineClient) async throws -> String {
        let target = try await store.perform(LaunchTargetCall(item: item))
        return switch target.resource {
        case .file(let path): path
        case .url(let url): url
        case nil: target.title
        }
    }

    private static func apps(_ store: any EngineClient) async throws -> InstalledApps {
        apps(try await store.perform(ExtensionListingCall()), try await store.perform(ItemCountsCall()))
    }

    private static func apps(_ listing: ExtensionListing, _ counts: [String: Int]) -> InstalledApps {
        var counts = counts
        let usable = listing.extensions.filter { ![.refused, .shadowed, .removed].contains($0.state) }
        var apps = usable.map { ($0.displayName, counts.removeValue(forKey: $0.identifier) ?? 0) }
        // Apps can also donate without an extension.
        apps += counts.filter { $0.value > 0 }.map { ($0.key, $0.value) }
        return InstalledApps(apps.map { .init(name: DisplayText.line($0.0, limit: nameLength), items: $0.1) })
    }
}
