// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import BusTransport
import ItemRecord
import SearchIndex
import SearchlightEngine
import ServiceMessages
import UserSearch

/// Opens items and continues searches for launchers.
struct LauncherOpening: Sendable {
    private let activities: ActivityHandlers

    init(_ activities: ActivityHandlers) { self.activities = activities }

    /// Opens an item. Returns the launch method and the outcome.
    func open(
        _ item: StoredItem, _ options: OpenOptions, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> [String: BusValue] {
        let values = try await open(try Self.target(of: item, options, engine), options, engine)
        if !options.isDryRun, !options.query.isEmpty {
            _ = try? await engine.countEngagement([Engagement(item: item.number, text: options.query, kind: .open)])
        }
        return values
    }

    /// Returns the facts that are needed to open an item, or to perform an action on it.
    private static func target(
        of item: StoredItem, _ options: OpenOptions, _ engine: SearchlightEngine
    ) throws(QueryRefusal) -> LaunchTarget {
        guard let name = options.action else { return engine.launchTarget(of: item) }
        guard let action = QuickAction(rawValue: name) else {
            throw QueryRefusal(
                name: BusErrorName.invalidArguments, message: "There is no action \(name.debugDescription).")
        }
        guard let target = engine.launchTarget(of: item, for: action) else {
            throw QueryRefusal(
                name: ExtensionStatus.unsupported.errorName,
                message: "“\(item.displayTitle)” does not offer the action “\(name)”.")
        }
        return target
    }

    /// Continues a search in a bundle's app. Returns the launch method and the outcome.
    func continueSearch(
        _ text: String, in bundle: String, _ options: OpenOptions, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> [String: BusValue] {
        guard text.utf8.count <= LaunchActivity.maximumTextBytes else {
            throw .limit("bytes", text.utf8.count, LaunchActivity.maximumTextBytes)
        }
        return try await open(engine.launchTarget(ofSearch: text, in: bundle), options, engine)
    }

    /// Shows the results for a text in the window. If the window is not installed or does not
    /// start, a new process serves the Quick Look page until it has not been used for a while.
    func showResults(_ text: String, _ options: OpenOptions, _ engine: SearchlightEngine) async throws(QueryRefusal) {
        let environment = await Self.environment(options, engine)
        let installation = Installation(environment: environment)
        let launcher = Self.launcher(environment, options, engine)
        func plan(_ program: String, _ arguments: [String]) -> LaunchPlan {
            LaunchPlan(
                app: "Searchlight", entry: "com.searchlight.Searchlight.desktop", program: program,
                arguments: ["--store", engine.storeDirectory] + arguments + ["--", text],
                reason: "it shows all results")
        }
        if let window = installation.windowPath {
            do throws(LaunchError) {
                _ = try await launcher.launch(plan(window, []))
                return
            } catch {
                // The desktop may lack the display or a library that the window needs.
            }
        }
        do throws(LaunchError) {
            let idle = ["--idle-exit", "\(Self.pageIdleSeconds)"]
            _ = try await launcher.launch(plan(installation.quickLookPath, idle))
        } catch {
            throw QueryRefusal(name: error.kind.errorName, message: error.description)
        }
    }

    /// The time in seconds without a request after which the process that serves a page exits.
    private static let pageIdleSeconds = 900

    private func open(
        _ found: LaunchTarget, _ options: OpenOptions, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> [String: BusValue] {
        var target = found
        target.hasHandler = activities.hasHandler(of: target.bundle)
        target.canHold = true
        let environment = await Self.environment(options, engine)
        let opener = ItemOpener(
            environment: environment, activities: activities, launcher: Self.launcher(environment, options, engine))
        do throws(LaunchError) {
            if options.isDryRun { return Self.values(of: try await opener.plan(target)) }
            let opened = try await opener.open(target)
            var values = Self.values(of: opened.plan)
            values["outcome"] = .string(opened.outcome.kind.rawValue)
            if let process = opened.outcome.process { values["process"] = .signed32(process) }
            return values
        } catch {
            throw QueryRefusal(name: error.kind.errorName, message: error.description)
        }
    }

    /// Returns the environment for choosing and starting apps: the session's, with the variables of
    /// the launcher.
    private static func environment(_ options: OpenOptions, _ engine: SearchlightEngine) async -> [String: String] {
        await UnitLauncher.sessionEnvironment(ofService: engine.environment).merging(options.environment) { $1 }
    }

    private static func launcher(
        _ environment: [String: String], _ options: OpenOptions, _ engine: SearchlightEngine
    ) -> AppLauncher {
        AppLauncher(
            environment: environment,
            manager: UnitLauncher(ofService: engine.environment, variables: options.environment))
    }

    private static func values(of plan: LaunchPlan) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "way": .string(plan.way.rawValue), "entry": .string(text: plan.entry), "app": .string(text: plan.app),
            "delivery": .string(plan.delivery.rawValue), "reason": .string(text: plan.reason),
            "passedOver": .dictionaries(
                plan.passedOver.map { ["way": .string($0.way.rawValue), "reason": .string(text: $0.reason)] }),
        ]
        if let command = plan.command {
            values["command"] = .strings(([command.program] + command.words.dropFirst()).map(\.fitForBus))
        }
        if let bus = plan.bus {
            values["busName"] = .string(bus.name)
            values["uris"] = .strings(bus.uris.map(\.fitForBus))
        }
        return values
    }
}

extension LaunchError.Kind {
    /// The error's D-Bus name.
    fileprivate var errorName: String {
        switch self {
        case .noApp: ExtensionStatus.unsupported.errorName
        case .missingFile: ExtensionStatus.notFound.errorName
        case .refused: ExtensionStatus.refused.errorName
        case .cannotStart: ExtensionStatus.unavailable.errorName
        case .crashed: ServiceErrorName.crashed
        case .timedOut: ServiceErrorName.timedOut
        case .cancelled: ExtensionStatus.cancelled.errorName
        }
    }
}
