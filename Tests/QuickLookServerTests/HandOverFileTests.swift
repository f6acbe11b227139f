// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import QuickLookServer
import TestSupport
import Testing

@Suite("The file that opens the page in a browser")
struct HandOverFileTests {
    private let code = "abcdefghijklmnopqrstuvwxyz234567"

    private func file(in folders: String...) throws(HandOverFile.Problem) -> HandOverFile {
        try HandOverFile(in: folders, address: "http://127.0.0.1:4711/", code: code)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test("Only this user can read it; its name has no secret; it is removed after its use")
    func privacy() throws {
        let place = try TemporaryFolder()
        let before = umask(0)
        defer { umask(before) }
        let file = try file(in: place.path("searchlight"))
        #expect(mode(file.path) == 0o600 && mode(place.path("searchlight/quicklook")) == 0o700)
        #expect(file.path.hasPrefix(place.path("searchlight/quicklook/open-")) && !file.path.contains(code))
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(
            text.contains("<form method=\"post\" action=\"http://127.0.0.1:4711/\">")
                && text.contains("value=\"\(code)\""))
        #expect(!text.contains("?") && text.contains("content=\"no-referrer\""))
        file.remove()
        #expect(mode(file.path) == nil)
        file.remove()
    }

    @Test("It is removed when it has no owner")
    func released() throws {
        let place = try TemporaryFolder()
        let path = try file(in: place.path("searchlight")).path
        #expect(mode(path) == nil)
    }

    @Test("A folder that others can read is closed; in a folder that others can write to there is no file")
    func otherModes() throws {
        let place = try TemporaryFolder()
        let inner = place.path("searchlight/quicklook")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        // Another test changes the process-wide umask at the same time.
        chmod(place.path("searchlight"), 0o755)
        chmod(inner, 0o777)
        let made = try file(in: place.path("searchlight"))
        #expect(mode(inner) == 0o700)
        made.remove()
        chmod(place.path("searchlight"), 0o777)
        #expect(throws: HandOverFile.Problem.self) { try file(in: place.path("searchlight")) }
        chmod(place.path("searchlight"), 0o755)
        chmod(place.path, 0o1777)
        #expect(throws: HandOverFile.Problem.self) { try file(in: place.path("searchlight")) }
    }

    @Test("If others may replace a folder on the path, there is no file and no new folder")
    func ancestors() throws {
        let place = try TemporaryFolder()
        let (open, inner) = (place.path("open"), place.path("open/inner"))
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        for (mode, isFit) in [(0o777, false), (0o722, false), (0o1777, true), (0o755, true)] as [(mode_t, Bool)] {
            chmod(open, mode)
            guard isFit else {
                #expect(throws: HandOverFile.Problem.self) { try file(in: inner + "/searchlight") }
                #expect(throws: HandOverFile.Problem.self) { try file(in: inner + "/deep/searchlight") }
                #expect(throws: HandOverFile.Problem.self) { try file(in: open + "/new/searchlight") }
                #expect(self.mode(inner + "/searchlight") == nil && self.mode(open + "/new") == nil)
                continue
            }
            try file(in: inner + "/searchlight").remove()
            try FileManager.default.removeItem(atPath: inner + "/searchlight")
        }
    }

    @Test("If an access list lets another user write, there is no file", .enabled(if: AccessList.isSupported))
    func accessList() throws {
        let place = try TemporaryFolder()
        let inner = place.path("open/inner")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        chmod(inner, 0o700)
        var list = AccessList()
        list.users = [12_345: [.read, .write, .search]]
        for path in [place.path("open"), inner] {
            try #require(list.set(path))
            #expect(throws: HandOverFile.Problem.self) { try file(in: inner + "/searchlight") }
            chmod(path, 0o700)
        }
        try file(in: inner + "/searchlight").remove()
    }

    @Test("No link is followed to another folder", arguments: ["searchlight", "searchlight/quicklook"])
    func links(_ name: String) throws {
        let (place, other) = (try TemporaryFolder(), try TemporaryFolder())
        mkdir(place.path("searchlight"), 0o700)
        rmdir(place.path(name))
        try FileManager.default.createSymbolicLink(atPath: place.path(name), withDestinationPath: other.path)
        #expect(throws: HandOverFile.Problem.self) { try file(in: place.path("searchlight")) }
        #expect(try other.names.isEmpty)
    }

    @Test("A folder of another user is skipped for the next one", .enabled(if: geteuid() == 0, "needs root"))
    func otherUser() throws {
        let (runtime, cache) = (try TemporaryFolder(), try TemporaryFolder())
        chown(runtime.path, 65534, 65534)
        #expect(throws: HandOverFile.Problem.self) {
            try file(in: runtime.path("searchlight"))
        }
        let made = try file(in: runtime.path("searchlight"), cache.path("searchlight"))
        #expect(made.path.hasPrefix(cache.path + "/") && mode(runtime.path("searchlight")) == nil)
        let inner = cache.path("other/quicklook")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        chown(inner, 65534, 65534)
        #expect(throws: HandOverFile.Problem.self) { try file(in: cache.path("other")) }
    }

    @Test("Files of a killed process are removed, and files of a running one stay")
    func stale() throws {
        let place = try TemporaryFolder()
        let other = try file(in: place.path("searchlight"))
        let folder = place.path("searchlight/quicklook")
        let old = folder + "/open-left.html"
        try Data("left".utf8).write(to: URL(filePath: old))
        var times = [timeval(tv_sec: time(nil) - 3600, tv_usec: 0), timeval(tv_sec: time(nil) - 3600, tv_usec: 0)]
        utimes(old, &times)
        let made = try file(in: place.path("searchlight"))
        #expect(mode(old) == nil && mode(other.path) == 0o600 && mode(made.path) == 0o600)
    }

    @Test("It is in a folder that no extension can reach, with any declaration")
    func protected() throws {
        let environment = ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/1000"]
        let folders = WorkerConfiguration.ownFolders(environment: environment)
        #expect(folders == ["/run/user/1000/searchlight", "/home/ada/.cache/searchlight"])
        let configuration = WorkerConfiguration(workerPath: "/w", frameworkFolder: nil, environment: environment)
        #expect(configuration.protectedFolders == folders)
        #expect(WorkerConfiguration.ownFolders(environment: ["XDG_RUNTIME_DIR": "run"]).isEmpty)
    }
}
