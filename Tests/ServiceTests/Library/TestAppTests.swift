// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Apps in separate processes that use the public library and the real service.
@Suite("Apps in other processes", .timeLimit(.minutes(10)))
struct TestAppTests {
    /// A running app.
    private final class App: Sendable {
        let process: ChildProcess
        let input = Pipe()
        let output = Pipe()

        init(_ store: String, _ arguments: [String], bundle: String? = "com.example.notes") throws {
            var environment = ["SEARCHLIGHT_STORE": store, "PATH": "/usr/bin:/bin"]
            environment["SEARCHLIGHT_BUNDLE_IDENTIFIER"] = bundle
            environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
            process = try ChildProcess(
                Program.path("TestApp"), arguments, environment: environment, input: .pipe(input),
                output: .pipe(output), errors: .inherited)
        }

        /// Reads until a line contains a text. Returns `nil` at the end of the output.
        func line() async -> String? {
            // On a separate thread, where blocking delays no other work.
            await withCheckedContinuation { done in Thread.detachNewThread { done.resume(returning: self.read()) }
            }
        }

        private func read() -> String? {
            var bytes: [UInt8] = []
            while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first {
                if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(byte)
            }
            return nil
        }

        /// Terminates the app, and waits until it has exited.
        func end() async {
            try? input.fileHandleForWriting.close()
            while await line() != nil {}
        }
    }

    private func run(_ store: String, _ arguments: String..., bundle: String? = "com.example.notes") async throws
        -> String?
    {
        let app = try App(store, arguments, bundle: bundle)
        let line = await app.line()
        await app.end()
        return line
    }

    @Test("The sample of a talk donates in a batch, changes an entry, and finds what it says")
    func talk() async throws {
        let service = try await TestService()
        let said = try await run(service.store, "talk", bundle: "com.example.journal")
        #expect(said == #"["Ski trip", "Skiing lesson"] ["Skiing", "Skiing lesson"] ["Sky"] 0 3 entries"#)
        await service.stop()
    }

    @Test("An app continues after its service is killed: nothing is lost, doubled or rejected")
    func killedServices() async throws {
        let folder = try TemporaryFolder()
        var program = try await Program(folder: folder)
        let app = try App(folder.path("store"), ["donate", "400"])
        var lines: [String] = []
        while let line = await app.line() {
            lines.append(line)
            guard [50, 150, 300].contains(lines.count) else { continue }
            program.send(SIGKILL)
            let ending = await program.wait()
            #expect(ending == 128 + SIGKILL)
            program = try await Program(folder: folder)
        }
        await app.end()
        #expect(lines == (0..<400).map { "acknowledged \($0)" } + ["state 399"])
        #expect(try await run(folder.path("store"), "query", "title == 'item *'") == "found 400")
        program.send(SIGTERM)
        let ending = await program.wait()
        #expect(ending == 0)
    }

    @Test("A promise is fulfilled by the running app, and no longer after its end")
    func promises() async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        let store = folder.path("store")
        let serving = try App(store, ["serve"])
        let greeting = await serving.line()
        #expect(greeting == "serving")
        let fetched = try await run(store, "fetch", "com.example.notes", "promised", bundle: "com.example.other")
        #expect(
            fetched?.hasPrefix("fetched 100034 bytes: promised as public.utf8-plain-text") == true, "\(fetched ?? "")")
        await serving.end()
        let gone = try await run(store, "fetch", "com.example.notes", "promised", bundle: "com.example.other")
        #expect(gone?.hasPrefix("error CSIndexErrorDomain -1001") == true, "\(gone ?? "")")
        program.send(SIGTERM)
        let ending = await program.wait()
        #expect(ending == 0)
    }

    @Test("An app without an identifier, and one without a service, get advice")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let store = folder.path("store")
        #expect(try await run(store, "available") == "false")
        #expect(try await run(store, "donate", "1")?.contains("searchlightd") == true)
        let program = try await Program(folder: folder)
        #expect(try await run(store, "available") == "true")
        #expect(try await run(store, "available", bundle: nil) == "false")
        #expect(try await run(store, "donate", "1", bundle: nil)?.contains("SEARCHLIGHT_BUNDLE_IDENTIFIER") == true)
        program.send(SIGTERM)
        let ending = await program.wait()
        #expect(ending == 0)
    }
}
