// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchIndex

/// The maximum number of items in a list; the same for all commands that list items.
enum ListLimit {
    /// Parses the argument.
    static func items(_ text: String) throws -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            (1...SearchIndex.maximumPage).contains(number)
        else { throw ValidationError("--limit needs a number from 1 to \(SearchIndex.maximumPage).") }
        return number
    }

    static func help(_ text: String) -> ArgumentHelp {
        ArgumentHelp("\(text), 1 to \(SearchIndex.maximumPage).", valueName: "number")
    }
}

/// The option for printing item numbers for use in other commands.
struct NumbersFlag: ParsableArguments {
    @Flag(
        help: """
            Print only the numbers of the items (@12), one per line, for “drag -”, “show -” and “preview -”.
            """)
    var numbers = false

    func print(_ items: [StoredItem]) throws {
        for item in items { try Output.line("@\(item.number)") }
    }
}
