// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import QuickLookServer
import SearchlightEngine

struct QuickLookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quicklook",
        abstract: "Search, look at items and drag them out, on a page in your browser.",
        discussion: """
            Serves the page to this user of this machine alone, at 127.0.0.1. A browser is led there by a file that only you can \
            read; its address is printed, works once, and for two minutes. A browser that may not read the file (some snaps) \
            asks for the code that is shown in the terminal. Results are on the left and the preview on the right. The arrow keys choose, Return looks, Escape goes back, and / \
            leads to the search field. An item is dragged out of the list as its first promise (a file, in browsers that know \
            DownloadURL, such as Chromium), and saved as any other from the menu beside “Save”; it is made only then.

            HTML of an extension is shown without scripts in a frame that reaches nothing. The page ends with the command: \
            Control-C.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "What is searched for at first.")
    var query: [String] = []
    @Option(help: "The port, 0 to 65535; 0 is any that is free.")
    var port: UInt16 = 0
    @Flag(help: "Only print the address of the file. Otherwise a browser is opened where there is a desktop.")
    var noOpen = false
    @Option(
        help: ArgumentHelp("End once nothing was asked for so long.", valueName: "seconds"))
    var idleExit: Int?

    func validate() throws {
        guard (idleExit ?? 1) > 0 else { throw ValidationError("--idle-exit must be at least 1 second.") }
        guard query.joined(separator: " ").utf8.count <= 500 else {
            throw ValidationError("The query is longer than 500 bytes. Shorten it.")
        }
    }

    func run() async throws {
        try await reportingErrors(json: options.json) {
            try await options.withStore(.read) { store in
                let server = QuickLookServer(
                    store,
                    options: .init(
                        port: port, idleExit: idleExit.map { .seconds($0) }, query: query.joined(separator: " "),
                        handOverFolders: WorkerConfiguration.ownFolders(environment: options.environment)),
                    log: { Output.complain("searchlight: \(text: $0)") })
                // The server runs in a task of its own, so that a signal can end it and the store is closed after it. It
                // begins once a signal does: a signal that ended the process would leave the file behind.
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
                } catch let error as QuickLookError {
                    let status: ExitStatus = if case .notOpened = error { .timedOut } else { .inputOutput }
                    throw CommandFailure(message: error.description, status: status)
                }
            }
        }
    }

    private func announce(_ invitation: QuickLookServer.Invitation) throws {
        let file = invitation.file.map { URL(filePath: $0).absoluteString }
        guard file != nil || Output.showsProgress else {
            throw CommandFailure(
                message: """
                    The page cannot be opened: no file for a browser could be made, and the code is only shown in a terminal. \
                    \(invitation.fileProblem ?? "") Run this in a terminal, or set XDG_RUNTIME_DIR.
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
        guard !noOpen, let path = invitation.file else { return }
        guard isDesktop else {
            return Output.complain(
                "No browser is started, since there is no desktop here (DISPLAY and WAYLAND_DISPLAY are not set).")
        }
        let opener = Process()
        opener.executableURL = URL(filePath: "/usr/bin/env")
        // Everybody can read arguments; nobody else can read the file.
        opener.arguments = ["xdg-open", path]
        opener.standardInput = FileHandle.nullDevice
        opener.standardOutput = FileHandle.nullDevice
        opener.standardError = FileHandle.nullDevice
        opener.terminationHandler = { opener in
            guard opener.terminationStatus != 0 else { return }
            let why =
                opener.terminationStatus == 127
                ? "xdg-open is not there (package xdg-utils)" : "xdg-open ended with \(opener.terminationStatus)"
            Output.complain("No browser could be started: \(why). Open this address in one: \(text: file ?? "")")
        }
        do { try opener.run() } catch {
            Output.complain("No browser could be started. Open this address in one: \(text: file ?? "")")
        }
    }

    /// What to do where no page opens. The code is only for a terminal: whatever else reads this may keep it.
    private func advice(_ invitation: QuickLookServer.Invitation) -> String {
        let limit = "within \(invitation.life.components.seconds) seconds"
        guard Output.showsProgress else { return "A browser can open its address once, \(limit)." }
        let code = "open \(invitation.address) and enter the code \(invitation.code)"
        return invitation.file == nil
            ? "To see it, \(code), once and \(limit)."
            : "A browser can open its address once, \(limit). If your browser cannot read that file, \(code)."
    }
}
