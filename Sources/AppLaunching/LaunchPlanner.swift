// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import UniformTypeIdentifiers

/// Decides how an item is opened, based on desktop entries and lists of default applications. It
/// starts no program.
///
/// ```swift
/// let plan = try LaunchPlanner(environment: environment).plan(target)
/// ```
///
/// Reads files in each call, so call it on a thread that may block. May be used from any thread.
package struct LaunchPlanner: Sendable {
    private let entries: DesktopEntries
    private let handlers: DefaultHandlers
    private let language: String

    /// Terminals for apps that need one, with the option that precedes the command.
    private static let terminals: [[String]] = [
        ["xdg-terminal-exec"], ["x-terminal-emulator", "-e"], ["gnome-terminal", "--"], ["konsole", "-e"],
        ["xterm", "-e"],
    ]

    /// Creates a planner for an environment: the XDG variables, `PATH`, and the user's language.
    package init(environment: [String: String]) {
        let entries = DesktopEntries(environment: environment)
        let mime = SharedMIMEInfo(roots: SharedMIMEInfo.standardRoots(environment: environment))
        (self.entries, handlers) = (entries, DefaultHandlers(entries, mime, environment: environment))
        language = Self.language(environment)
    }

    /// Returns the user's language for messages.
    package static func language(_ environment: [String: String]) -> String {
        ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }

    /// Chooses the method for opening an item.
    ///
    /// - Throws: ``LaunchError``: `noApp`, `missingFile` or `refused`.
    package func plan(_ target: LaunchTarget) throws(LaunchError) -> LaunchPlan {
        var passedOver: [LaunchPlan.PassedOver] = []
        func passOver(_ way: LaunchPlan.Way, _ reason: String) { passedOver.append(.init(way: way, reason: reason)) }
        if target.hasHandler {
            return LaunchPlan(
                way: .runningApp, entry: target.desktopEntry, app: target.bundleName, delivery: .activity,
                reason: "the running app has a handler for activities", passedOver: [])
        }
        let app: DesktopEntry?
        // An item's action, such as a call, is handled only by the default app for its URL scheme.
        let isForApp = !target.desktopEntry.isEmpty
        if isForApp { passOver(.runningApp, "no running app of \(target.bundle) has a handler for activities") }
        switch entries.find(target.desktopEntry) {
        case .found(let entry): app = entry
        case .unusable(let reason):
            app = nil
            passOver(.desktopEntry, reason)
        case .missing:
            app = nil
            if isForApp { passOver(.desktopEntry, "there is no desktop entry \(target.desktopEntry)") }
        }
        if let app, target.continues {
            let reason = "the app continues activities (CoreSpotlightContinuation)"
            if !target.canHold {
                passOver(.desktopEntry, "no service runs, so nothing keeps the activity until the app has started")
            } else if let plan = start(app, nil, .desktopEntry, reason, passOver, delivery: .activity) {
                return plan.with(passedOver)
            }
        }
        if case .search = target.activity {
            if !target.continues {
                passOver(.desktopEntry, "the manifest of \(target.bundle) has no CoreSpotlightContinuation")
            }
            throw LaunchError(
                .noApp,
                "No app continues the search: \(passedOver.map(\.reason).joined(separator: "; ")).")
        }
        let type = target.resource.map { handlers.type(of: $0, contentType: target.contentType) }
        if let app, let resource = target.resource, let type {
            if target.ownsEntry || declares(app, type) {
                if let plan = start(app, resource, .desktopEntry, "the app opens the item's \(resource.noun)", passOver)
                {
                    return plan.with(passedOver)
                }
            } else {
                passOver(
                    .desktopEntry,
                    "\(app.identifier) does not open \(type), and \(target.bundle) is not named after it"
                )
            }
        }
        if let resource = target.resource, let type {
            if let (entry, handled) = handlers.handler(ofType: type) {
                let reason = "\(entry.identifier) is the default app for \(handled)"
                if let plan = start(entry, resource, .defaultHandler, reason, passOver) { return plan.with(passedOver) }
            } else {
                passOver(.defaultHandler, "no installed app opens \(type)")
            }
        } else {
            passOver(.defaultHandler, target.refusal?.description ?? "the item has neither a file nor a URL")
        }
        if let app, let plan = start(app, nil, .desktopEntry, "the app is started without the item", passOver) {
            return plan.with(passedOver)
        }
        let reasons = passedOver.map(\.reason).joined(separator: "; ")
        if let refusal = target.refusal {
            let kind: LaunchError.Kind = if case .missing = refusal { .missingFile } else { .refused }
            throw LaunchError(kind, "Cannot open “\(target.title)”: \(refusal).")
        }
        // No default app can be chosen for an item without a file or URL.
        let remedy =
            type.map { "Install an app for it, or choose one: xdg-mime default APP.desktop \($0)" }
            ?? "To see the item: searchlight preview \(target.identifier.shellWord)"
        throw LaunchError(.noApp, "No app opens “\(target.title)”: \(reasons). \(remedy)")
    }

    private func declares(_ entry: DesktopEntry, _ type: String) -> Bool {
        let types = handlers.types(of: type)
        return entry.types.contains(where: types.contains)
    }

    /// Returns a plan that starts an app; `nil` if the app cannot take the resource or cannot be
    /// started.
    private func start(
        _ entry: DesktopEntry, _ resource: LaunchResource?, _ way: LaunchPlan.Way, _ reason: String,
        _ passOver: (LaunchPlan.Way, String) -> Void, delivery: LaunchPlan.Delivery = .nothing
    ) -> LaunchPlan? {
        var plan = LaunchPlan(
            way: way, entry: entry.identifier, app: entry.name(in: language) ?? entry.identifier,
            delivery: resource?.delivery ?? delivery, reason: reason, passedOver: [])
        // A Flatpak can see a file only after its own command has passed the file to the document
        // portal.
        if let name = entry.busName, !(entry.isFlatpak && resource?.isFile == true) {
            plan.bus = .init(name: name, uris: resource.map { [$0.uri] } ?? [])
            if way == .desktopEntry { plan.way = .busActivation }
        }
        do throws(ExecLine.Malformed) {
            plan.command = try command(of: entry, resource)
        } catch {
            if plan.bus == nil {
                passOver(way, "\(entry.path) cannot be used: \(error.reason)")
                return nil
            }
        }
        return plan
    }

    private func command(
        of entry: DesktopEntry, _ resource: LaunchResource?
    ) throws(ExecLine.Malformed) -> LaunchPlan.Command {
        guard let text = entry.commandLine else { throw .init(reason: "it has no command line (Exec)") }
        let line: ExecLine
        do throws(ExecLine.Malformed) { line = try ExecLine(text) } catch {
            throw .init(reason: "its command line \(error.reason)")
        }
        if let resource, !line.takes(resource) {
            throw .init(reason: "its command line does not accept a \(resource.noun)")
        }
        var words: [String]
        do throws(ExecLine.Malformed) {
            words = try line.expanded(resource, of: entry, name: entry.name(in: language) ?? "")
        } catch {
            throw .init(reason: "its command line \(error.reason)")
        }
        guard let first = words.first, var program = entries.path(ofProgram: first) else {
            throw .init(reason: "\((words.first ?? "its program").prefix(80)) is not installed")
        }
        if entry.needsTerminal {
            let found = Self.terminals.lazy.compactMap { words in
                entries.path(ofProgram: words[0]).map { (path: $0, words: words) }
            }.first
            guard let found else { throw .init(reason: "it needs a terminal, and none is installed") }
            (program, words) = (found.path, found.words + words)
        }
        return .init(program: program, words: words, folder: entry.folder.flatMap { isFolder($0) ? $0 : nil })
    }
}

extension LaunchPlan {
    fileprivate func with(_ passedOver: [PassedOver]) -> LaunchPlan {
        var plan = self
        plan.passedOver = passedOver
        return plan
    }
}

extension LaunchResource {
    fileprivate var isFile: Bool { if case .file = self { true } else { false } }
    fileprivate var noun: String { isFile ? "file" : "URL" }
    fileprivate var delivery: LaunchPlan.Delivery { isFile ? .file : .url }
}
