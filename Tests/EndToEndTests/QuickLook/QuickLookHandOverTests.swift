// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import TestSupport
import Testing

/// Opening the page in a browser without revealing its address to other users of this machine.
@Suite("Opening the page", .timeLimit(.minutes(10)))
struct QuickLookHandOverTests {
    /// Returns a command with an `xdg-open` that records its argument and keeps running, and the
    /// file with the record.
    private func commandWithOpener(ending: String = "sleep 600") throws -> (Command, opened: String) {
        var command = try Command.indexed()
        let (folder, opened) = (command.harness.folder + "/bin", command.harness.folder + "/opened")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" >'\(opened).part'; mv '\(opened).part' '\(opened)'\n\(ending)\n"
        try Data(script.utf8).write(to: URL(filePath: folder + "/xdg-open"))
        chmod(folder + "/xdg-open", 0o755)
        command.variables = ["PATH": folder + ":/usr/bin:/bin", "DISPLAY": ":9"]
        return (command, opened)
    }

    private func wait(for file: String) throws -> String {
        while access(file, F_OK) != 0 { usleep(10_000) }
        return try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    /// Returns the processes whose arguments or environment contain a text.
    private func processes(with text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.flatMap { process in
            ["cmdline", "environ"].map { "/proc/\(process)/\($0)" }
        }.filter { path in
            guard let bytes = FileManager.default.contents(atPath: path) else { return false }
            return bytes.range(of: Data(text.utf8)) != nil
        }
    }

    @Test("During the start of the browser, no process has the secret in its arguments or environment")
    func arguments() throws {
        let (command, opened) = try commandWithOpener()
        let served = try ServedCommand(command)
        #expect(try wait(for: opened) == served.file)
        let form = try HandOverForm(served.file)
        let seen = try processes(with: served.file)
        #expect(seen.contains { $0.hasSuffix("cmdline") }, "the opener runs")
        #expect(try processes(with: form.code).isEmpty)
        // The components of the path, and who can read them.
        var status = stat()
        #expect(stat(served.file, &status) == 0 && status.st_mode == S_IFREG | 0o600 && status.st_uid == geteuid())
        let folder = URL(filePath: served.file).deletingLastPathComponent().path
        #expect(stat(folder, &status) == 0 && status.st_mode == S_IFDIR | 0o700)
        #expect(served.end().ending == .exited(0) && access(served.file, F_OK) != 0)
        // The opener belongs to the desktop and keeps running. Its argument is useless to others.
        for path in seen where path.hasSuffix("cmdline") {
            if let process = pid_t(path.split(separator: "/")[1]) { kill(process, SIGTERM) }
        }
    }

    @Test("Without a browser the path of the file is printed, and the secret only in a terminal")
    func noBrowser() throws {
        for ending in ["exit 3", nil] {
            var (command, _) = try commandWithOpener(ending: ending ?? "")
            if ending == nil { unlink(command.harness.folder + "/bin/xdg-open") }
            command.variables["PATH"] = command.harness.folder + "/bin"
            command.variables["DISPLAY"] = ":9"
            let (status, output, errors) = try command.separately("quicklook", "--idle-exit", "3")
            #expect(status == 0, "\(errors)")
            let address = output.trimmingCharacters(in: .newlines)
            #expect(address.hasPrefix("file:///") && address.hasSuffix(".html"))
            #expect(errors.contains("Open this address in a browser: \(address)"))
            #expect(!errors.contains("code"))
        }
    }

    @Test("The runtime folder is preferred to the cache folder")
    func runtimeFolder() throws {
        var command = try Command.indexed()
        let folder = command.harness.folder + "/run"
        mkdir(folder, 0o700)
        command.variables["XDG_RUNTIME_DIR"] = folder
        let served = try ServedCommand(command, "--no-open")
        #expect(served.file.hasPrefix(folder + "/searchlight/quicklook/open-"))
        #expect(served.end().ending == .exited(0) && access(served.file, F_OK) != 0)
    }

    @Test("The second use of the file's form is rejected, with the remedy")
    func secondUse() throws {
        let served = try ServedCommand(try Command.indexed(), "--no-open")
        let form = try HandOverForm(served.file)
        let browser = try RawBrowser(form.address, code: form.code)
        #expect(access(served.file, F_OK) != 0)
        do {
            _ = try RawBrowser(form.address, code: form.code)
            Issue.record("it is accepted again")
        } catch let refused as RawBrowser.Refused {
            #expect(refused.answer.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            #expect(refused.answer.contains("Run “searchlight quicklook” again."))
            #expect(!refused.answer.contains(browser.folder) && !refused.answer.contains(form.code))
        }
        #expect(try browser.answer("style.css").hasPrefix("HTTP/1.1 200 "))
    }

    @Test(
        "Another user of this machine gets nothing, even with the secret",
        .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"))
    func otherUser() throws {
        let served = try ServedCommand(try Command.indexed(), "--no-open")
        let form = try HandOverForm(served.file)
        // Bash can open TCP connections itself, so nothing has to be installed.
        let script = """
            exec 3<>/dev/tcp/127.0.0.1/\(try served.port) || exit 9
            printf 'POST / HTTP/1.1\\r\\nHost: 127.0.0.1:\(try served.port)\\r\\n' >&3
            printf 'Content-Type: application/x-www-form-urlencoded\\r\\nContent-Length: 37\\r\\n\\r\\n' >&3
            printf 'code=\(form.code)' >&3
            cat <&3
            """
        let other = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/bash", "-c", script]
        let refused = try ChildProcess.run("/usr/bin/setpriv", other)
        #expect(!refused.output.contains("HTTP/1.1"), "\(refused.output)")
        #expect(refused.ending != .exited(9), "it was let connect")
        // The same as this user. The code has not been used up.
        let welcome = try ChildProcess.run("/bin/bash", ["-c", script.replacing("cat <&3", with: "head -c 15 <&3")])
        #expect(welcome.output == "HTTP/1.1 200 OK", "\(welcome.output)")
        let read = try ChildProcess.run(
            "/usr/bin/setpriv", ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/cat", served.file])
        #expect(read.ending != .exited(0))
    }

    @Test("An extension that declares the folders of the file gets neither")
    func extensions() throws {
        let command = try Command.indexed()
        let (harness, folder) = (command.harness, command.harness.folder + "/.cache/searchlight")
        let served = try ServedCommand(command, "--no-open")
        #expect(served.file.hasPrefix(folder + "/quicklook/"))
        let declared = ["$XDG_CACHE_HOME/searchlight/quicklook", served.file, folder]
        try PlainBundle(
            "com.example.curious", in: harness.extensions, manifest: ["Searchlight": ["ReadablePaths": declared]])
        let bundle = try ExtensionRegistry(searchPath: [harness.extensions]).bundle("com.example.curious")
        let policy = SandboxPolicy(bundle, try harness.workerConfiguration(), temporaryFolder: nil)
        #expect(policy.withheld.count == declared.count, "\(policy.withheld)")
        #expect(!policy.rules.contains { $0.path.contains("/.cache/searchlight") })
    }
}
