// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

/// The C test extensions. They are compiled on first use with only the public header, like a
/// third-party extension.
enum CFixture {
    private static let built = Mutex<[String: String]>([:])
    private static let folder: String = {
        let path = TemporaryFolder.place + "/searchlight-fixtures-\(getpid())"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: CFixture.folder) }
        return path
    }()

    /// The compiler that is part of every Swift toolchain.
    static let compiler: String = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { $0 + "/clang" } + ["/usr/bin/clang", "/usr/bin/cc"]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "cc"
    }()

    static let includeFolder = BuiltProducts.repository + "/Sources/SearchlightExtension/include"

    /// Returns the shared library of a fixture in Tests/Fixtures/Extensions.
    static func library(_ name: String) throws -> String {
        try library(
            source: BuiltProducts.repository + "/Tests/Fixtures/Extensions/\(name).c",
            options: ["-std=c11", "-D_GNU_SOURCE", "-I\(includeFolder)"])
    }

    /// Returns the shared library of an archived source.
    ///
    /// - Parameter isRebuilt: `true` to compile it with the current headers, `false` with the
    ///   archived header beside it.
    static func keptLibrary(_ name: String, isRebuilt: Bool = false) throws -> String {
        let folder = BuiltProducts.repository + "/Tests/Fixtures/Revision1"
        // Both headers have the same include guard, so the first one replaces the second.
        let present = isRebuilt ? ["-include", "searchlight_extension.h", "-I\(includeFolder)"] : []
        return try library(source: folder + "/\(name).c", options: ["-std=c99"] + present + ["-I\(folder)"])
    }

    /// Returns the shared library of a source file.
    static func library(source: String, options: [String]) throws -> String {
        try built.withLock { built in
            let key = ([source] + options).joined(separator: " ")
            if let path = built[key] { return path }
            let output = folder + "/\(built.count).so"
            let (status, text) = try run(
                compiler,
                options + ["-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC", source, "-o", output])
            try #require(status == 0, "compiling \(source): \(text)")
            built[key] = output
            return output
        }
    }

    /// Runs a program to its end. Returns its exit status and all its output.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil, input: String = ""
    ) throws -> (status: Int32, output: String) {
        let (ending, output) = try ChildProcess.run(program, arguments, environment: environment, input: input)
        return (ending.status, output)
    }
}
