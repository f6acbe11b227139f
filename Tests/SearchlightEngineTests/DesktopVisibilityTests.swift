// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("The apps that the desktop shows")
struct DesktopVisibilityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var file: DesktopVisibilityFile { DesktopVisibilityFile(directory: folder.path) }

    @Test("Every app is shown until it is switched off, and a switch outlives the process")
    func switches() throws {
        let first = file
        #expect(first.current.shows("org.example.a") && first.current.isKnown)
        #expect(try first.set("org.example.a", isShown: false))
        #expect(try !first.set("org.example.a", isShown: false))
        #expect(try first.set("org.example.b", isShown: false))
        let second = file
        #expect(second.current.hiddenBundles == ["org.example.a", "org.example.b"])
        #expect(!second.current.shows("org.example.a") && second.current.shows("org.example.c"))
        #expect(try second.set("org.example.a", isShown: true))
        #expect(file.current.hiddenBundles == ["org.example.b"])
    }

    @Test("A damaged file shows nothing, is kept when it is replaced, and a switch makes it whole")
    func damage() throws {
        #expect(try file.set("org.example.a", isShown: false))
        let name = DesktopVisibilityFile.fileName
        let whole = try folder.read(name)
        let changed = String(decoding: whole, as: UTF8.self).replacing("example.a", with: "example.z")
        for bytes in [[], Array(whole.dropLast()), Array("{\"hidden\":[]}".utf8), Array(changed.utf8)] {
            try folder.write(bytes, to: name)
            #expect(!file.current.isKnown && !file.current.shows("org.example.b"), "\(bytes.count)")
        }
        #expect(try file.set("org.example.b", isShown: true))
        #expect(file.current.isKnown && file.current.shows("org.example.b"))
        #expect(try folder.read(name + ".damaged") == Array(changed.utf8))
    }

    @Test("No more apps than the limit are off, and a file with more counts as damaged")
    func limit() throws {
        let names = (0..<DesktopVisibility.maximumBundles).map { "org.example.a\($0)" }
        let full = try #require(DesktopVisibility(hidden: names))
        #expect(full.setting("org.example.more", isShown: false) == nil)
        #expect(full.setting("org.example.a0", isShown: true)?.shows("org.example.a0") == true)
        #expect(DesktopVisibility(hidden: (0...DesktopVisibility.maximumBundles).map { "a\($0)" }) == nil)
        #expect(DesktopVisibility(hidden: [String(repeating: "a", count: 2000)]) == nil)
    }

    @Test("An engine refuses names that no app can have")
    func names() async throws {
        try await EnginePlace().withEngine { engine in
            var refused = 0
            for name in ["", String(repeating: "a", count: 2000)] {
                do throws(EngineError) { _ = try engine.setDesktopVisibility(of: name, isShown: false) } catch {
                    refused += 1
                }
            }
            let isChange = try engine.setDesktopVisibility(of: "org.example.a", isShown: false)
            #expect(refused == 2 && isChange && !engine.desktopVisibility.shows("org.example.a"))
        }
    }
}
