// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// The paths and messages that `drag` writes, with real processes (drops.c).
@Suite("The output of drag", .timeLimit(.minutes(10)))
struct DragOutputTests {
    private static func command() throws -> Command {
        let command = Command(harness: try Harness())
        try command.harness.install("com.example.drops", library: try CFixture.library("drops"))
        let (status, output) = try command("reindex")
        try #require(status == 0, "\(output)")
        return command
    }

    /// Waits for an event. The suite's time limit ends a wait for an event that does not occur.
    private static func await(_ condition: () throws -> Bool) rethrows {
        while try !condition() { usleep(1000) }
    }

    @Test("into an unread pipe waits for the reader until the first interrupt")
    func interrupted() throws {
        let command = try Self.command()
        let output = Pipe()
        let program = try ChildProcess(
            BuiltProducts.program("searchlight"),
            ["drag", "data-3000000", "--accept", "public.text", "--output", "-"], environment: command.environment,
            output: .pipe(output), errors: .nothing)
        let reader = output.fileHandleForReading.fileDescriptor
        // Some data has arrived, and the remaining data exceeds a pipe's capacity.
        var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, -1) == 1)
        #expect(program.isRunning)
        program.send(SIGINT)
        #expect(program.wait() == .killed(SIGINT))
        withExtendedLifetime(output) {}
    }

    @Test("goes into a named pipe as one stream, even with several items")
    func namedPipe() throws {
        let (status, output) = try Self.command().shell(
            """
            mkfifo pipe && { cat pipe >got & } && \
            "$SEARCHLIGHT" drag data-10 data-10 data-3000000 --accept public.text --output pipe >/dev/null && \
            wait && wc -c <got
            """)
        #expect(status == 0 && output.trimmingCharacters(in: .whitespacesAndNewlines) == "3000020", "\(output)")
    }

    @Test("reports that the reader of a named pipe has closed it")
    func brokenPipe() throws {
        let (status, output) = try Self.command().shell(
            """
            mkfifo pipe && { head -c 1 pipe >/dev/null & } && \
            "$SEARCHLIGHT" drag data-3000000 --accept public.text --output pipe 2>&1
            """)
        #expect(status == 8 && output.contains("pipe failed: Broken pipe."), "\(output)")
    }

    @Test("that is closed is an error for its writer, and no file gets its bytes")
    func closed() throws {
        let command = try Self.command()
        let (status, output) = try command.shell(
            """
            "$SEARCHLIGHT" drag data-10 --accept public.text --output out 2>errors >&-; echo "$? $(cat out) $(cat errors)"
            "$SEARCHLIGHT" drag data-10 --accept public.text --output - 2>errors >&-; echo "$? $(cat errors)"
            "$SEARCHLIGHT" drag - --accept public.text --output - 2>errors <&-; echo "$? $(cat errors)"
            "$SEARCHLIGHT" drag nobody --accept public.text --output - 2>&-; echo "$?"
            "$SEARCHLIGHT" reindex <&- >&- 2>&-; echo "$?"
            "$SEARCHLIGHT" verify
            """)
        let lines = output.split(separator: "\n").map(String.init)
        try #require(lines.count >= 6, "\(output)")
        let bad = "Bad file descriptor."
        #expect(lines[0] == "8 dddddddddd searchlight: Writing to standard output failed: \(bad)")
        #expect(lines[1].hasPrefix("8 searchlight: Writing to the output failed: \(bad)"))
        #expect(lines[2].hasPrefix("8 searchlight: Reading the items from standard input failed: "))
        #expect(lines[3] == "2")
        #expect(lines[4] == "8")
        #expect(status == 0, "\(output)")
    }

    @Test("of the service that is closed is the null device, not a file or socket")
    func closedService() throws {
        let command = try Self.command()
        let (_, output) = try command.shell(
            """
            mkdir served
            "\(try BuiltProducts.program("searchlightd"))" --store served --no-session-bus <&- >&- 2>&- &
            until [ -S served/socket ] || ! kill -0 $!; do sleep 0.01; done
            for number in 0 1 2; do readlink /proc/$!/fd/$number; done
            kill $! && wait $!; echo $?
            """)
        #expect(output == "/dev/null\n/dev/null\n/dev/null\n0\n")
    }

    @Test("shows the extension's progress on a terminal, but not with JSON")
    func progress() throws {
        let command = try Self.command()
        for json in [false, true] {
            let marks = ["half", "whole"].map { command.harness.marks + "/com.example.drops.searchext." + $0 }
            for mark in marks { try? FileManager.default.removeItem(atPath: mark) }
            let terminal = try Terminal()
            let program = try ChildProcess(
                BuiltProducts.program("searchlight"),
                ["drag", "steps-10", "--accept", "public.text", "--output", command.harness.folder + "/steps"]
                    + (json ? ["--json"] : []),
                environment: command.environment, errors: .file(terminal.side))
            if json {
                for mark in marks { try Data().write(to: URL(filePath: mark)) }
                #expect(program.wait() == .exited(0))
                #expect(terminal.read() == "")
            } else {
                var shown = ""
                func shows(_ text: String) -> Bool {
                    shown += terminal.read()
                    return shown.contains(text) || !program.isRunning
                }
                Self.await { shows("preparing…") }
                #expect(!shown.contains("%"))
                try Data().write(to: URL(filePath: marks[0]))
                Self.await { shows("preparing, 50 %") }
                try Data().write(to: URL(filePath: marks[1]))
                #expect(program.wait() == .exited(0))
                shown += terminal.read()
                #expect(shown.contains("[###############···············] preparing, 50 %"), "\(shown)")
                // The progress line has been removed completely.
                #expect(shown.hasSuffix("\r\u{1B}[K"), "\(shown)")
            }
        }
    }
}

/// A pseudo-terminal without a user.
private struct Terminal {
    private let main: FileHandle
    /// The end that the program uses.
    let side: FileHandle

    init() throws {
        let number = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        try #require(number >= 0)
        main = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        // Does the work of unlockpt and ptsname, which Swift does not import: TIOCSPTLCK and
        // TIOCGPTN.
        var (unlocked, name): (Int32, UInt32) = (0, 0)
        try #require(ioctl(number, 0x4004_5431, &unlocked) == 0 && ioctl(number, 0x8004_5430, &name) == 0)
        side = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(name)"))
    }

    /// Returns the output since the last read.
    func read() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = Glibc.read(main.fileDescriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
