// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import Synchronization

/// The folders and bundles of a run.
struct TorturePlace: Sendable {
    let folder: String
    /// The folder of the build's programs and libraries.
    let products: String
    /// The process ID of the service; `nil` for an engine in this process.
    let service: Int32?
    let bundles: [String]
    /// The offset of the clock, which is advanced so that no quarantine or pause lasts longer than
    /// a round.
    private let hours = Counter()

    init(folder: String, products: String, service: Int32?) {
        self.folder = folder
        self.products = products
        self.service = service
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/extensions")) ?? []
        bundles = names.filter { $0.hasSuffix(".searchext") }.map { String($0.dropLast(10)) }.sorted()
    }

    var good: [String] { bundles.filter { $0.contains("good") } }
    var broken: [String] { bundles.filter { !$0.contains("good") } }
    /// The process ID of the workers' parent.
    var host: Int32 { service ?? getpid() }

    func passTime() { hours.add() }

    /// Opens the engine or connects to the service.
    func open(_ figures: TortureFigures) async throws -> any EngineClient {
        if service != nil {
            let remote = try await RemoteEngine.connect(
                storeDirectory: folder + "/store", program: "torture", patience: .seconds(60))
            guard let remote else { throw TortureProblem("no process listens in \(folder)/store") }
            return remote
        }
        var limits = WorkerConfiguration.Limits()
        limits.load = .seconds(4)
        (limits.firstSign, limits.answer, limits.progress) = (
            .milliseconds(800), .milliseconds(800), .milliseconds(800)
        )
        (limits.notice, limits.cancelGrace, limits.endGrace) = (
            .milliseconds(500), .milliseconds(100), .milliseconds(100)
        )
        var environment = ["HOME": folder, "TMPDIR": folder + "/tmp", "XDG_CONFIG_HOME": folder + "/config"]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        let begin = Date().timeIntervalSinceReferenceDate
        return try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: folder + "/store", access: .readWrite, extensionSearchPath: [folder + "/extensions"],
                worker: WorkerConfiguration(
                    workerPath: products + "/searchlight-worker", frameworkFolder: products, environment: environment,
                    limits: limits),
                // In total less than a month, after which items expire.
                now: { [hours] in begin + Double(hours.value) * 600 })
        ) { figures.note($0) }
    }

    /// The files that should not exist after a run.
    var leftovers: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/tmp")) ?? []
        // An extension that is killed leaves its own temporary files behind, which are ignored.
        return files.filter { !$0.hasPrefix("searchlight-") }
    }
}

/// The reason why a run cannot continue.
struct TortureProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

final class Counter: Sendable {
    private let count = Atomic(0)
    func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}
