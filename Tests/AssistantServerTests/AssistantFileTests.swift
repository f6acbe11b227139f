// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AssistantServer

@Suite("The grants and the log of assistants")
struct AssistantFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var grants: AssistantGrantsFile { AssistantGrantsFile(store: folder.path) }

    private func entry(_ number: Int64, bundle: String = "b") -> AssistantLog.Entry {
        .init(time: Double(number), assistant: "a", tool: "search", query: "é\n", items: [number], bundles: [bundle])
    }

    @Test("Grants add up, are taken back one by one, and only the user may read their file")
    func changes() throws {
        #expect(try grants.read() == AssistantGrants())
        try grants.grant("a", ["x", "y"])
        try grants.grant("a", ["z"])
        #expect(try grants.read().assistants["a"]?.bundles == ["x", "y", "z"])
        #expect(try grants.revoke("a", ["x"]) && !grants.read().allows("a", "x") && grants.read().allows("a", "y"))
        #expect(try !grants.revoke("a", ["x"]) && !grants.revoke("b", nil))
        #expect(try grants.revoke("a", ["y", "z"]) && grants.read().assistants.isEmpty)
        try grants.grant("a", nil)
        #expect(try grants.read().allows("a", "anything"))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/assistants.json")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("A damaged file grants nothing, and the error names the remedy")
    func damaged() throws {
        try grants.grant("a", nil)
        try "{".write(toFile: folder.path + "/assistants.json", atomically: true, encoding: .utf8)
        let error = #expect(throws: AssistantFileError.self) { try grants.read() }
        #expect(error?.description.contains("Remove the file") == true)
        #expect(throws: AssistantFileError.self) { try grants.grant("b", nil) }
    }

    /// Something other than a file, at the path of a file.
    enum Replacement: CaseIterable { case pipe, link, secondName, folder }

    @Test("A pipe, a link or a folder instead of a file is an error at once, and nothing is written through it")
    func replaced() throws {
        let other = folder.path("other")
        for name in ["assistants.json", "assistants.json.lock", "assistants.log"] {
            for replacement in Replacement.allCases {
                let content = #"{"assistants": {"a": {"bundles": [], "all": true}}}"#
                try content.write(toFile: other, atomically: false, encoding: .utf8)
                let path = folder.path(name)
                let result =
                    switch replacement {
                    case .pipe: mkfifo(path, 0o600)
                    case .link: symlink(other, path)
                    case .secondName: link(other, path)
                    case .folder: mkdir(path, 0o700)
                    }
                try #require(result == 0)
                if name == "assistants.log" {
                    let log = AssistantLog(store: folder.path)
                    #expect(throws: AssistantFileError.self) { try log.entries() }
                    #expect(throws: AssistantFileError.self) { try log.append(entry(1)) }
                    #expect(throws: AssistantFileError.self) { try log.clear() }
                } else {
                    #expect(throws: AssistantFileError.self) { try grants.grant("b", nil) }
                }
                if name == "assistants.json" {
                    let error = #expect(throws: AssistantFileError.self) { try grants.read() }
                    #expect(error?.description.contains(path) == true)
                }
                #expect(try String(contentsOfFile: other, encoding: .utf8) == content, "\(replacement) \(name)")
                try FileManager.default.removeItem(atPath: path)
                try? FileManager.default.removeItem(atPath: folder.path("assistants.json.lock"))
            }
        }
    }

    @Test("Names and numbers of grants are bounded")
    func bounds() throws {
        #expect(throws: AssistantFileError.self) { try grants.grant("", nil) }
        #expect(throws: AssistantFileError.self) { try grants.grant(String(repeating: "é", count: 101), nil) }
        for number in 0..<AssistantGrants.maximumAssistants { try grants.grant("\(number)", nil) }
        #expect(throws: AssistantFileError.self) { try grants.grant("more", nil) }
        #expect(try grants.read().assistants.count == AssistantGrants.maximumAssistants)
    }

    @Test("Grants of several writers at once are all kept")
    func writers() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { [grants] in try grants.grant("a", ["\(number)"]) } }
            try await group.waitForAll()
        }
        #expect(try grants.read().assistants["a"]?.bundles.count == 20)
    }

    @Test("Entries come back in order, and a damaged line costs that line")
    func entries() throws {
        let log = AssistantLog(store: folder.path)
        #expect(try log.entries().isEmpty)
        try log.append(entry(1))
        let handle = try #require(FileHandle(forWritingAtPath: folder.path + "/assistants.log"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"time\":\n".utf8))
        try handle.close()
        try log.append(entry(2))
        #expect(try log.entries() == [entry(1), entry(2)])
    }

    @Test("The log is bounded and keeps the newest entries")
    func bounded() throws {
        let log = AssistantLog(store: folder.path, maximumBytes: 4096)
        for number in 0..<500 { try log.append(entry(Int64(number))) }
        let size = try FileManager.default.attributesOfItem(atPath: folder.path + "/assistants.log")[.size] as? Int
        let kept = try log.entries().map { $0.items[0] }
        #expect(try #require(size) <= 4096 && kept.count > 10)
        #expect(kept == Array(500 - Int64(kept.count)..<500))
    }

    @Test("Clearing erases everything, or the entries about one app")
    func clearing() throws {
        let log = AssistantLog(store: folder.path)
        try log.clear()
        for number in 0..<4 { try log.append(entry(Int64(number), bundle: number % 2 == 0 ? "even" : "odd")) }
        try log.clear(bundle: "odd")
        #expect(try log.entries().map(\.bundles) == [["even"], ["even"]])
        try log.clear()
        #expect(try log.entries().isEmpty)
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/assistants.log")).isEmpty)
    }
}
