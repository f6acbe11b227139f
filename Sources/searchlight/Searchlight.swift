// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The command a person types.
@main
struct Searchlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "searchlight",
        abstract: "Find, preview and drag what your apps have made findable.",
        discussion: """
            Apps ship extensions: bundles (NAME.searchext) in an extensions folder. “searchlight reindex” has them \
            donate their items to a private index; the other commands use what is there.

            ITEM is a number as “search” prints it (@12), or an item's unique identifier.

            Exit status: 0 done, 1 failed, 2 not found, 3 no such representation, 4 refused, 5 cancelled, \
            6 timed out, 7 an extension crashed, 8 reading or writing failed, 9 the store is in use, 64 wrong usage.
            """,
        version: "0.1.0",
        subcommands: [
            SearchCommand.self, ShowCommand.self, PreviewCommand.self, DragCommand.self, ReindexCommand.self,
            ExtensionsCommand.self, StatusCommand.self, TypesCommand.self,
        ])
}
