// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// A store with Journal notes and a few other items, and a `searchlight quicklook` process that
/// uses it.
final class QuickLookPlace {
    private let command: Command
    private var server: ChildProcess?

    init() throws {
        command = Command(harness: try Harness())
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        for (name, text) in Self.notes { try Data(text.utf8).write(to: URL(filePath: "\(notes)/\(name).md")) }
        _ = try command.harness.installJournal(notes: notes)
        let (status, output) = try command("reindex")
        try #require(status == 0, "\(output)")
        try donate([Self.lines], bundle: "com.example.mail")
    }

    /// Donates items given as lines.
    func donate(_ lines: [String], bundle: String) throws {
        let path = command.harness.folder + "/" + bundle
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        let (status, output) = try command("donate", path, "--bundle", bundle)
        try #require(status == 0, "\(output)")
    }

    deinit { server?.send(SIGKILL) }

    /// Starts the command and returns the address that it prints, which is a file URL.
    func start(_ arguments: String...) throws -> String {
        let output = Pipe()
        server = try ChildProcess(
            try BuiltProducts.program("searchlight"), ["quicklook", "--no-open"] + arguments,
            environment: try command.environment, output: .pipe(output), errors: .inherited)
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        return line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Terminates the command as Control-C does.
    func stop() -> ChildProcess.Ending? {
        server?.send(SIGINT)
        return server?.wait()
    }

    private static let notes = [
        "Ferry to the islands": """
        # Ferry to the islands

        The **night ferry** leaves at 22:40 from the old pier and reaches the outer islands at dawn. Bicycles travel \
        free; cars need a place booked a week ahead.

        ## What to bring

        - a warm coat, since the deck is windy even in June
        - something to read: the *ferry* has no network after the lighthouse
        - coins for the coffee machine

        > “On a ferry nobody is late; one has only left earlier or later.”

        | Day | Leaves | Arrives |
        |---|---|---|
        | Friday | 22:40 | 05:15 |
        | Saturday | 23:10 | 05:50 |

        See the [timetable](https://example.org/ferry) for the winter months.
        """,
        "Packing list": "# Packing list\n\nTent, stove, map. Tickets for the ferry are in the red folder.\n",
        "Harbour office": """
        # Harbour office

        Opens at nine. <script>window.top.hacked = 1</script> Ask for the **permit**.

        ![plan](https://example.org/plan.png)
        """,
        "Budget": "# Budget for the summer\n\nFerry 84.00, hut 310.00, food about 200.00.\n",
        "Reading": "# Reading\n\nA history of the steam ferry, from rope to diesel, in three volumes.\n",
    ]

    /// A picture: the sun over the sea, and a ferry.
    private static let picture = """
        iVBORw0KGgoAAAANSUhEUgAAAGAAAABgCAIAAABt+uBvAAAC3ElEQVR42u3Qy0tUARjG4fcvsXtZppVlWVmmlWVlecvCNLU0zWS8jY46Ol6oMC\
        qiC1IhXYiKpEIiCFoEQYsgaBEELYLAhRC0aNO6DsxmUHu1b85pjvDCs/4uPyTnDQmBlD2DQiAtf1AIpO8fFAIZBQNCIPPQgBDIKhoQAtnF/UIg\
        t7RfCOSV9QuB/KMRIXCgPCIECisiQqCksk8IlFX1CYHymj4hUHmyVwhU1/UKgdr6XiFQ3xAWAo2NYSEQaAoLgdZAjxAItvQIga62HiEQbu8WAp\
        GObiEwFOoWAue6u4TAcLhLCFzq6xICVyIhIXBtICQERoZCQuDW2c755ffEyHTercPo+c75YsY0sbxYinvDnfPCrHWiXN+LBxc6/G+OdaLcXY1H\
        Fzt87p/qRLm4HWOXO/zMUCfKrQPw7ErQz8yB3DoA41eDvmWuE+XKDXh5PehbcQZy5Qa8utHuW3EGcuUGvB5p98JkeZZN7JA4A7nyCN7cbPeCOV\
        DskDgDufII3t5u84I5UOyQOAO58gjejbZ5wRwodkicgVx5BO/vtHnBHGjKHHMdtx7Bh7utXjAHmjLHHMitR/DxfqsXzIGmjzLUcfERfHrQavPr\
        18//by51zB/NCJ8fttj4M5D5nb/Bl8ctNj4MZP6FwNcnLTYJCeTsnTGN+YtZ4dtYs01CApmvNcPE02abhAQyX2uGyefNNgkJZL7WDN/HAzYJCW\
        S+1gw/XgRsEhLIfK0ZkvICNgkJZL7WDEm7m2wSE8h6rRkW7DojhBOoUQgs3HlaCCdQgxBYlFsvhBPolBBYnFMnBJbk1AqBJTtOCIGl2TVCOIGq\
        hcCy7VVCOIGOC4Hl2yqFcAJVCIEVWceEQHJWuRBI3npUCKzcckQIJ1CZEFi1+bAQTqBSIZCSWSKEE6hYCKzeVCQEUjcVCoHUjQeFQFpGgRBOoA\
        NCYM2G/UI4gfYJgbXr84VwAu0VAuvS9wjxB6uBHTfWmzCeAAAAAElFTkSuQmCC
        """

    private static let lines = """
        {"uniqueIdentifier":"m1","attributes":{"title":"Re: Ferry tickets for Friday","contentType":"public.email-message",\
        "textContent":"Hello! The ferry company has confirmed four places and one bicycle. I will bring the tickets.",\
        "authorNames":["Ada Byron"],"contentCreationDate":"2026-05-04T10:00:00Z","keywords":["travel","tickets"]}}
        {"uniqueIdentifier":"m2","attributes":{"title":"Ferry at the pier <script>hacked=1</script>",\
        "contentType":"public.png","contentDescription":"The evening ferry, seen from the breakwater.",\
        "contentCreationDate":"2024-08-19T19:30:00Z","thumbnailData":"\(picture)"}}
        {"uniqueIdentifier":"m3","attributes":{"title":"Island ferry: timetable","contentType":"public.url",\
        "url":"https://example.org/ferry","contentDescription":"Departures, fares and notices of the island ferry line."}}
        {"uniqueIdentifier":"m4","attributes":{"title":"Ferry season begins","contentType":"public.calendar-event",\
        "textContent":"First crossing of the summer ferry. Meet at the pier at six.","contentCreationDate":"2026-06-01T06:00:00Z"}}

        """
}
