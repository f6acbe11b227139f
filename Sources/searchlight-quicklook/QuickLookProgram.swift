// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import QuickLookServer
import SearchlightEngine

/// The program that serves the page for `searchlight quicklook` and replaces its process.
@main
struct QuickLookProgram: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "searchlight-quicklook",
        abstract: "Serve the page of “searchlight quicklook”, which starts this program.",
        version: BuildFacts.text(of: "searchlight-quicklook"))

    @OptionGroup var arguments: QuickLookArguments
    var options: GlobalOptions { arguments.options }

    /// Starts the program. ArgumentParser's own `main` would bypass ``Output``.
    static func main() async {
        Signals.prepare()
        await CommandProgram.run(Self.self)
    }

    func perform() async throws {
        try await options.withLastingStore { store in
            let server = QuickLookServer(
                store,
                options: .init(
                    port: arguments.port, idleExit: arguments.idleExit.map { .seconds($0) },
                    query: arguments.query.joined(separator: " "),
                    handOverFolders: WorkerConfiguration.ownFolders(environment: options.environment),
                    environment: options.environment),
                log: { Output.complain("searchlight: \(text: $0)") })
            // The server runs in a separate task, so that a signal can stop it and the store is
            // closed afterwards. It starts only after the signal handler is installed: before that,
            // a signal would terminate the process and leave the file behind.
            let (start, starting) = AsyncStream.makeStream(of: Void.self)
            let serving = Task {
                for await _ in start { break }
                try await server.run { invitation in try announce(invitation) }
            }
            Signals.onInterruption {
                serving.cancel()
                Signals.endSoon()
            }
            starting.yield()
            do {
                try await serving.value
            } catch QuickLookError.notOpened(let limit) {
                // Standard output already contains the address, and must contain only one JSON
                // object.
                Output.fail(QuickLookError.notOpened(after: limit).description)
                throw ExitCode(ExitStatus.timedOut.rawValue)
            } catch let error as QuickLookError {
                throw CommandFailure(message: error.description, status: .inputOutput)
            }
        }
    }

    private func announce(_ invitation: QuickLookServer.Invitation) throws {
        let file = invitation.file.map { URL(filePath: $0).absoluteString }
        guard file != nil || Output.showsProgress else {
            throw CommandFailure(
                message: """
                    The page cannot be opened: the file for a browser cannot be created, and the code is only shown in a \
                    terminal. \(invitation.fileProblem ?? "") Run this command in a terminal, or set XDG_RUNTIME_DIR.
                    """,
                status: .inputOutput)
        }
        if options.json {
            var report = ["url": invitation.address]
            report["file"] = invitation.file
            try Output.printJSON(report)
        } else {
            try Output.line("\(text: file ?? invitation.address)")
        }
        if !options.json || Output.showsProgress {
            Output.complain("Quick Look is served until Control-C. \(text: advice(invitation))")
        }
        let isDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { options.environment[$0] != nil }
        guard !arguments.noOpen, let path = invitation.file else { return }
        guard isDesktop else {
            return Output.complain(
                "No browser is started, because there is no desktop (DISPLAY and WAYLAND_DISPLAY are not set).")
        }
        let opener = Process()
        opener.executableURL = URL(filePath: "/usr/bin/env")
        // All users can read command-line arguments, but no other user can read the file.
        opener.arguments = ["xdg-open", path]
        opener.standardInput = FileHandle.nullDevice
        opener.standardOutput = FileHandle.nullDevice
        opener.standardError = FileHandle.nullDevice
        opener.terminationHandler = { opener in
            guard opener.terminationStatus != 0 else { return }
            let why =
                opener.terminationStatus == 127
                ? "xdg-open is not installed (package xdg-utils)" : "xdg-open ended with \(opener.terminationStatus)"
            Output.complain("No browser could be started: \(why). Open this address in a browser: \(text: file ?? "")")
        }
        do { try opener.run() } catch {
            Output.complain("No browser could be started. Open this address in a browser: \(text: file ?? "")")
        }
    }

    /// Returns advice on opening the page manually. The code is shown only in a terminal, because
    /// other readers of this output might store it.
    private func advice(_ invitation: QuickLookServer.Invitation) -> String {
        let limit = "within \(invitation.life.components.seconds) seconds"
        guard Output.showsProgress else { return "A browser can open its address once, \(limit)." }
        let code = "open \(invitation.address) and enter the code \(invitation.code)"
        return invitation.file == nil
            ? "To open the page, \(code), once and \(limit)."
            : "A browser can open its address once, \(limit). If your browser cannot read that file, \(code)."
    }
}
