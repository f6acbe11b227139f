// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import QuickLookSimulator
import SearchlightEngine

struct QuickLookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quicklook",
        abstract: "Search, look at items and drag them out, on a page in your browser.",
        discussion: """
            Serves the page to this machine alone, at 127.0.0.1, and prints its address, which works once and in one browser. \
            Results are on the left and the preview on the right. The arrow keys choose, Return looks, Escape goes back, and / \
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
    @Flag(help: "Only print the address. Otherwise a browser is opened where there is a desktop.")
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
                        port: port, idleExit: idleExit.map { .seconds($0) }, query: query.joined(separator: " ")))
                // The server runs in a task of its own, so that a signal can end it and the store is closed after it.
                let serving = Task { try await server.run { address in try announce(address) } }
                Signals.onInterruption { serving.cancel() }
                do {
                    try await serving.value
                } catch let error as QuickLookError {
                    throw CommandFailure(message: error.description, status: .inputOutput)
                }
            }
        }
    }

    private func announce(_ address: String) throws {
        if options.json {
            try Output.printJSON(["url": address])
        } else {
            try Output.line("\(text: address)")
            Output.complain("Quick Look is served until Control-C. The address works once.")
        }
        let isDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { options.environment[$0] != nil }
        guard !noOpen, isDesktop else { return }
        let opener = Process()
        opener.executableURL = URL(filePath: "/usr/bin/env")
        opener.arguments = ["xdg-open", address]
        opener.standardOutput = FileHandle.nullDevice
        opener.standardError = FileHandle.nullDevice
        // Without a browser the address is still there to be copied.
        try? opener.run()
    }
}
