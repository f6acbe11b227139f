// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import TestSupport
import UniformTypeIdentifiers

/// Measures the scan of 200 extensions: without a cache, with the cache of an earlier process, and
/// again in the same process. No library is loaded, and with a cache none is opened.
struct RegistryBenchmarks {
    var folder: String
    /// `true` for fewer repetitions.
    var isShort: Bool

    private static let bundles = 200
    private var repetitions: Int { isShort ? 3 : 25 }

    func run() throws -> [Measurement] {
        let root = URL(filePath: folder).standardizedFileURL.path + "/registry"
        try? FileManager.default.removeItem(atPath: root)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let extensions = root + "/extensions"
        for number in 0..<Self.bundles { try bundle(number, in: extensions) }
        // Files written within the timestamp resolution are read again each time, so wait.
        Thread.sleep(forTimeInterval: 2.5)
        let cache = root + "/cache"
        let cold = median { blackHole(ExtensionRegistry(searchPath: [extensions])) }
        let first = RegistryCache(path: cache)
        blackHole(ExtensionRegistry(searchPath: [extensions], cache: first))
        first.save()
        let warm = median {
            let cache = RegistryCache(path: cache)
            blackHole(ExtensionRegistry(searchPath: [extensions], cache: cache))
        }
        let again = median { blackHole(ExtensionRegistry(searchPath: [extensions], cache: first)) }
        let registry = ExtensionRegistry(searchPath: [extensions], cache: first)
        let types = median { blackHole(registry.registerTypes(in: UTTypeRegistry()).count) }
        let looks = median { look(extensions) }
        return [
            row("\(Self.bundles) extensions, nothing known", cold, looks),
            row("\(Self.bundles) extensions, with the cache of another process", warm, looks, .warmRegistry),
            row("\(Self.bundles) extensions, looked for again", again, looks),
            Measurement(name: "types of \(Self.bundles) extensions registered", value: types * 1000, unit: "ms"),
            Measurement(
                name: "libraries loaded of \(Self.bundles) extensions", value: Double(mapped(under: extensions)),
                unit: "", row: .loadedLibraries),
        ]
    }

    private func row(_ name: String, _ value: Double, _ baseline: Double, _ row: Row? = nil) -> Measurement {
        Measurement(
            name: name, value: value * 1000, unit: "ms", baseline: "stat of each directory, manifest and library",
            baselineValue: baseline * 1000, row: row)
    }

    private func median(_ body: () -> Void) -> Double {
        (0..<repetitions).map { _ in
            let start = ContinuousClock.now
            body()
            return (ContinuousClock.now - start) / .seconds(1)
        }.sorted()[repetitions / 2]
    }

    /// Returns the number of files below a folder that are mapped into this process, as loaded
    /// libraries are.
    private func mapped(under folder: String) -> Int {
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        return maps.split(separator: "\n").count { $0.contains(folder) }
    }

    /// Calls stat(2) for each file, which any scan must do.
    private func look(_ extensions: String) {
        var status = stat()
        for number in 0..<Self.bundles {
            let path = extensions + "/com.example.extension\(number).searchext"
            for name in ["", "/Info.plist", "/library.so"] { blackHole(stat(path + name, &status)) }
        }
    }

    private func bundle(_ number: Int, in folder: String) throws {
        let types = (0..<3).map { type in
            [
                "UTTypeIdentifier": "com.example.type\(number)-\(type)",
                "UTTypeConformsTo": ["public.text", "public.data"],
                "UTTypeDescription": "A kind of document",
                "UTTypeTagSpecification": ["public.filename-extension": ["t\(number)\(type)"]],
            ] as [String: Any]
        }
        try PlainBundle(
            "com.example.extension\(number)", in: folder,
            manifest: [
                "UTExportedTypeDeclarations": types,
                "Searchlight": ["ReadablePaths": ["~/Documents", "~/Notes"], "MemoryLimit": 256 << 20],
            ])
    }
}
