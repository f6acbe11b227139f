// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import Testing

/// Bundles that are rejected before any of their code is loaded.
@Suite("A bundle is rejected", .timeLimit(.minutes(10)))
struct BundleRefusalTests {
    /// Returns the only problem with the only bundle that a closure installs. The problem does not
    /// prevent a good bundle from being found.
    private func problem(_ install: (Harness) throws -> Void) throws -> BundleProblem {
        let harness = try Harness()
        let good = try harness.installFixture("notebook")
        try install(harness)
        let registry = ExtensionRegistry(searchPath: [harness.extensions])
        #expect(registry.extensions.map(\.identifier) == [good])
        #expect(registry.refusals.count == 1)
        return try #require(registry.refusals.first).problem
    }

    private static let library = Result { try CFixture.library("notebook") }

    @Test(
        "when its manifest lacks a key it needs",
        arguments: [
            ("CFBundleIdentifier", "CFBundleIdentifier"), ("CFBundleExecutable", "CFBundleExecutable"),
            ("NSExtension", "NSExtension"),
        ])
    func missingKey(removed: String, named: String) throws {
        let library = try Self.library.get()
        let found = try problem { try $0.install("com.example.x", library: library, manifest: [removed: nil as Any?]) }
        #expect(found == .missingKey(named))
    }

    @Test(
        "when its identifier is not a reverse-DNS name",
        arguments: ["", "journal", "com..x", "com.example/x", "../../etc", "com.exämple.x", ".com.x"])
    func badIdentifier(identifier: String) throws {
        let library = try Self.library.get()
        let found = try problem {
            try $0.install("com.example.x", library: library, manifest: ["CFBundleIdentifier": identifier])
        }
        guard case .invalidValue("CFBundleIdentifier", _, _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when its library's name leads out of the bundle", arguments: ["../evil.so", "/lib/x.so", "..", ""])
    func escapingLibrary(name: String) throws {
        let library = try Self.library.get()
        let found = try problem {
            try $0.install("com.example.x", library: library, manifest: ["CFBundleExecutable": name])
        }
        guard case .invalidValue("CFBundleExecutable", _, _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when it extends no known point")
    func unknownPoint() throws {
        let library = try Self.library.get()
        let found = try problem {
            try $0.install(
                "com.example.x", library: library,
                manifest: ["NSExtension": ["NSExtensionPointIdentifier": "com.apple.widget"]])
        }
        guard case .invalidValue("NSExtension.NSExtensionPointIdentifier", "com.apple.widget", _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when its library is missing")
    func missingLibrary() throws {
        let found = try problem { try $0.install("com.example.x", library: nil) }
        guard case .libraryUnreadable("library.so", _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when its library is not a library", arguments: ["#!/bin/sh\necho hello, this is a script\n", ""])
    func notALibrary(content: String) throws {
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: nil)
            try Data(content.utf8).write(to: URL(filePath: bundle + "/library.so"))
        }
        guard case .notALibrary("library.so", _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when its library is for another processor")
    func wrongArchitecture() throws {
        let library = try Self.library.get()
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: library)
            var bytes = try Data(contentsOf: URL(filePath: bundle + "/library.so"))
            bytes.replaceSubrange(18..<20, with: [21, 0])  // e_machine: 64-bit PowerPC
            try bytes.write(to: URL(filePath: bundle + "/library.so"))
        }
        guard case .wrongArchitecture("library.so", "64-bit PowerPC", _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when it is a program")
    func program() throws {
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: try Self.library.get())
            var bytes = try Data(contentsOf: URL(filePath: bundle + "/library.so"))
            bytes[16] = 2  // e_type: ET_EXEC
            try bytes.write(to: URL(filePath: bundle + "/library.so"))
        }
        guard case .notALibrary = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test(
        "when its manifest is not a property list",
        arguments: ["", "{", "<plist>", "{ A = B; }", "bplist00\u{0}\u{1}\u{2}"])
    func manifestIsNoPropertyList(content: String) throws {
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: try Self.library.get())
            try Data(content.utf8).write(to: URL(filePath: bundle + "/Info.plist"))
        }
        guard case .manifestUnreadable = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when its manifest is too large")
    func enormousManifest() throws {
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: try Self.library.get())
            try Data(repeating: 0x20, count: 1 << 20).write(to: URL(filePath: bundle + "/Info.plist"))
        }
        guard case .manifestTooLarge = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when its manifest is a binary property list, which can expand without bound")
    func binaryManifest() throws {
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: try Self.library.get())
            let data = try Data(contentsOf: URL(filePath: bundle + "/Info.plist"))
            let parsed = try PropertyListSerialization.propertyList(from: data, format: nil)
            try PropertyListSerialization.data(fromPropertyList: parsed, format: .binary, options: 0)
                .write(to: URL(filePath: bundle + "/Info.plist"))
        }
        guard case .manifestUnreadable(let reason) = found, reason.contains("convert") else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("but not when its folder is searched twice")
    func folderTwice() throws {
        let harness = try Harness()
        let good = try harness.installFixture("notebook")
        let registry = ExtensionRegistry(searchPath: [harness.extensions, harness.extensions])
        #expect(registry.extensions.map(\.identifier) == [good])
        #expect(registry.refusals.isEmpty)
    }

    @Test("when other users may write to it", arguments: ["", "/library.so", "/Info.plist"])
    func writableByOthers(part: String) throws {
        let found = try problem { harness in
            let bundle = try harness.install("com.example.x", library: try Self.library.get())
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: bundle + part)
        }
        guard case .writableByOthers = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("when another bundle with its identifier comes first")
    func shadowed() throws {
        let found = try problem { harness in
            let bundle = try harness.install(
                "zzz", library: try Self.library.get(), manifest: ["CFBundleIdentifier": "com.example.notebook"])
            #expect(bundle.hasSuffix("zzz.searchext"))
        }
        guard case .shadowed("com.example.notebook", _) = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test("with the reason, if it is requested")
    func askedFor() async throws {
        let harness = try Harness()
        try harness.install("com.example.x", library: nil)
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll("com.example.x") }
            guard case .extension(.refused(_, .libraryUnreadable))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(engine.owedJobs.isEmpty)
        }
    }
}
