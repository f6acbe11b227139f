// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BoundaryRecording
import CommandSupport
import ExtensionHost
import ExtensionValidation
import Foundation
import MetadataQuery
import SearchlightEngine
import SystemSupport

/// Records the calls between an extension and its host, for bug reports and tests.
struct ExtensionsRecordCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record the calls between an extension and its host in a file.",
        discussion: """
            BUNDLE is a .searchext folder or the identifier of an installed extension, in C or in a language that \
            uses the C interface. The extension reindexes everything, then some items; it fulfils their promises, \
            renders their previews, and gets a throttle notice. It runs in a separate process with an index in \
            memory; your index does not change.

            The file contains the texts of your items. --scrub replaces them with placeholders of the same length, \
            so that the file can be part of a bug report. To replay it: searchlight extensions replay FILE

            Exit status: 0 the file is complete, even if the extension failed; 12 the file lacks later calls, because all \
            calls do not fit into it or the disk is full; 1 the extension has no code; 2 there is no such bundle.
            """)

    @Argument(help: ArgumentHelp("The extension.", valueName: "bundle"), completion: BundleNames.completion)
    var bundle: String
    @Option(name: .shortAndLong, help: ArgumentHelp("Write the recording to this file.", valueName: "file"))
    var output: String
    @Option(help: ArgumentHelp("Request at most this many items by name.", valueName: "count"))
    var items = 10
    @Flag(help: "Replace personal text with placeholders of the same length.")
    var scrub = false
    @Flag(name: .shortAndLong, help: "Show the output and the log of the extension.")
    var verbose = false
    @Option(
        name: .customLong("extensions"),
        help: ArgumentHelp("Search these folders for extensions first; separate several with colons.", valueName: "dir")
    )
    var extensionPath: String?
    @Flag(help: "Print JSON.")
    var json = false
    var printsJSON: Bool { json }

    private static let maximumItems = 10_000

    func validate() throws {
        guard (0...Self.maximumItems).contains(items) else {
            throw ValidationError("--items takes a number from 0 to \(Self.maximumItems), not \(items).")
        }
    }

    func perform() async throws {
        let subject = RecordedSubject(extensionPath: extensionPath)
        let found = try subject.bundle(bundle)
        guard found.manifest.bindings.isEmpty, found.manifest.database == nil else {
            throw CommandFailure(
                message: "\(found.identifier) has no code whose calls could be recorded: it consists of bindings.",
                status: .failure)
        }
        var recording: CallRecording
        do throws(ExtensionError) {
            recording = try await subject.recorder(found, verbose: verbose).record(items: items)
        } catch {
            throw EngineError.extension(error)
        }
        if scrub { recording = Self.scrubbed(recording) }
        let bytes = recording.encoded
        do { try Data(bytes).write(to: URL(filePath: absolute(output)), options: .atomic) } catch {
            throw CommandFailure(
                message: """
                    Writing \(output) failed: \(systemReason(of: error)). Check that its folder is writable and its disk is \
                    not full, or name another file.
                    """,
                status: .inputOutput)
        }
        try report(recording, bytes.count)
        if !recording.isComplete { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    /// Returns a recording without personal text and without the names of the app's own attributes.
    static func scrubbed(_ recording: CallRecording) -> CallRecording {
        RecordingScrubber.scrubbed(recording) { AttributeNames.kind(of: $0) != nil }
    }

    private func report(_ recording: CallRecording, _ bytes: Int) throws {
        if json {
            return try Output.printJSON(
                [
                    "file": absolute(output), "bytes": bytes, "calls": recording.callCount,
                    "sessions": recording.sessions.count, "scrubbed": scrub, "complete": recording.isComplete,
                ] as JSONObject)
        }
        let workers = recording.sessions.count == 1 ? "1 worker" : "\(recording.sessions.count) workers"
        try Output.line("Recorded \(recording.callCount) calls of \(workers) in \(output), \(bytes) bytes.")
        for (index, session) in recording.sessions.enumerated() where session.ending != .finished {
            try Output.line("  Worker \(index + 1): \(session.ending.description).")
        }
        for (index, session) in recording.sessions.enumerated() where session.isTruncated {
            try Output.line(
                """
                  Worker \(index + 1): later calls are missing. They do not fit, or the disk was full. Free space, or request \
                fewer items: --items
                """)
        }
    }
}

/// Plays back a recording, in the role of the host or of an extension.
struct ExtensionsReplayCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay a recording for the host or for an extension, and report the differences.",
        discussion: """
            Without an option, the recorded extension answers the requests of this host. With --library, the recorded host \
            calls that library, which can access no file, in a bundle of its own. With --bundle, the recorded host calls the \
            extension of that bundle, with the access that the bundle declares.

            Each call and each result is compared with the recording. An extension that reads files, the time or random \
            numbers may differ for that reason.

            Exit status: 0 all calls are the same; 11 a call differs; 1 the file is no recording that this version reads; \
            2 there is no such file.
            """)

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String
    @Option(help: ArgumentHelp("Call this library.", valueName: "library"), completion: .file())
    var library: String?
    @Option(
        help: ArgumentHelp("Call the extension of this .searchext folder.", valueName: "bundle"),
        completion: .directory)
    var bundle: String?
    @Flag(name: .shortAndLong, help: "Show the output and the log of the extension.")
    var verbose = false
    @Flag(help: "Print JSON.")
    var json = false
    var printsJSON: Bool { json }

    /// The number of differences to print.
    private static let shownDifferences = 20

    func validate() throws {
        guard library == nil || bundle == nil else { throw ValidationError("Use --library or --bundle, not both.") }
    }

    func perform() async throws {
        let recording = try read()
        let subject = RecordedSubject(extensionPath: nil)
        let isForExtension = library != nil || bundle != nil
        // The bundle's folder is removed when this object is released.
        var made: ReplayBundle?
        let found: ExtensionBundle
        if let bundle {
            found = try subject.bundle(bundle)
        } else {
            if let library, !FileManager.default.fileExists(atPath: absolute(library)) {
                throw CommandFailure(message: "There is no library \(absolute(library)).", status: .notFound)
            }
            let replay = try ReplayBundle(recording, library: library.map(absolute))
            (made, found) = (replay, replay.bundle)
        }
        let recorder = subject.recorder(found, verbose: verbose)
        var replayed: CallRecording
        do throws(ExtensionError) {
            replayed =
                isForExtension
                ? try await recorder.replayHost(recording) : try await recorder.replayExtension(recording)
        } catch {
            throw EngineError.extension(error)
        }
        withExtendedLifetime(made) {}
        // The extension's texts get the same placeholders as in the recording.
        if recording.isScrubbed, isForExtension {
            replayed.isScrubbed = false
            replayed = ExtensionsRecordCommand.scrubbed(replayed)
        }
        try report(RecordingComparison(recording, replayed), isComplete: recording.isComplete)
    }

    private func read() throws -> CallRecording {
        let path = absolute(file)
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure(
                message: """
                    There is no file \(path), or it cannot be read. Name a recording. To make one: searchlight extensions record
                    """,
                status: .notFound)
        }
        defer { try? handle.close() }
        let data = try handle.read(upToCount: CallRecording.maximumBytes + 1) ?? Data()
        do throws(RecordingError) { return try CallRecording(decoding: Array(data)) } catch {
            throw CommandFailure(message: error.description, status: .failure)
        }
    }

    private func report(_ comparison: RecordingComparison, isComplete: Bool) throws {
        let differences = comparison.differences
        if json {
            let list = differences.map {
                ["session": $0.session, "call": $0.call, "recorded": $0.recorded, "replayed": $0.replayed] as JSONObject
            }
            try Output.printJSON(
                ["calls": comparison.calls, "differences": list, "complete": isComplete] as JSONObject)
        } else if differences.isEmpty {
            try Output.line("\(good: "same")  \(comparison.calls) calls")
        } else {
            for difference in differences.prefix(Self.shownDifferences) {
                try Output.line("\(bad: "differs")  Session \(difference.session), \(Output.tidied(difference.call))")
                try Output.line("    recorded  \(Output.tidied(difference.recorded))")
                try Output.line("    replayed  \(Output.tidied(difference.replayed))")
            }
            let more = differences.count - Self.shownDifferences
            if more > 0 { try Output.line("And \(more) more.") }
        }
        if !json, !isComplete { try Output.line("The recording lacks later calls, which were not compared.") }
        if !differences.isEmpty { throw ExitCode(ExitStatus.checkFailed.rawValue) }
    }
}

/// The extension to record or to replay, and the configuration of its workers.
private struct RecordedSubject {
    let extensionPath: String?
    private let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }

    init(extensionPath: String?) { self.extensionPath = extensionPath }

    private var searchPath: [String] {
        let explicit = (extensionPath ?? environment["SEARCHLIGHT_EXTENSION_PATH"]).map { path in
            path.split(separator: ":").map { absolute(String($0)) }.joined(separator: ":")
        }
        return ExtensionRegistry.standardSearchPath(explicit: explicit, environment: environment)
    }

    /// Returns the extension in a folder, or an installed extension.
    func bundle(_ text: String) throws -> ExtensionBundle {
        let registry = ExtensionRegistry(searchPath: searchPath)
        registry.registerTypes()
        do throws(ExtensionError) {
            guard text.contains("/") || text.hasSuffix(ExtensionBundle.suffix) else { return try registry.bundle(text) }
            let path = absolute(text)
            guard FileManager.default.fileExists(atPath: path) else {
                throw .notFound(identifier: text, searchPath: searchPath, known: [])
            }
            do throws(BundleProblem) { return try ExtensionBundle(at: path) } catch {
                throw .refused(path: path, problem: error)
            }
        } catch {
            throw EngineError.extension(error)
        }
    }

    func recorder(_ bundle: ExtensionBundle, verbose: Bool) -> ExtensionRecorder {
        let installation = Installation(environment: environment)
        var configuration = WorkerConfiguration(
            workerPath: installation.workerPath, frameworkFolder: installation.frameworkFolder, environment: environment
        )
        // Uses the same protection as the engine.
        configuration.protectedFolders.append(StoreLocation(environment: environment).folder)
        configuration.trustedFolders += searchPath
        return ExtensionRecorder(bundle, configuration: configuration) { line in
            if verbose { Output.complain("\(line)") }
        }
    }
}
