// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

/// The targets of output: a standard output that fails, and every kind of file.
@Suite("The command's output", .timeLimit(.minutes(10)))
struct OutputTests {
    @Test(
        "A standard output without room is reported as a failure",
        arguments: [
            "search alpha", "show alpha", "show alpha --json", "status", "status --json", "extensions", "preview alpha",
            "preview alpha --html", "preview alpha --output -", "drag alpha --accept public.html --output -",
            "drag alpha --accept public.html --dry-run", "types tree", "types show public.html", "reindex", "--help",
            "show nobody --json",
        ])
    func fullDevice(arguments: String) throws {
        let command = try Command.indexed()
        let (status, output) = try command.shell("\"$SEARCHLIGHT\" \(arguments) > /dev/full")
        #expect(status == 8)
        #expect(output.contains("No space left on device"), "\(output)")
    }

    @Test(
        "A reader that closes the output ends it without a message",
        arguments: ["types tree", "search sheet", "status --json"])
    func closedPipe(arguments: String) throws {
        let command = try Command.indexed()
        // The reader closes the pipe before the first line.
        let (_, output) = try command.shell(
            "mkfifo gone && { (exec 3<gone; exec 3<&-; : > closed) & "
                + "exec 4>gone; while [ ! -e closed ]; do :; done; "
                + "\"$SEARCHLIGHT\" \(arguments) >&4; echo \"status $?\"; }")
        #expect(output == "status 141\n")
    }

    @Test("A pipe, a link and a file with its own mode are written to as by cp")
    func kindsOfFiles() throws {
        let command = try Command.indexed()
        let drag = "\"$SEARCHLIGHT\" drag alpha --accept public.html --output"
        let pipe = try command.shell("mkfifo pipe && (cat pipe > copy & \(drag) pipe; wait); cat copy; test -p pipe")
        #expect(pipe.status == 0)
        #expect(pipe.output.hasSuffix("alpha as public.html"))
        let link = try command.shell(
            "echo old > file && chmod 640 file && ln -s file link && \(drag) link && stat -c %a file && cat link && test -L link"
        )
        #expect(link.status == 0)
        #expect(link.output.hasSuffix("640\nalpha as public.html"))
        let mode = try command.shell("umask 027 && \(drag) fresh && stat -c %a fresh && ls -A | grep -c part")
        #expect(mode.output.hasSuffix("640\n0\n"))
    }

    @Test("A preview in a folder is named after its title, and replaces nothing; a missing folder is reported")
    func folders() throws {
        let command = try Command.indexed()
        let folder = command.harness.folder + "/previews"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for name in ["Alpha sheet.html", "Alpha sheet (2).html"] {
            let report = try #require(try command.json("preview", "alpha", "--output", folder) as? [String: Any])
            #expect(report["path"] as? String == folder + "/" + name)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        let list = try command.shell(
            "printf 'alpha\nbeta\n' | \"$SEARCHLIGHT\" preview - --output previews/ && ls previews")
        #expect(list.status == 0 && list.output.hasSuffix("Alpha sheet (3).html\nAlpha sheet.html\nBeta sheet.html\n"))
        let file = try command.shell("printf 'alpha\nbeta\n' | \"$SEARCHLIGHT\" preview - --output previews/x.html")
        #expect(file.status == 64 && file.output.contains("Several items need a folder that exists"))
        for name in [["drag", "alpha", "--accept", "public.html"], ["preview", "alpha"]] {
            let program = try BuiltProducts.program("searchlight")
            let missing = try CFixture.run(
                program, name + ["--output", command.harness.folder + "/no/out"], environment: try command.environment)
            #expect(missing.status == 8)
            #expect(missing.output.contains("There is no folder \(command.harness.folder)/no/ to write to"))
            #expect(!missing.output.contains(".part"))
            let empty = try CFixture.run(program, name + ["--output", ""], environment: try command.environment)
            #expect(empty.status == 64)
        }
    }

    @Test("A preview goes to standard output and to a file with a report")
    func preview() throws {
        let command = try Command.indexed()
        let streamed = try command.separately("preview", "alpha", "--output", "-")
        #expect(streamed.status == 0)
        #expect(streamed.output.hasSuffix("<body><p>alpha -</p></body></html>"))
        #expect(streamed.errors.contains("Removed from what the extension renders: 1 script."))
        let path = command.harness.folder + "/page.html"
        let report = try #require(try command.json("preview", "alpha", "--output", path) as? [String: Any])
        #expect(report["path"] as? String == path)
        #expect(report["type"] as? String == "public.html")
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(report["bytes"] as? Int == size)
    }

    @Test("An interrupted delivery ends at once and leaves no file")
    func interrupted() throws {
        let command = try Command.indexed()
        // Only one byte of 3 MiB is read, so the delivery is blocked when the signal arrives.
        let (_, output) = try command.shell(
            "mkfifo pipe && exec 3<>pipe && { \"$SEARCHLIGHT\" drag beta --accept public.html --output pipe & "
                + "child=$!; head -c 1 <&3 >/dev/null; kill -TERM $child; wait $child; "
                + "echo \"status $?\"; ls -A | grep -c part; }")
        #expect(output.hasSuffix("status 143\n0\n"))
    }

    @Test("An extension that cannot render is distinguished from a removed one")
    func notRendered() throws {
        let command = try Command.indexed()
        let unsupported = try command.separately("preview", "gamma")
        #expect(unsupported.status == 0)
        #expect(unsupported.errors.contains("shown by its attributes"))
        #expect(unsupported.output.hasPrefix("Gamma sheet\n"))
        try FileManager.default.removeItem(atPath: command.harness.extensions + "/com.example.notebook.searchext")
        let gone = try command.separately("preview", "alpha")
        #expect(gone.status == 0)
        #expect(gone.errors.contains("No extension com.example.notebook is installed"))
        #expect(
            try command("status").output.contains(
                /com.example.notebook: 3 items, .* of records, and no extension of this name/))
        let status = try #require(try command.json("status") as? [String: Any])
        #expect(status["withoutExtension"] as? [String] == ["com.example.notebook"])
    }

    @Test("MIME types and extensions are accepted as their types")
    func acceptedTypes() throws {
        let command = try Command.indexed()
        for (text, note) in [
            ("text/html", "text/html means the type public.html"), (".HTML", ".HTML means the type public.html"),
        ] {
            let (status, output, errors) = try command.separately("drag", "alpha", "--accept", text, "--output", "-")
            #expect(status == 0)
            #expect(output == "alpha as public.html")
            #expect(errors.contains(note))
        }
        let unknown = try command("drag", "alpha", "--accept", "html", "--dry-run")
        #expect(unknown.status == 3)
        #expect(unknown.output.contains("The type html is not declared"))
        #expect(
            try command("drag", "alpha", "--accept", "no/such", "--dry-run").output.contains(
                "No type is declared for no/such"))
    }
}
