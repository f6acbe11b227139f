// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ServiceMessages
import Synchronization
import TestSupport

/// Measures the sample extension of each kit, as “searchlight extensions new” makes it and its
/// Makefile builds it: the start of a worker, and its memory.
struct KitBenchmarks {
    let folder: String

    private static let starts = 60

    /// A kit, with the program that its Makefile needs.
    private enum Kit: String, CaseIterable {
        case c, cPlusPlus = "c++", rust, go, python, zig, swift

        var name: String {
            switch self {
            case .c: "C"
            case .cPlusPlus: "C++"
            default: rawValue.prefix(1).uppercased() + rawValue.dropFirst()
            }
        }
        /// The system's compilers. Those that rustup and similar tools install may download files.
        var toolchain: String? {
            switch self {
            case .c, .cPlusPlus, .swift: nil
            case .rust: "/usr/bin/cargo"
            case .go: "/usr/bin/go"
            case .python: "/usr/bin/python3-config"
            case .zig: Repository.root + "/.build/zig/ziglang/zig"
            }
        }
        var variables: [String] {
            switch self {
            case .rust: ["CARGO=/usr/bin/cargo", "RUSTC=/usr/bin/rustc"]
            case .go: ["GO=/usr/bin/go"]
            case .zig: ["ZIG=\(Repository.root)/.build/zig/ziglang/zig"]
            default: []
            }
        }
        /// The row for the start time, or for its difference from the C sample's.
        var row: (absolute: Row?, beyondC: Row?) {
            switch self {
            case .c, .swift: (nil, nil)
            case .cPlusPlus: (nil, .kitInCPlusPlus)
            case .rust: (nil, .kitInRust)
            case .zig: (nil, .kitInZig)
            case .go: (.kitInGo, nil)
            case .python: (.kitInPython, nil)
            }
        }
        var identifier: String { "com.example.in-\(self == .cPlusPlus ? "cpp" : rawValue)" }
        var isAvailable: Bool { toolchain.map(FileManager.default.isExecutableFile) ?? true }
    }

    /// The times in milliseconds and the memory in MiB of the workers of a kit.
    private struct Figures {
        var times: [Double] = []
        var privateMemory: [Double] = []
        var residentMemory: [Double] = []
    }

    func run() async throws -> [Measurement] {
        let place = URL(filePath: folder + "/kits").path
        try? FileManager.default.removeItem(atPath: place)
        let kits = Kit.allCases.filter(\.isAvailable)
        for kit in Kit.allCases where !kit.isAvailable {
            Progress.say("kits: \(kit.name) is left out, for lack of \(kit.toolchain ?? "")")
        }
        let recipe = place + "/home/Recipes/Rice pudding.txt"
        try FileManager.default.createDirectory(atPath: place + "/home/Recipes", withIntermediateDirectories: true)
        try Data("rice, milk, cinnamon\n".utf8).write(to: URL(filePath: recipe))
        try FileManager.default.createDirectory(atPath: place + "/extensions", withIntermediateDirectories: true)
        for kit in kits {
            Progress.say("kits: building the sample in \(kit.name)")
            try build(kit, in: place)
        }
        var figures: [Kit: Figures] = [:]
        // The kits alternate, and the first start of each fills the page cache.
        for run in 0..<(Self.starts + 1) {
            for kit in kits {
                let (time, memory) = try await start(kit, recipe, in: place)
                guard run > 0 else { continue }
                figures[kit, default: Figures()].times.append(time)
                figures[kit, default: Figures()].privateMemory.append(memory.private)
                figures[kit, default: Figures()].residentMemory.append(memory.resident)
            }
        }
        guard let baseline = figures[.c].map({ Percentiles($0.times) }) else { return [] }
        return kits.flatMap { kit in measurements(kit, figures[kit] ?? Figures(), baseline) }
    }

    private func measurements(_ kit: Kit, _ figures: Figures, _ c: Percentiles) -> [Measurement] {
        let times = Percentiles(figures.times)
        let baseline = kit == .c ? nil : "C"
        var list = [
            Measurement(
                name: "the sample in \(kit.name), cold worker to the first answer, p50", value: times.p50, unit: "ms",
                baseline: baseline, baselineValue: kit == .c ? nil : c.p50, row: kit.row.absolute),
            Measurement(
                name: "the sample in \(kit.name), the same, p95", value: times.p95, unit: "ms",
                baseline: baseline, baselineValue: kit == .c ? nil : c.p95),
        ]
        if let row = kit.row.beyondC {
            list.append(
                Measurement(
                    name: "the sample in \(kit.name), minus the one in C, p50", value: times.p50 - c.p50, unit: "ms",
                    row: row))
        }
        return list + [
            Measurement(
                name: "the sample in \(kit.name), private memory of the worker",
                value: Percentiles(figures.privateMemory).p50, unit: "MiB"),
            Measurement(
                name: "the sample in \(kit.name), resident memory of the worker",
                value: Percentiles(figures.residentMemory).p50, unit: "MiB"),
        ]
    }

    private static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    /// Makes the project of a kit, builds it, and puts its bundle among the extensions.
    private func build(_ kit: Kit, in place: String) throws {
        let project = place + "/" + kit.identifier
        _ = try ChildProcess.output(
            of: Self.products + "/searchlight",
            ["extensions", "new", kit.identifier, "--language", kit.rawValue, "--directory", project])
        _ = try ChildProcess.output(of: "/usr/bin/make", ["--silent", "-C", project] + kit.variables)
        let bundle = "/\(kit.identifier).searchext"
        try FileManager.default.moveItem(
            atPath: project + "/build" + bundle, toPath: place + "/extensions" + bundle)
    }

    /// Measures a call that starts a worker and reads one small file. Returns the time until its
    /// answer, in milliseconds, and the memory that the worker then uses, in MiB.
    private func start(
        _ kit: Kit, _ recipe: String, in place: String
    ) async throws -> (time: Double, memory: (private: Double, resident: Double)) {
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = place + "/home"
        let worker = StartedWorker()
        let host = ExtensionHost(
            configuration: WorkerConfiguration(
                workerPath: Self.products + "/searchlight-worker", frameworkFolder: Self.products,
                environment: environment),
            registry: ExtensionRegistry(searchPath: [place + "/extensions"]), receiver: NoReceiver()
        ) { event in
            if case .started(_, let process) = event { worker.process.store(process, ordering: .relaxed) }
        }
        let cost = try await ProcessCost.measure {
            let payload = try await host.data(item: recipe, type: "public.utf8-plain-text", kit.identifier)
            guard payload.length > 0 else { throw BenchmarkError("\(kit.name) answered nothing.") }
        }
        let memory = IdleBenchmarks.memory(worker.process.load(ordering: .relaxed))
        await host.shutdown()
        guard let memory else { throw BenchmarkError("The worker for \(kit.name) is gone.") }
        return (cost.wall * 1000, (memory.ownKilobytes / 1024, memory.residentKilobytes / 1024))
    }
}

/// The process ID of a started worker.
private final class StartedWorker: Sendable {
    let process = Atomic<Int32>(0)
}
