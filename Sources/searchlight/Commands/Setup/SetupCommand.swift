// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Glibc
import IdleScheduling
import SearchIndex
import SearchlightEngine

struct SetupCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Choose the apps to index, start the service with your session, and begin indexing.",
        discussion: """
            Shows which of your files each installed extension would read, asks about each extension that finds \
            something, and makes systemd start the service with your session. An extension that you decline is \
            disabled. A second run only asks about new apps. --undo reverts the changes of setup; the index stays.

            Without a terminal, pass --yes, or --dry-run to see the plan. To change your mind about one extension: \
            searchlight extensions enable or disable BUNDLE
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(name: .shortAndLong, help: "Agree to everything, without questions.")
    var yes = false
    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false
    @Flag(help: "Revert the changes of earlier setups.")
    var undo = false

    func validate() throws {
        guard !undo || !dryRun else { throw ValidationError("--undo and --dry-run exclude each other.") }
        guard !options.json || yes || dryRun || undo else {
            throw ValidationError("--json cannot ask questions. Add --yes or --dry-run.")
        }
    }

    private var manager: UserManager { UserManager(environment: options.environment) }

    func perform() async throws {
        if undo { return try await takeBack() }
        var record = try SetupRecord(inStore: options.storeDirectory)
        let plan = try await found(record)
        if !options.json { try show(plan) }
        guard !dryRun, !plan.isComplete else {
            if options.json { try Output.printJSON(JSONObject(plan)) }
            if !dryRun, !options.json, plan.hasAccepted { try finish() }
            return
        }
        if !yes, isatty(STDIN_FILENO) != 1 {
            throw CommandFailure(
                message: """
                    Nothing was changed. Cannot prompt: standard input is not a terminal. Pass --yes to agree to all of \
                    this, or --dry-run only to see it.
                    """, status: .refused)
        }
        let chosen = try choose(among: plan.proposed)
        let wantsService = try plan.service == .disabled && agrees("Start the service with your session?")
        try await apply(chosen, declined: plan.proposed.filter { !chosen.contains($0.bundle) }, &record)
        var done = plan
        if wantsService { try await startService(&done, &record) }
        // Includes extensions that find nothing yet: otherwise every search would warn of a pending
        // reindex.
        try await index(chosen + plan.apps.filter { $0.role == .empty || $0.role == .own }.map(\.bundle))
        if options.json { return try Output.printJSON(JSONObject(try await found(record))) }
        if done.hasAccepted || !chosen.isEmpty { return try finish() }
        guard !plan.proposed.isEmpty else { return }
        try Output.line(
            "No files are indexed. To be asked again, run searchlight setup --undo, then searchlight setup")
    }

    // MARK: The plan

    private func found(_ record: SetupRecord) async throws -> SetupPlan {
        let listing = try await options.extensionListing()
        let counts: [String: Int]
        do {
            counts = try await options.withStore(.read) { try await $0.perform(ItemCountsCall()) }
        } catch EngineError.index(.noStore) {
            counts = [:]
        }
        let service = try await options.connectToService()
        await service?.close()
        let bundles = ExtensionRegistry(searchPath: listing.searchPath).extensions
        return SetupPlan(
            listing, bundles, items: counts, record: record,
            configuration: try options.engineConfiguration(.readOnly).worker,
            service: options.staysInProcess ? .noManager : manager.state(), isRunning: service != nil)
    }

    private func show(_ plan: SetupPlan) throws {
        if plan.apps.isEmpty {
            try Output.line(
                "No extension is installed. Apps bring extensions; the package of Searchlight has some, too.")
        }
        let width = plan.apps.map(\.name.count).max() ?? 0
        for app in plan.apps.sorted(by: { ($0.role.order, $0.name) < ($1.role.order, $1.name) }) {
            try Output.line("  \(bold: app.name.padded(to: width))  \(app.sentence(home: options.environment["HOME"]))")
        }
        switch plan.service {
        case .enabled: try Output.line("The service starts with your session.")
        case .disabled: try Output.line("The service does not start with your session yet.")
        case .notInstalled, .noManager:
            let remedy =
                plan.service == .noManager
                ? "Let your session start searchlightd." : "Run “make install”, or install the package."
            try Output.line(
                plan.isRunning
                    ? "The service runs, but systemd does not start it with your session. \(remedy)"
                    : "systemd does not start the service with your session, so changes are found only by “searchlight update”. \(remedy)"
            )
        }
        try Output.line(
            plan.desktops.isEmpty
                ? "The search of GNOME and KDE is not installed (docs/DESKTOP.md)."
                : "\(plan.desktops.joined(separator: " and ")) can show your items after the next login. To hide an app there: searchlight desktop off BUNDLE"
        )
    }

    // MARK: Questions

    private func agrees(_ question: String) throws -> Bool {
        if yes { return true }
        while true {
            Output.complain("\(text: question) [Y/n]")
            guard let answer = readLine() else {
                throw CommandFailure(message: "Setup was cancelled. Nothing was changed.", status: .cancelled)
            }
            switch answer.trimmingCharacters(in: .whitespaces).lowercased() {
            case "", "y", "yes": return true
            case "n", "no": return false
            default: Output.complain("Answer yes or no.")
            }
        }
    }

    private func choose(among apps: [SetupPlan.App]) throws -> [String] {
        try apps.filter { app in
            let paths = app.files.shownPaths(home: options.environment["HOME"])
            return try agrees("Index \(app.name), from \(paths)?")
        }.map(\.bundle)
    }

    // MARK: Changes

    private func apply(
        _ chosen: [String], declined: [SetupPlan.App], _ record: inout SetupRecord
    ) async throws {
        guard !chosen.isEmpty || !declined.isEmpty else { return }
        record.asked.formUnion(chosen)
        record.asked.formUnion(declined.map(\.bundle))
        record.disabled.formUnion(declined.map(\.bundle))
        let written = record
        try await options.withStore(.change) { store in
            // The record is written first, so that an interrupted setup can be undone.
            try written.write(inStore: options.storeDirectory)
            for app in declined { try await store.perform(SetEnabledCall(bundle: app.bundle, isEnabled: false)) }
        }
    }

    private func startService(_ plan: inout SetupPlan, _ record: inout SetupRecord) async throws {
        record.enabledService = true
        try record.write(inStore: options.storeDirectory)
        try manager.enable()
        (plan.service, plan.isRunning) = (.enabled, true)
    }

    /// The maximum time to wait for a service that was started.
    private static let serviceStart = Duration.seconds(10)
    /// The time for which a started service may not take jobs.
    private static let schedulerStart = Duration.seconds(3)
    private static let pause = Duration.milliseconds(100)

    /// Starts indexing some extensions: in the service, or else in this process.
    private func index(_ bundles: [String]) async throws {
        guard !bundles.isEmpty else { return }
        if let service = try await startedService() {
            let hasBegun = try await runJobs(bundles, in: service)
            await service.close()
            guard !options.json else { return }
            return try Output.line(
                hasBegun
                    ? "Indexing has begun. To see the progress: searchlight status, searchlight log --follow"
                    : "The service indexes them when the machine is idle. To see why it waits: searchlight why --all")
        }
        var reindex = try ReindexCommand.parse(bundles)
        reindex.options = options
        reindex.options.json = false
        try await reindex.perform()
    }

    /// Runs the pending jobs of bundles. Returns `false` if the scheduler of a starting service
    /// does not accept jobs yet; the jobs then stay pending.
    private func runJobs(_ bundles: [String], in service: RemoteEngine) async throws -> Bool {
        let start = ContinuousClock.now
        var rest = bundles[...]
        while let bundle = rest.first {
            do {
                _ = try await service.runNow(.reindex(bundle: bundle))
                rest.removeFirst()
            } catch EngineError.service(.refused) {
                guard .now - start < Self.schedulerStart else { return false }
                try await Task.sleep(for: Self.pause)
            }
        }
        return true
    }

    private func startedService() async throws -> RemoteEngine? {
        if let service = try await options.connectToService() { return service }
        guard !options.staysInProcess, manager.state() == .enabled else { return nil }
        let start = ContinuousClock.now
        while .now - start < Self.serviceStart {
            try await Task.sleep(for: Self.pause)
            if let service = try await options.connectToService() { return service }
        }
        return nil
    }

    private func finish() throws {
        try Output.line("All is set up. Try it: searchlight search WORDS, or searchlight quicklook")
    }

    // MARK: Undo

    private func takeBack() async throws {
        let record = try SetupRecord(inStore: options.storeDirectory)
        guard record != SetupRecord() else {
            if options.json {
                return try Output.printJSON(["enabled": [String](), "stopsService": false] as JSONObject)
            }
            return try Output.line("Setup has changed nothing here.")
        }
        if record.enabledService { try manager.disable() }
        let enabled = record.disabled.sorted()
        if !enabled.isEmpty {
            try await options.withStore(.change) { store in
                let known = Set(try await store.perform(ExtensionsCall()).identifiers)
                for bundle in enabled where known.contains(bundle) {
                    try await store.perform(SetEnabledCall(bundle: bundle, isEnabled: true))
                }
            }
        }
        try SetupRecord().write(inStore: options.storeDirectory)
        if options.json {
            return try Output.printJSON(["enabled": enabled, "stopsService": record.enabledService] as JSONObject)
        }
        if record.enabledService { try Output.line("The service no longer starts with your session.") }
        for bundle in enabled { try Output.line("\(bundle) is enabled again.") }
        if !enabled.isEmpty {
            try Output.line(
                "While the service runs, it indexes enabled apps. To prevent that: searchlight extensions disable ID")
        }
        if !record.asked.isEmpty { try Output.line("The next setup asks again about each app without items.") }
        try Output.line("The index stays. To remove the items of an app: searchlight forget BUNDLE")
    }
}

extension SetupPlan {
    /// `true` if an earlier setup or the user has chosen an app to index.
    fileprivate var hasAccepted: Bool { apps.contains { $0.role == .accepted } }
}

extension SetupPlan.App.Role {
    /// The position of the role in the list.
    fileprivate var order: Int {
        switch self {
        case .proposed: 0
        case .accepted: 1
        case .own: 2
        case .empty: 3
        case .off: 4
        case .broken: 5
        }
    }
}

extension SetupPlan.App {
    fileprivate func sentence(home: String?) -> String {
        switch role {
        case .proposed: "reads \(files.shownPaths(home: home))"
        case .accepted:
            files.present.isEmpty
                ? "\(counted(items, "item"))" : "\(counted(items, "item")) from \(files.shownPaths(home: home))"
        case .off: "is off; to switch it on: searchlight extensions enable \(bundle)"
        case .empty: "finds nothing yet in \(FoundFiles.shown(files.missing, home: home))"
        case .own: "reads only the files of its own app"
        case .broken: "does not run: searchlight extensions info \(bundle)"
        }
    }
}

extension FoundFiles {
    /// The maximum number of paths named in a sentence.
    private static let shownCount = 3

    fileprivate func shownPaths(home: String?) -> String { Self.shown(present, home: home) }

    fileprivate static func shown(_ paths: [String], home: String?) -> String {
        let names = paths.prefix(shownCount).map { path in
            guard let home, path.hasPrefix(home + "/") else { return path }
            return "~" + path.dropFirst(home.count)
        }
        let rest = paths.count - names.count
        return names.joined(separator: ", ") + (rest > 0 ? " and \(counted(rest, "more path"))" : "")
    }
}
