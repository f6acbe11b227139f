// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport

/// The measured extensions, compiled like a third-party extension and installed in a folder.
final class MeasuredExtensions: Sendable {
    let folder: String
    let c = "com.example.measured"
    let swift = "com.example.measured-in-swift"
    let configuration: WorkerConfiguration
    /// The process ID of the last started worker.
    let lastWorker = Atomic<Int32>(0)

    private static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    init(folder: String) throws {
        self.folder = URL(filePath: folder).path + "/extensions"
        let products = Self.products
        guard FileManager.default.isExecutableFile(atPath: products + "/searchlight-worker"),
            FileManager.default.fileExists(atPath: products + "/libCoreSpotlight.so")
        else {
            throw BenchmarkError(
                "searchlight-worker or libCoreSpotlight.so is not in \(products). Run “swift build -c release”.")
        }
        configuration = WorkerConfiguration(
            workerPath: products + "/searchlight-worker", frameworkFolder: products,
            environment: ProcessInfo.processInfo.environment)
        let include = "-I\(Repository.root)/Sources/SearchlightExtension/include"
        try compile(
            c, ["clang", "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", include, Self.source("measured.c")])
        try compile(
            swift, principalClass: "Measured.Handler",
            [
                "swiftc", "-O", "-emit-library", "-module-name", "Measured", "-swift-version", "5",
                "-I", products + "/Modules", "-Xcc",
                "-fmodule-map-file=\(products)/SearchlightExtension.build/module.modulemap",
                "-Xcc", include, "-Xcc", "-fmodule-map-file=\(Repository.root)/Sources/CSystemd/module.modulemap",
                "-Xcc", "-fmodule-map-file=\(products)/CSystem.build/module.modulemap",
                "-Xcc", "-fmodule-map-file=\(products)/CTables.build/module.modulemap",
                "-Xcc", "-fmodule-map-file=\(products)/CTextTables.build/module.modulemap",
                "-L", products, "-lCoreSpotlight", Self.source("Measured.swift"),
            ])
    }

    /// Creates a host without a running worker.
    func host(onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }) -> ExtensionHost {
        ExtensionHost(
            configuration: configuration, registry: ExtensionRegistry(searchPath: [folder]), receiver: NoReceiver()
        ) { [self] event in
            onEvent(event)
            if case .started(_, let process) = event { lastWorker.store(process, ordering: .relaxed) }
        }
    }

    /// Returns the records for one call, about 0.8 KB each.
    static func batch(_ number: Int, of count: Int, _ random: inout SplitMix64) throws -> [UInt8] {
        var batch: [UInt8] = []
        for item in 0..<count {
            let words = (0..<120).map { _ in "w\(random.below(20_000))" }.joined(separator: " ")
            let record = ItemRecord(
                uniqueIdentifier: "\(number)-\(item)",
                attributes: [
                    "title": .string("item \(item) of \(number)"), "contentType": .string("public.text"),
                    "keywords": .array([.string("note"), .string("benchmark")]), "textContent": .string(words),
                ])
            RecordBatch.append(try record.encoded(), to: &batch)
        }
        return batch
    }

    /// Writes the batches to the file that the C extension reads.
    func writeRecords(_ batches: [[UInt8]]) throws {
        var data = Data()
        for batch in batches {
            withUnsafeBytes(of: UInt32(batch.count).littleEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: batch)
        }
        try data.write(to: URL(filePath: folder + "/\(c).searchext/records"))
    }

    /// Compiles another C extension.
    func compile(_ identifier: String, source: String, options: [String]) throws {
        let include = "-I\(Repository.root)/Sources/SearchlightExtension/include"
        try compile(
            identifier,
            ["clang", "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", include, Self.source(source)] + options)
    }

    private static func source(_ name: String) -> String { Repository.root + "/Tests/Fixtures/Benchmark/" + name }

    private func compile(_ identifier: String, principalClass: String? = nil, _ command: [String]) throws {
        let bundle = folder + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        var point = ["NSExtensionPointIdentifier": "com.apple.spotlight.index"]
        point["NSExtensionPrincipalClass"] = principalClass
        let manifest: [String: Any] = [
            "CFBundleIdentifier": identifier, "CFBundleVersion": "1", "CFBundleExecutable": "library.so",
            "NSExtension": point,
        ]
        try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
            .write(to: URL(filePath: bundle + "/Info.plist"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command + ["-o", bundle + "/library.so"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("“\(command.joined(separator: " "))” failed.")
        }
    }
}

/// Rejects all donations.
struct NoReceiver: DonationReceiver {
    func receive(_ batch: IndexBatch) async throws(BusError) {
        throw BusError.refused(.unavailable, "This host stores nothing.")
    }
    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? { nil }
    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] { [] }
    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        RecordReply(record: nil)
    }
}
