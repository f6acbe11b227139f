// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Files and folders that no other user may change")
struct OwnFileTests {
    private let folder: TemporaryFolder
    /// A user who is neither the current user nor root.
    private let stranger: UInt32 = 12_345

    init() throws { folder = try TemporaryFolder() }

    private func makeFolder(_ name: String, mode: mode_t = 0o700) throws -> String {
        let path = folder.path(name)
        try #require(mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
        return path
    }

    private func isWritable(_ path: String) -> UntrustedFile { UntrustedFile(path: path, problem: .writable) }

    // MARK: Shared folders

    @Test(
        "A shared sticky folder is not accepted as a store's folder, through any path or link",
        arguments: [
            "", "/", "/.", "/./", "/./.", "/own/..", "/own/../", "/own/../.", "/own/./..",
        ])
    func shared(end: String) throws {
        let shared = try makeFolder("shared", mode: 0o1777)
        try #require(mkdir(shared + "/own", 0o700) == 0)
        let refusal = #expect(throws: UntrustedFile.self) { try OwnFolder.open(shared + end, creating: false) }
        #expect(refusal?.problem == .writable)
        let link = folder.path("link")
        try #require(symlink(shared + end, link) == 0)
        for path in [link, link + "/.", link + "/./"] {
            #expect(throws: isWritable(shared)) { try OwnFolder.open(path, creating: false) }
        }
        let relative = folder.path("relative")
        try #require(symlink("shared" + end, relative) == 0)
        #expect(throws: isWritable(shared)) { try OwnFolder.open(relative, creating: true) }
        // In the folders above, other users' rights are irrelevant.
        #expect(try OwnFolder.open(shared + "/own/.", creating: false) != nil)
        #expect(try OwnFolder.open(link + "/own", creating: false) != nil)
    }

    @Test(
        "A link in a shared sticky folder that leads back to it is not accepted either",
        arguments: [".", "./", "././.", "own/..", "./own/../.", "../shared", "../shared/."])
    func backToShared(target: String) throws {
        let shared = try makeFolder("shared", mode: 0o1777)
        try #require(mkdir(shared + "/own", 0o700) == 0)
        try #require(symlink(target, shared + "/link") == 0)
        for end in ["", "/", "/.", "/link", "/link/."] {
            #expect(throws: isWritable(shared)) { try OwnFolder.open(shared + "/link" + end, creating: false) }
        }
        #expect(try OwnFolder.open(shared + "/link/own", creating: false) != nil)
    }

    @Test("A relative path of a folder starts in the working folder")
    func relative() throws {
        let working = FileManager.default.currentDirectoryPath
        let up = String(repeating: "../", count: working.split(separator: "/").count)
        let path = up + folder.path("new/store").dropFirst()
        #expect(try OwnFolder.open(path, creating: false) == nil)
        #expect(try OwnFolder.open(path, creating: true) != nil)
        #expect(FileManager.default.fileExists(atPath: folder.path("new/store")))
    }

    @Test("A file that cannot replace another reports the reason why, not that it exists")
    func unremovable() throws {
        let path = try makeFolder("jobs.json.new")
        let refusal = #expect(throws: UntrustedFile.self) { try OwnFile.create(path) }
        #expect(refusal?.problem == .system(operation: "Removing", code: EISDIR))
    }

    // MARK: Access lists

    @Test(
        "A folder or file that an access list makes writable for others is not trusted",
        .enabled(if: AccessList.isSupported), arguments: [true, false])
    func accessList(isUser: Bool) throws {
        var list = AccessList()
        if isUser { list.users = [stranger: [.read, .write, .search]] } else { list.groups = [stranger: [.write]] }
        let store = try makeFolder("store")
        let file = try folder.write([1], to: "store/file")
        #expect(try OwnFile.check(file) && OwnFolder.open(store, creating: false) != nil)
        try #require(list.set(file))
        #expect(throws: isWritable(file)) { try OwnFile.check(file) }
        #expect(throws: isWritable(file)) { try OwnFile.open(file, O_RDWR) }
        #expect(throws: isWritable(file)) { try OwnFile.bytes(file, limit: 10) }
        try #require(list.set(store))
        #expect(throws: isWritable(store)) { try OwnFolder.open(store, creating: false) }
        #expect(throws: isWritable(store)) { try OwnFolder.open(store + "/deep", creating: true) }
        #expect(throws: isWritable(store)) { try OwnFile.check(store, .folder) }
        // Following the advice in the message solves the problem.
        try #require(chmod(store, 0o700) == 0 && chmod(file, 0o600) == 0)
        #expect(try OwnFile.check(file) && OwnFolder.open(store, creating: false) != nil)
    }

    @Test("An access list without write access for others is accepted", .enabled(if: AccessList.isSupported))
    func harmlessAccessList() throws {
        let store = try makeFolder("store")
        var list = AccessList()
        // Named users with read access, and the owner and root, who may write anyway.
        list.users = [stranger: [.read, .search], 0: [.write]]
        list.users[geteuid()] = [.read, .write, .search]
        try #require(list.set(store))
        #expect(try OwnFolder.open(store, creating: false) != nil)
        // The mask removes the rights that the entries grant.
        list.users[stranger] = [.write]
        list.mask = [.read, .search]
        try #require(list.set(store))
        #expect(try OwnFolder.open(store, creating: false) != nil)
        list.mask = [.write]
        try #require(list.set(store))
        #expect(throws: isWritable(store)) { try OwnFolder.open(store, creating: false) }
    }
}
