// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Ignored files and folders")
struct IgnoreTests {
    let folder = TemporaryFolder()

    /// A pattern, a path, and `true` if git ignores the path. A folder's path ends with a slash.
    @Test(arguments: [
        ("draft.md", "draft.md", true), ("draft.md", "a/b/draft.md", true), ("draft.md", "draft.mdx", false),
        ("/draft.md", "draft.md", true),
        ("/draft.md", "a/draft.md", false), ("a/draft.md", "a/draft.md", true), ("a/draft.md", "b/a/draft.md", false),
        ("*.txt", "a/b.txt", true), ("*.txt", "a/b.md", false), ("a*c", "abbc", true), ("a*c", "ac", true),
        ("a*c", "ab", false),
        ("?.md", "é.md", true), ("?.md", "ab.md", false), ("[a-c].md", "b.md", true), ("[a-c].md", "d.md", false),
        ("[!a-c].md", "d.md", true),
        ("[]x].md", "].md", true), ("[x", "[x", true), ("old/", "old/", true), ("old/", "old", false),
        ("old/", "a/old/", true),
        ("**/b.md", "b.md", true), ("**/b.md", "a/c/b.md", true), ("a/**", "a/b/c.md", true), ("a/**", "a/", false),
        ("a/**/c", "a/c", true),
        ("a/**/c", "a/x/y/c", true), ("a/**/c", "b/c", false), ("\\#a", "#a", true), ("\\!a", "!a", true),
        ("a\\*", "a*", true),
        ("a\\*", "ab", false), ("a ", "a", true), ("a\\ ", "a ", true), ("a/*/c", "a/b/c", true),
        ("a/*/c", "a/b/b/c", false),
        ("**", "a/b", true), ("a**b", "axxb", true),
        ("*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
    ])
    func patterns(_ line: String, _ path: String, _ isLeftOut: Bool) throws {
        let pattern = try #require(IgnorePattern(line[...]))
        let names = path.split(separator: "/").map(String.init)
        #expect(pattern.matches(names[...], isFolder: path.hasSuffix("/")) == isLeftOut)
    }

    @Test func blankLinesAndCommentsAreNoPatterns() {
        for line in ["", "  ", "# a", "/", "!", "!/", String(repeating: "a", count: 2000)] {
            #expect(IgnorePattern(line[...]) == nil)
        }
    }

    @Test func filesLeaveOutWhatIsBelowThem() throws {
        for name in [
            "a.md", "draft-1.md", "sub/draft-2.md", "sub/keep.md", "sub/deep/x.md", "old/b.md", "sub/old/c.md",
            "sub/draft-3.md",
        ] {
            try folder.write("x", to: name)
        }
        try folder.write("# mine\ndraft-*\n/old\n", to: ".searchlightignore")
        try folder.write("!draft-3.md\ndeep/\n", to: "sub/.searchlightignore")
        let expected = ["note a.md", "note sub/draft-3.md", "note sub/keep.md", "note sub/old/c.md"]
        #expect(folder.walk() == expected)
        let folders = NoteFolders(paths: [folder.path])
        for name in ["a.md", "sub/draft-3.md", "sub/keep.md", "sub/old/c.md"] {
            _ = try folders.file(withIdentifier: folder[name])
        }
        for name in ["draft-1.md", "sub/draft-2.md", "sub/deep/x.md", "old/b.md"] {
            #expect(throws: FileLookupError.excluded(folder[name])) { try folders.file(withIdentifier: folder[name]) }
            guard case .gone(nil) = try folders.state(ofIdentifier: folder[name], isComplete: true) else {
                Issue.record("\(name) is not gone")
                return
            }
        }
    }

    @Test func nothingIsTakenOutOfAFolderThatIsLeftOut() throws {
        for name in ["old/keep.md", "b.md"] { try folder.write("x", to: name) }
        try folder.write("old\n!old/keep.md\n", to: ".searchlightignore")
        try folder.write("!keep.md\n", to: "old/.searchlightignore")
        #expect(folder.walk() == ["note b.md"])
    }

    @Test func settingsHaveTheLastWord() throws {
        for name in ["notes/a.md", "notes/private/b.md", "notes/x/tmp/c.md", "other/private/d.md", "other/tmp/e.md"] {
            try folder.write("x", to: name)
        }
        try folder.write("!private\n!tmp\n", to: "notes/.searchlightignore")
        try folder.write(
            "~/notes\n!~/notes/private\n~/other\n! tmp/\n", to: ".config/com.searchlight.journal/folders")
        let settings = try JournalSettings(environment: ["HOME": folder.path])
        #expect(settings.problems == [] && settings.folders == [folder["notes"], folder["other"]])
        let notes = settings.noteFolders.walk().compactMap { step -> String? in
            if case .file(let file) = step { String(file.path.dropFirst(folder.path.utf8.count + 1)) } else { nil }
        }
        #expect(notes == ["notes/a.md", "other/private/d.md"])
    }

    @Test func aLinkToAFolderElsewhereIsSaid() throws {
        let elsewhere = TemporaryFolder()
        try elsewhere.write("x", to: "a.md")
        try folder.write("x", to: "real/b.md")
        try folder.link("inner", to: "real")
        try folder.link("outer", to: elsewhere.path)
        try folder.link("real/up", to: "..")
        #expect(
            folder.walk() == [
                "skip outer: a link to the folder \(elsewhere.path); write that path into the settings to index it",
                "note real/b.md",
            ])
        #expect(folder.walk(folders: [folder.path, elsewhere.path]).count == 2)
    }

    @Test(arguments: 0..<Generated.seeds)
    func anyPatternIsMatchedInTime(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let pieces = ["*", "**", "/", "a", "?", "[", "]", "!", "\\", "-", "é", " ", "#", "[!a-z]"]
        let line = (0..<Int.random(in: 0..<40, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            .joined()
        guard let pattern = IgnorePattern(line[...]) else { return }
        let path = (0..<20).map { _ in String(repeating: "a", count: 200) }
        _ = pattern.matches(path[...], isFolder: seed.isMultiple(of: 2))
    }
}
