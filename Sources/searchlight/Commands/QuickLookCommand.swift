// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine

/// Checks its arguments and replaces the process with `searchlight-quicklook`, so that the other
/// commands do not link the Quick Look server.
struct QuickLookCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "quicklook",
        abstract: "Search, preview and drag items on a page in your browser.",
        discussion: """
            Serves the page at 127.0.0.1, only to you on this machine. A file that only you can read opens the page \
            in a browser. The command prints the address of the file. The file works once, within two minutes. A \
            browser that cannot read the file (some snaps) asks for the code in the terminal. Results are on the \
            left and the preview on the right. The arrow keys choose, Return opens the preview, O opens the item in \
            its app, Escape goes back, and / moves to the search field. Dragging an item out of the list delivers \
            its first promise (as a file, in browsers that support DownloadURL, such as Chromium); the menu beside \
            “Save” offers the others. The promise is fulfilled only then.

            HTML of an extension is shown without scripts and network access in a sandboxed frame. To end the page, stop the \
            command with Control-C.
            """)

    @OptionGroup var arguments: QuickLookArguments
    var options: GlobalOptions { arguments.options }

    func perform() async throws {
        let program = Installation(environment: options.environment).quickLookPath
        // The arguments that follow “searchlight quicklook”, unchanged.
        let words = [program] + CommandLine.arguments.dropFirst(2)
        let reason = CommandProgram.replace(with: program, arguments: words)
        throw CommandFailure(
            message: """
                The page cannot be served: starting \(program) failed: \(reason). Install Searchlight again, or run \
                “swift build” in its repository.
                """,
            status: .failure)
    }
}
