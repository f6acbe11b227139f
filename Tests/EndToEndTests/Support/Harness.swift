// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ExtensionRuntime
import Foundation
import SearchIndex
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// A private folder with a store and extensions, and engines for them. Deleted when the test ends.
final class Harness: Sendable {
    let folder: String
    private let owner: Harness?
    /// `true` if extensions are loaded into the test process, as for a debugger.
    private let isInProcess: Bool
    private let events = Mutex<[ExtensionEvent]>([])
    private let listeners = Mutex<[@Sendable (ExtensionEvent) -> Void]>([])

    /// Creates new engines for the folder of an existing harness, as a second process would have.
    init(sharing other: Harness) throws {
        owner = other
        isInProcess = other.isInProcess
        folder = other.folder
    }

    init(inProcess: Bool = false) throws {
        owner = nil
        isInProcess = inProcess
        folder = TemporaryFolder.place + "/searchlight-test-\(UUID().uuidString)"
        for name in ["extensions", "config", "data", "Documents/marks"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
    }

    deinit { if owner == nil { try? FileManager.default.removeItem(atPath: folder) } }

    var store: String { folder + "/store" }
    var extensions: String { folder + "/extensions" }
    /// The folder that fixtures declare, in which they leave marks for their next worker; see
    /// fixture.h.
    var marks: String { folder + "/Documents/marks" }
    /// The extension search path of a command for this harness.
    var searchPath: [String] {
        [extensions, folder + "/data/searchlight/extensions", folder + "/nothing/searchlight/extensions"]
    }

    /// Returns an engine with the real worker program. The default time limits allow for a busy
    /// machine.
    func engine(
        _ access: EngineConfiguration.Access = .readWrite, limits: WorkerConfiguration.Limits = .patient,
        worker: String? = nil, searchPath: [String]? = nil, clock: any Clock<Duration> = SteadyClock.shared,
        pages: ReindexPageLimits = ReindexPageLimits(), changing: (inout WorkerConfiguration) -> Void = { _ in },
        configuring: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> SearchlightEngine {
        var configuration = EngineConfiguration(
            storeDirectory: store, access: access, extensionSearchPath: searchPath ?? [extensions],
            worker: try workerConfiguration(worker, limits: limits, clock: clock, changing: changing))
        configuration.pages = pages
        configuring(&configuration)
        if isInProcess {
            configuration.worker.startInProcess = { (connection) throws(BusError) in
                try startWorkerInThisProcess(connection: connection)
            }
        }
        return try SearchlightEngine(configuration) { [weak self] event in self?.take(event) }
    }

    func take(_ event: ExtensionEvent) {
        events.withLock { $0.append(event) }
        for listener in listeners.withLock({ $0 }) { listener(event) }
    }

    /// Returns the configuration of workers in this folder.
    func workerConfiguration(
        _ worker: String? = nil, limits: WorkerConfiguration.Limits = .patient,
        clock: any Clock<Duration> = SteadyClock.shared, changing: (inout WorkerConfiguration) -> Void = { _ in }
    ) throws -> WorkerConfiguration {
        var environment = ["XDG_CONFIG_HOME": folder + "/config", "HOME": folder]
        // The toolchain may need it to find its runtime.
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        var configuration = WorkerConfiguration(
            workerPath: try worker ?? BuiltProducts.program("searchlight-worker"),
            frameworkFolder: BuiltProducts.folder, environment: environment, limits: limits, clock: clock)
        changing(&configuration)
        return configuration
    }

    /// Runs a body with an engine and closes the engine.
    func withEngine(
        _ access: EngineConfiguration.Access = .readWrite, limits: WorkerConfiguration.Limits = .patient,
        clock: any Clock<Duration> = SteadyClock.shared, _ body: (SearchlightEngine) async throws -> Void
    ) async throws {
        let engine = try engine(access, limits: limits, clock: clock)
        do {
            try await body(engine)
            await engine.close()
        } catch {
            await engine.close()
            throw error
        }
    }

    /// Calls a closure for each later event.
    func listen(_ listener: @escaping @Sendable (ExtensionEvent) -> Void) { listeners.withLock { $0.append(listener) } }

    var recordedEvents: [ExtensionEvent] { events.withLock { $0 } }

    /// The lines that extensions printed or logged.
    var messages: [String] {
        recordedEvents.compactMap { event in
            switch event {
            case .output(_, let line), .log(_, _, let line): line
            default: nil
            }
        }
    }

    /// The number of requests that were retried after a crash.
    var retries: Int { recordedEvents.count { if case .retrying = $0 { true } else { false } } }

    /// Installs a bundle in the extensions folder.
    ///
    /// - Parameter manifest: Changes to the keys of the standard Info.plist; `nil` removes a key.
    @discardableResult
    func install(
        _ identifier: String, library: String?, libraryName: String = "library.so", principalClass: String? = nil,
        manifest changes: [String: Any?] = [:]
    ) throws -> String {
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        var point: [String: Any] = ["NSExtensionPointIdentifier": "com.apple.spotlight.index"]
        if let principalClass { point["NSExtensionPrincipalClass"] = principalClass }
        var manifest: [String: Any] = [
            "CFBundleIdentifier": identifier, "CFBundleVersion": "1", "CFBundleExecutable": libraryName,
            "NSExtension": point, "Searchlight": ["WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"]],
        ]
        for (key, value) in changes { manifest[key] = value }
        let data = try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
        try data.write(to: URL(filePath: bundle + "/Info.plist"))
        if let library {
            try FileManager.default.copyItem(atPath: library, toPath: bundle + "/" + libraryName)
        }
        return bundle
    }

    /// Installs a C fixture in the extensions folder as `com.example.NAME`, and returns that
    /// identifier.
    func installFixture(_ name: String) throws -> String {
        let identifier = "com.example.\(name)"
        try install(identifier, library: try CFixture.library(name))
        return identifier
    }

    /// Installs Journal for a folder of notes.
    func installJournal(notes: String) throws -> String {
        let identifier = "com.searchlight.journal"
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Journal/Info.plist", toPath: bundle + "/Info.plist")
        try FileManager.default.copyItem(
            atPath: try BuiltProducts.journalLibrary(), toPath: bundle + "/libJournal.so")
        let settings = folder + "/config/\(identifier)"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try Data((notes + "\n").utf8).write(to: URL(filePath: settings + "/folders"))
        return identifier
    }

    /// Sets a key of the Searchlight dictionary in the manifest of an installed bundle.
    func changeManifest(of bundle: String, _ key: String, to value: Any) throws {
        let path = URL(filePath: extensions + "/\(bundle).searchext/Info.plist")
        let data = try Data(contentsOf: path)
        var root = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        var table = root["Searchlight"] as? [String: Any] ?? [:]
        table[key] = value
        root["Searchlight"] = table
        try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0).write(to: path)
    }

    /// Installs Mail, which reads Maildir and Mail, and returns its identifier.
    func installMail() throws -> String {
        let identifier = "com.searchlight.mail"
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Content/Mail/Info.plist", toPath: bundle + "/Info.plist")
        try FileManager.default.copyItem(
            atPath: try BuiltProducts.mailLibrary(), toPath: bundle + "/libMail.so")
        return identifier
    }

    /// Installs the bundle of Documents with code, which reads the documents and downloads folders.
    func installDocumentsWithCode() throws -> String {
        let identifier = "com.searchlight.documents"
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Content/Documents/Info.plist", toPath: bundle + "/Info.plist")
        try FileManager.default.copyItem(
            atPath: try BuiltProducts.documentsLibrary(), toPath: bundle + "/libDocuments.so")
        return identifier
    }

    /// Installs an extension of the package in Plugins/ with its manifest in Plugins/Content, and
    /// returns its identifier.
    func installPlugin(_ product: String) throws -> String {
        let identifier = "com.searchlight.\(product.lowercased())"
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Content/\(product)/Info.plist", toPath: bundle + "/Info.plist")
        try FileManager.default.copyItem(
            atPath: try BuiltProducts.library(ofPlugin: product), toPath: bundle + "/lib\(product).so")
        return identifier
    }

    /// Installs Documents as bindings, which reads Downloads, and returns its identifier.
    func installDocuments() throws -> String {
        let identifier = "com.searchlight.documents"
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Documents/Info.plist", toPath: bundle + "/Info.plist")
        return identifier
    }
}

extension WorkerConfiguration.Limits {
    /// The limits for extensions that are expected to work, even on a busy machine.
    static var patient: Self {
        var limits = Self()
        (limits.load, limits.answer, limits.progress) = (.seconds(60), .seconds(60), .seconds(60))
        limits.firstSign = .seconds(60)
        // No linger timers, since a test with its own clock does not expect them.
        (limits.linger, limits.backgroundLinger) = (nil, nil)
        return limits
    }

    /// The limits for extensions that are expected to hang.
    static var short: Self {
        var limits = Self.patient
        (limits.load, limits.answer, limits.progress) = (.seconds(5), .milliseconds(400), .milliseconds(400))
        (limits.firstSign, limits.cancelGrace, limits.endGrace) = (
            .milliseconds(400), .milliseconds(200), .milliseconds(200)
        )
        return limits
    }
}

extension SearchlightEngine {
    /// Searches for whole words and prefixes only.
    func search(
        _ text: String, bundle: String?, limit: Int
    ) async throws(EngineError) -> (hits: [SearchHit], total: Int) {
        var request = SearchRequest(text, bundle: bundle)
        request.limit = limit
        request.findsInsideWords = false
        request.countsUpTo = .max
        let page = try await search(request)
        return (page.hits, page.total?.count ?? 0)
    }
}
