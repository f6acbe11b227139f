// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A worker's folder")
struct RemovalTests {
    /// Creates a chain of folders whose total path exceeds the limit of every system call.
    private func makeDeep(in path: String) throws {
        var folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(folder >= 0)
        let name = String(repeating: "d", count: 200)
        for _ in 0..<60 {
            try #require(mkdirat(folder, name, 0o300) == 0)
            // A folder that cannot be listed can still be entered.
            let next = openat(folder, name, O_PATH_flag | O_DIRECTORY | O_CLOEXEC)
            try #require(next >= 0)
            close(folder)
            folder = next
            let file = openat(folder, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0o000)
            try #require(file >= 0)
            close(file)
        }
        close(folder)
    }
    private let O_PATH_flag: Int32 = 0o10000000

    @Test("is removed at any depth, and although it may be unreadable")
    func deep() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/worker"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try makeDeep(in: path)
        // A name that the removal itself uses.
        try FileManager.default.createDirectory(
            atPath: path + "/lifted-0/inner/more", withIntermediateDirectories: true)
        #expect(csandbox_remove_tree(path) == 0)
        #expect(access(path, F_OK) != 0)
        #expect(csandbox_remove_tree(path) == 0)
    }

    @Test("is removed with its links, and their targets stay")
    func links() throws {
        let folder = try TemporaryFolder()
        let (path, outside) = (folder.path + "/worker", folder.path + "/outside")
        for made in [path + "/inner", outside] {
            try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
        }
        try Data("kept".utf8).write(to: URL(filePath: outside + "/file"))
        for (link, target) in [("folder", outside), ("inner/folder", outside), ("inner/file", outside + "/file")] {
            try FileManager.default.createSymbolicLink(atPath: path + "/" + link, withDestinationPath: target)
        }
        #expect(csandbox_remove_tree(path) == 0)
        #expect(access(path, F_OK) != 0)
        #expect(try String(contentsOfFile: outside + "/file", encoding: .utf8) == "kept")
        // A link at the path is removed, but not its target.
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: outside)
        #expect(csandbox_remove_tree(path) == 0)
        #expect(access(path, F_OK) != 0 && access(outside + "/file", F_OK) == 0)
    }
}
