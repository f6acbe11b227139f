// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

/// The C test extensions: compiled on first use, with nothing but the public header, as anybody's would be.
enum CFixture {
    private static let built = Mutex<[String: String]>([:])
    private static let folder: String = {
        let path = FileManager.default.temporaryDirectory.path + "/searchlight-fixtures-\(getpid())"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: CFixture.folder) }
        return path
    }()

    /// The compiler that comes with every Swift toolchain.
    static let compiler: String = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { $0 + "/clang" } + ["/usr/bin/clang", "/usr/bin/cc"]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "cc"
    }()

    static let includeFolder = BuiltProducts.repository + "/Sources/SearchlightExtension/include"

    /// The shared library of a fixture in Tests/Fixtures/Extensions.
    static func library(_ name: String) throws -> String {
        try built.withLock { built in
            if let path = built[name] { return path }
            let source = BuiltProducts.repository + "/Tests/Fixtures/Extensions/\(name).c"
            let output = folder + "/\(name).so"
            let (status, text) = try run(
                compiler,
                [
                    "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC",
                    "-I\(includeFolder)", source, "-o", output,
                ])
            try #require(status == 0, "compiling \(source): \(text)")
            built[name] = output
            return output
        }
    }

    /// Runs a program to its end: its exit status and all it printed.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil, input: String = ""
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        if let environment { process.environment = environment }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        let inputPipe = Pipe()
        process.standardInput = inputPipe
        try process.run()
        // What tests send fits into a pipe, so nobody waits for anybody.
        try inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try inputPipe.fileHandleForWriting.close()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
