// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchIndex
import SearchlightEngine

/// Measures a preview by the notes extension: reading, parsing, rendering and sanitizing a note.
struct JournalBenchmark {
    /// The path of the extension's library, which is copied into a bundle.
    let library: String
    let folder: String

    private static let bundle = "com.searchlight.journal"
    private static let noteBytes = 100_000

    func run(_ configuration: WorkerConfiguration) async throws -> [Measurement] {
        let notes = folder + "/notes"
        try install(notes: notes)
        try Self.note().write(to: URL(filePath: notes + "/note.md"))
        var configuration = configuration
        configuration.environment["XDG_CONFIG_HOME"] = URL(filePath: folder).path + "/config"
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: folder + "/store", access: .readWrite, extensionSearchPath: [folder + "/extensions"],
                worker: configuration))
        guard try await engine.reindexAll(Self.bundle) == 1,
            let item = try await engine.search(SearchRequest("searchlight")).hits.first?.item
        else { throw BenchmarkError("Journal donated no note of \(notes).") }
        let measurements = try await PreviewBenchmarks.measured(
            engine, "preview/\(item.number)/content?q=extension", "a note of 100 KB of Markdown by Journal")
        await engine.close()
        return measurements
    }

    private func install(notes: String) throws {
        let extensionFolder = folder + "/extensions/\(Self.bundle).searchext"
        let settings = folder + "/config/\(Self.bundle)"
        for path in [notes, extensionFolder, settings] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            atPath: Repository.root + "/Plugins/Journal/Info.plist",
            toPath: extensionFolder + "/Info.plist")
        do {
            try FileManager.default.copyItem(atPath: library, toPath: extensionFolder + "/libJournal.so")
        } catch {
            throw BenchmarkError(
                "\(library) cannot be copied: \(error.localizedDescription) Run “swift build -c release --package-path "
                    + "Plugins --product Journal”.")
        }
        try Data((URL(filePath: notes).path + "\n").utf8).write(to: URL(filePath: settings + "/folders"))
    }

    /// Returns real Markdown: this project's own documentation.
    private static func note() throws -> Data {
        var note = Data()
        for name in ["ARCHITECTURE", "EXTENSIONS", "PERFORMANCE", "BINDINGS", "API"] where note.count < noteBytes {
            note += try Data(contentsOf: URL(filePath: Repository.root + "/docs/\(name).md"))
        }
        let end = note.prefix(noteBytes).lastIndex(of: UInt8(ascii: "\n")) ?? note.endIndex
        return note[..<end]
    }
}
