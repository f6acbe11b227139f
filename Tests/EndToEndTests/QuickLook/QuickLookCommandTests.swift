// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// `searchlight quicklook` as a program.
@Suite("The quicklook command", .timeLimit(.minutes(10)))
struct QuickLookCommandTests {
    /// Starts the command and visits its page. Returns how the command exits after a signal.
    private func visit(_ command: Command, ending signal: Int32) throws -> ChildProcess.Ending {
        let output = Pipe()
        let server = try ChildProcess(
            try BuiltProducts.program("searchlight"), ["quicklook", "--no-open", "--json"],
            environment: try command.environment, output: .pipe(output), errors: .nothing)
        defer { server.send(SIGKILL) }
        var text = Data()
        while !text.contains(UInt8(ascii: "}")) {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "it has ended")
            text += more
        }
        let report = try JSONDecoder().decode([String: String].self, from: text)
        #expect(try #require(report["url"]).wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\//) != nil)
        let file = try #require(report["file"])
        let form = try HandOverForm(file)
        let browser = try RawBrowser(form.address, code: form.code)
        #expect(browser.folder.count == 34)
        let found = try browser.answer("api/search?q=beta")
        #expect(found.hasPrefix("HTTP/1.1 200 ") && found.contains("\"Beta\""))
        #expect(throws: RawBrowser.Refused.self, "the code is used up") {
            try RawBrowser(form.address, code: form.code)
        }
        #expect(access(file, F_OK) != 0, "the file is gone")
        server.send(signal)
        return server.wait()
    }

    @Test("It serves its page and ends cleanly", arguments: [SIGINT, SIGTERM, SIGHUP])
    func alone(signal: Int32) throws {
        #expect(try visit(try Command.indexed(), ending: signal) == .exited(0))
    }

    @Test("It uses the service if one runs")
    func service() async throws {
        let command = try Command.indexed()
        let service = try ServiceHost(command.harness)
        let ending = try await onThread { try visit(command, ending: SIGINT) }
        #expect(ending == .exited(0))
        await service.close()
    }

    @Test("It continues after the service has exited, and uses the next service")
    func serviceEnds() async throws {
        let command = try Command.indexed()
        var service = try ServiceHost(command.harness)
        let served = try await onThread { try ServedCommand(command, "--no-open") }
        let form = try HandOverForm(served.file)
        // Used by one thread at a time.
        nonisolated(unsafe) let browser = try RawBrowser(form.address, code: form.code)
        func finds(_ title: String) async throws -> Bool {
            try await onThread { try browser.answer("api/search?q=\(title)").contains("\"\(title.capitalized)\"") }
        }
        #expect(try await finds("beta"))
        for _ in 0..<2 {
            #expect(service.requests.value > 0)
            await service.close()
            for title in ["beta", "alpha"] { #expect(try await finds(title), "without a service") }
            service = try ServiceHost(command.harness)
            let before = service.requests.value
            #expect(try await finds("alpha"))
            #expect(service.requests.value > before, "it asks the service")
        }
        await service.close()
        #expect(try await onThread { served.end(SIGINT).ending } == .exited(0))
    }

    @Test("It ends by itself without requests")
    func idle() throws {
        let (status, output, errors) = try Command.indexed().separately("quicklook", "--no-open", "--idle-exit", "1")
        #expect(status == 0 && output.hasPrefix("file:///"), "\(errors)")
    }

    @Test("A used port is reported, and so are invalid arguments")
    func refusals() throws {
        let command = try Command.indexed()
        let taken = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(taken) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) { place in
                _ = bind(taken, place.baseAddress, length)
                _ = getsockname(taken, place.baseAddress, &length)
            }
        }
        try #require(listen(taken, 1) == 0)
        let port = "\(UInt16(bigEndian: address.sin_port))"
        let (status, _, errors) = try command.separately("quicklook", "--no-open", "--port", port)
        #expect(status == 8 && errors.contains("Listening on 127.0.0.1:\(port) failed: Address already in use."))
        #expect(try command("quicklook", "--port", "70000").status == 64)
        #expect(try command("quicklook", "--idle-exit", "0").status == 64)
    }

    @Test("The program of the page replaces the process and has the signal mask of the command's start")
    func takesOver() throws {
        let served = try ServedCommand(try Command.indexed(), "--no-open")
        let process = "/proc/\(served.process.identifier)"
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: process + "/exe")
        #expect(program == (try BuiltProducts.program("searchlight-quicklook")))
        let status = try String(contentsOfFile: process + "/status", encoding: .utf8)
        let blocked = try #require(status.firstMatch(of: /SigBlk:\s+([0-9a-f]+)/).flatMap { UInt64($0.1, radix: 16) })
        for number in [SIGQUIT, SIGUSR1] { #expect(blocked & 1 << (number - 1) == 0, "\(number)") }
    }

    @Test("Without the program of the page the command reports it, with the remedy")
    func missingProgram() throws {
        let command = try Command.indexed()
        let lonely = command.harness.folder + "/searchlight"
        try FileManager.default.copyItem(atPath: try BuiltProducts.program("searchlight"), toPath: lonely)
        let (status, output) = try CFixture.run(
            lonely, ["quicklook", "--no-open"], environment: try command.environment)
        #expect(status == 1)
        #expect(
            output == """
                searchlight: The page cannot be served: starting \(lonely)-quicklook failed: No such file or directory. \
                Install Searchlight again, or run “swift build” in its repository.

                """)
        let (second, report) = try CFixture.run(
            lonely, ["quicklook", "--json"], environment: try command.environment)
        #expect(second == 1 && report.contains("\"error\"") && report.contains("\"status\" : 1"))
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
