// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Key files")
struct KeyFileTests {
    static let usual = """
        # Written by flatpak
        [Application]
        name=org.gnome.Maps
        runtime=runtime/org.gnome.Platform/x86_64/45

        [Instance]
        instance-id=2571873261
        extra-args=a=b
        [Session Bus Policy]
        org.freedesktop.Notifications=talk

        """

    @Test("Values are found by group and key")
    func values() throws {
        let file = try KeyFile(Array(Self.usual.utf8))
        #expect(file.value("Application", "name") == "org.gnome.Maps")
        #expect(file.value("Instance", "extra-args") == "a=b")
        #expect(file.value("Session Bus Policy", "org.freedesktop.Notifications") == "talk")
        #expect(file.value("Application", "instance-id") == nil)
        #expect(file.value("Other", "name") == nil)
    }

    @Test(
        "Ambiguous files are rejected",
        arguments: [
            "name=a", "[A]\nname", "[A]\n=a", "[A\nname=a", "[]\n", "[A]\n[A]\n", "[A]\nname=a\nname=b", " [A]\nn=a",
            "[A]\nna me=a", "[A]]\n", "[A]\r\nname=a", "[A]\nna\u{7F}=a", "[A]\nname=a\u{0}b",
        ])
    func refusals(text: String) {
        #expect(throws: KeyFile.Failure.self) { try KeyFile(Array(text.utf8)) }
    }

    @Test("Bytes that are not text are rejected")
    func bytes() { #expect(throws: KeyFile.Failure.notText) { try KeyFile([0x5B, 0x41, 0x5D, 0x0A, 0xFF]) } }

    @Test("In any file, a value that is read follows its key in its group")
    func mutations() throws {
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: [Array(Self.usual.utf8)],
            tokens: ["[Application]\n", "name=", "\n", "=", "#"].map { Array($0.utf8) })
        _ = try loop.run(MutationLoop.inputs) { input in
            guard let file = try? KeyFile(input) else { return false }
            guard let name = file.value("Application", "name") else { return true }
            let lines = String(decoding: input, as: UTF8.self).utf8.split(
                separator: 10, omittingEmptySubsequences: false
            ).map { String(Substring($0)) }
            let groups = lines.indices.filter { lines[$0] == "[Application]" }
            let entries = lines.indices.filter { lines[$0] == "name=" + name }
            struct Broken: Error {}
            guard groups.count == 1, let entry = entries.first(where: { $0 > groups[0] }),
                !lines[(groups[0] + 1)..<entry].contains(where: { $0.hasPrefix("[") })
            else { throw Broken() }
            return true
        }
    }
}
