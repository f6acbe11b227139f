// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The paths of the programs and libraries that the tests run.
enum BuiltProducts {
    /// The root of the repository.
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The folder of the programs and libraries of this build, which has the test program too.
    static let folder: String = {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folder = URL(filePath: program).deletingLastPathComponent().path
        // Some runners load the tests into a program of the toolchain.
        guard !FileManager.default.fileExists(atPath: folder + "/searchlight-worker") else { return folder }
        return repository + "/.build/debug"
    }()

    /// The build folder of the plugins. Scripts/test uses the folder of the main package,
    /// Scripts/sanitize others.
    static let plugins = ProcessInfo.processInfo.environment["SEARCHLIGHT_PLUGINS_BUILD"] ?? repository + "/.build"

    /// The compiler of “Scripts/setup --zig”, which may be missing.
    static let zig = repository + "/.build/zig/ziglang/zig"

    /// Returns the path of a program of this build.
    static func program(_ name: String) throws -> String {
        let path = folder + "/" + name
        try #require(
            FileManager.default.isExecutableFile(atPath: path),
            "\(path) is missing. Run “swift build” and “Scripts/swift-in Torture build” first, or Scripts/test, which does."
        )
        return path
    }

    /// Returns the library of the Journal extension, from the package in Plugins/.
    static func journalLibrary() throws -> String {
        let path = plugins + "/debug/libJournal.so"
        try #require(
            FileManager.default.fileExists(atPath: path),
            "\(path) is missing. Run “Scripts/swift-in Plugins build --product Journal”, or Scripts/test.")
        return path
    }

    /// Returns the library of the Mail extension, from the package in Plugins/Content.
    static func mailLibrary() throws -> String {
        let path = plugins + "/debug/libMail.so"
        try #require(
            FileManager.default.fileExists(atPath: path),
            "\(path) is missing. Run “Scripts/swift-in Plugins/Content build --product Mail”, or Scripts/test.")
        return path
    }

    /// Returns the library of the extension Documents with code, from the package in Plugins/.
    static func documentsLibrary() throws -> String {
        let path = plugins + "/debug/libDocuments.so"
        try #require(
            FileManager.default.fileExists(atPath: path),
            "\(path) is missing. Run “Scripts/swift-in Plugins build --product Documents”, or Scripts/test.")
        return path
    }

    /// Returns the library of another extension of the package in Plugins/, such as Contacts.
    static func library(ofPlugin product: String) throws -> String {
        let path = plugins + "/debug/lib\(product).so"
        try #require(
            FileManager.default.fileExists(atPath: path),
            "\(path) is missing. Run “Scripts/swift-in Plugins build --product \(product)”, or Scripts/test.")
        return path
    }

    /// Returns the library of the Bookmarks extension, which is C and built by make.
    static func bookmarksLibrary() throws -> String {
        let path = plugins + "/bookmarks/com.searchlight.bookmarks.searchext/libBookmarks.so"
        try #require(
            FileManager.default.fileExists(atPath: path),
            "\(path) is missing. Run “make -C Plugins/Bookmarks BUILD=../../.build/bookmarks”, or Scripts/test.")
        return path
    }
}
