// SPDX-License-Identifier: Apache-2.0
import CSandbox
import ExtensionHost
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A followed path")
struct FollowedPathTests {
    private let folder: TemporaryFolder
    private let root: String

    init() throws {
        folder = try TemporaryFolder()
        root = URL(filePath: folder.path).resolvingSymlinksInPath().path
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: root + "/" + path, withIntermediateDirectories: true)
    }

    private func link(_ path: String, to target: String) throws {
        try #require(symlink(target, root + "/" + path) == 0, "\(path)")
    }

    /// Creates links that each contain the next one several times; the last one dangles. Returns
    /// the path of the first link.
    private func tower(_ links: Int, _ times: Int) throws -> String {
        for number in 0..<links {
            let target = Array(repeating: "l\(number + 1)", count: times).joined(separator: "/../")
            try link("l\(number)", to: target)
        }
        return root + "/l0"
    }

    @Test("takes a bounded number of steps, with any cycle of links")
    func tower() throws {
        for (links, times) in [(20, 150), (25, 6), (39, 100), (12, 3), (45, 1)] {
            let path = try tower(links, times)
            var left = FollowedPath.maximumNames
            #expect(throws: FollowedPath.Failure.self) { _ = try FollowedPath.follow(path, left: &left) }
            for number in 0..<links { try #require(unlink(root + "/l\(number)") == 0) }
        }
        // A chain with the maximum number of links that the kernel follows.
        let path = try tower(FollowedPath.maximumLinks, 1)
        #expect(try FollowedPath(path).path == root + "/l40")
        #expect(open(path, O_RDONLY) == -1 && errno == ENOENT)
        try link("l40", to: "x")
        #expect(throws: FollowedPath.Failure.links) { _ = try FollowedPath(path) }
        #expect(open(path, O_RDONLY) == -1 && errno == ELOOP)
    }

    @Test("that is long costs as much as it has names, up to the remaining steps")
    func long() throws {
        let path = root + String(repeating: "/x", count: (4000 - root.utf8.count) / 2)
        let names = path.split(separator: "/").count
        var left = FollowedPath.maximumNames
        #expect(try FollowedPath.follow(path, left: &left).path == path)
        #expect(FollowedPath.maximumNames - left <= names + 1)
        left = names - 1
        #expect(throws: FollowedPath.Failure.names) { _ = try FollowedPath.follow(path, left: &left) }
        try make("d")
        try link("a", to: Array(repeating: "d/..", count: 800).joined(separator: "/") + "/d")
        for number in 0..<9 { try link("b\(number)", to: number == 8 ? "a" : "a/../b\(number + 1)") }
        left = FollowedPath.maximumNames
        #expect(throws: FollowedPath.Failure.names) { _ = try FollowedPath.follow(root + "/b0", left: &left) }
        for path in ["", "x", "x/y", "/" + String(repeating: "x/", count: 3000), "/zero\u{0}/x"] {
            #expect(throws: FollowedPath.Failure.form) { _ = try FollowedPath(path) }
        }
    }

    @Test("reports its links and its missing part")
    func links() throws {
        try make("a/b")
        try link("to-a", to: "a")
        try link("a/to-b", to: root + "/to-a/b/../b")
        try link("a/to-nothing", to: "new/x/../y")
        try link("circle", to: "circle")
        for (path, real, links, isThere) in [
            ("/a/b", "/a/b", [], true), ("//a/./b/", "/a/b", [], true), ("/to-a", "/a", ["/to-a"], true),
            ("/a/to-b/c/d", "/a/b/c/d", ["/a/to-b", "/to-a"], false),
            ("/to-a/to-nothing/z", "/a/new/y/z", ["/to-a", "/a/to-nothing"], false),
            ("/a/b/../..", "", [], true), ("/a/x/../../to-a/b", "/a/b", ["/to-a"], true),
        ] as [(String, String, [String], Bool)] {
            let found = try FollowedPath(root + path)
            #expect(found.path == root + real && found.links == links.map { root + $0 }, "\(path): \(found)")
            #expect(found.isThere == isThere, "\(path)")
        }
        #expect(throws: FollowedPath.Failure.links) { _ = try FollowedPath(root + "/circle/x") }
        #expect(try FollowedPath("/").path == "/" && FollowedPath("/..").path == "/")
    }

    @Test("is no text if a name is none, and has the letters of the file system")
    func letters() throws {
        try #require(mkdir(Array(root.utf8CString.dropLast()) + [0x2F, CChar(bitPattern: 0xFF), 0], 0o700) == 0)
        try #require(symlink([CChar(bitPattern: 0xFF), 0], root + "/to") == 0)
        #expect(throws: FollowedPath.Failure.form) { _ = try FollowedPath(root + "/to") }
        // A single letter in Swift, but two different names for the kernel.
        try make("\u{E9}")
        let (composed, decomposed) = (try FollowedPath(root + "/\u{E9}"), try FollowedPath(root + "/e\u{301}"))
        #expect(composed.isThere && !decomposed.isThere)
        #expect(Array(decomposed.path.utf8.suffix(3)) == Array("e\u{301}".utf8))
    }

    @Test("agrees with the C library, with any links", arguments: 0..<4)
    func atRandom(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let names = ["a", "b", "c", "..", ".", "d"]
        func path() -> String {
            (0..<Int.random(in: 1...5, using: &random)).map { _ in names.randomElement(using: &random) ?? "a" }
                .joined(separator: "/")
        }
        for name in ["a/b/c", "b/a", "d"] { try make("t/" + name) }
        for _ in 0..<12 {
            let target = Bool.random(using: &random) ? path() : root + "/t/" + path()
            _ = symlink(target, root + "/t/" + path())
        }
        var count = 0
        for _ in 0..<400 {
            let path = root + "/t/" + path()
            let followed = try? FollowedPath(path)
            guard let found = realpath(path, nil) else {
                #expect(followed?.isThere != true || path.contains(".."), "\(path)")
                continue
            }
            defer { free(found) }
            #expect(followed?.path == String(cString: found) && followed?.isThere == true, "\(path)")
            count += 1
        }
        #expect(count > 50)
    }

    @Test("is opened exactly, with and without openat2")
    func exactly() throws {
        try make("a/b")
        try Data("x".utf8).write(to: URL(filePath: root + "/a/file"))
        try link("to-a", to: "a")
        try link("a/to-file", to: "file")
        try link("a/to-nothing", to: "nothing")
        for byNames in [0, 1] as [Int32] {
            for (path, expected) in [
                ("/a/b", 0), ("/a//b/", 0), ("/a/file", 0), ("/to-a", -ELOOP), ("/to-a/b", -ELOOP),
                ("/a/to-file", -ELOOP), ("/a/to-nothing", -ELOOP), ("/a/nothing", -ENOENT), ("/a/nothing/x", -ENOENT),
                ("/a/file/x", -ENOTDIR), ("/a/file/", -ENOTDIR),
                ("/" + String(repeating: "x", count: 300), -ENAMETOOLONG),
            ] as [(String, Int32)] {
                let result = csandbox_open_exactly(root + path, byNames)
                #expect(min(result, 0) == expected, "\(path), \(byNames): \(result)")
                guard result >= 0 else { continue }
                var (status, named) = (stat(), stat())
                #expect(fstat(result, &status) == 0 && stat(root + path, &named) == 0)
                #expect(status.st_ino == named.st_ino)
                close(result)
            }
            #expect(csandbox_open_exactly("relative", byNames) == -EINVAL)
            #expect(csandbox_open_exactly("/proc/self/root", byNames) == -ELOOP)
            let system = csandbox_open_exactly("/", byNames)
            #expect(system >= 0)
            close(system)
        }
    }
}
