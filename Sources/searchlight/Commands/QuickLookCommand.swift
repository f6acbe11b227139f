// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine

/// Checks its arguments and replaces itself with `searchlight-quicklook`, so that other commands do
/// not link the Quick Look server.
struct QuickLookCommand: OptionedCommand {
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

    @OptionGroup var arguments: QuickLookArguments
    var options: GlobalOptions { arguments.options }

    func perform() async throws {
        let program = Installation(environment: options.environment).quickLookPath
        // The arguments after “searchlight quicklook”, unchanged.
        let words = [program] + CommandLine.arguments.dropFirst(2)
        let reason = CommandProgram.replace(with: program, arguments: words)
        throw CommandFailure(
            message: """
                The page cannot be served: starting \(program) failed: \(reason). It comes with Searchlight: install it \
                again, or run “swift build” in its repository.
                """,
            status: .failure)
    }
}
