// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import SearchlightEngine
import TestSupport
import Testing

/// The memory and files of the real service after a lock.
@Suite("Memory of a locked service", .timeLimit(.minutes(10)), .disabled(if: Sanitizer.current != nil))
struct ProtectedMemoryTests {
    private static let passphrase = Array("the passphrase of this test".utf8)

    /// Returns a text that this file does not contain in one piece.
    private static func canary(_ number: Int) -> String { ["resting", "pulse", "canary"].joined() + "\(number)x" }

    /// Finds a text in the writable memory of a process, except for its thread stacks, whose frames
    /// are not overwritten (docs/SECURITY.md). A stack is the mapping after a guard page.
    ///
    /// - Returns: The mapping of each occurrence with the bytes around it; `nil` if this process
    ///   may not read that memory.
    private static func occurrences(of text: String, in process: pid_t) throws -> [String]? {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { return nil }
        defer { close(memory) }
        let needle = Data(text.utf8)
        var found: [String] = []
        var guardPage: UInt64 = 0
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2 else { continue }
            let isStack = guardPage == ends[0] || line.hasSuffix("[stack]")
            guardPage = fields[1].hasPrefix("---") && ends[1] - ends[0] == 4096 ? ends[1] : 0
            guard fields[1].hasPrefix("rw"), !isStack else { continue }
            var bytes = Data(count: Int(ends[1] - ends[0]))
            let read = bytes.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, off_t(ends[0])) }
            guard read > 0 else { continue }
            var rest = bytes.prefix(read)
            while let place = rest.range(of: needle) {
                let around = bytes[max(0, place.lowerBound - 64)..<min(read, place.upperBound + 64)]
                let shown = String(decoding: around, as: UTF8.self).debugDescription
                found.append("\(line) at \(place.lowerBound): \(shown)")
                rest = rest[place.upperBound...]
            }
        }
        return found
    }

    /// Returns the names of the files in the store, and in the log, that contain a text.
    private static func files(containing text: String, in folder: TemporaryFolder) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { (try? folder.read($0)).map { Data($0).range(of: Data(text.utf8)) != nil } ?? false }
    }

    @Test("After a lock, neither its memory nor a file has a word of a protected item")
    func canaries() async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        let user = try #require(
            try await RemoteEngine.connect(storeDirectory: folder.path("store"), program: "test"))
        var hasLooked = false
        for round in 0..<5 {
            let canary = Self.canary(round)
            try await user.perform(UnlockCall(passphrase: Self.passphrase, creates: round == 0))
            var batch = IndexBatch(
                scope: IndexScope(bundle: "com.example.health", index: "notes"), protection: .complete)
            batch.index(
                try (0..<500).map { number in
                    try EncodedItem(
                        ItemRecord(
                            uniqueIdentifier: "\(number)",
                            attributes: [
                                "title": .string("\(canary) \(number)"),
                                "textContent": .string(String(repeating: "words of \(canary) ", count: 20)),
                            ]))
                })
            try await user.commit(batch)
            // The text of a search may remain in a buffer of its connection, so the search uses
            // another word.
            var search = ItemSearch("words")
            search.snippetLength = 100
            #expect(try await user.find(search).hits.count == 20)
            _ = try await user.suggestions(.init(String(canary.prefix(12))))
            _ = try await user.item(named: "7")
            guard let before = try Self.occurrences(of: canary, in: program.process) else { break }
            hasLooked = true
            #expect(before.count > 500)
            try await user.perform(LockCall())
            for number in 0...round {
                let canary = Self.canary(number)
                // Buffers of the answers may be freed after the answer was sent.
                let isClean = await eventually {
                    (try? Self.occurrences(of: canary, in: program.process))?.isEmpty == true
                }
                let left = try Self.occurrences(of: canary, in: program.process)
                #expect(isClean, "round \(round): \(left?.prefix(3) ?? [])")
                #expect(Self.files(containing: canary, in: folder) == [])
            }
        }
        if !hasLooked { print("Skipped: the memory of another process cannot be read.") }
        #expect(try String(contentsOfFile: "/proc/\(program.process)/coredump_filter", encoding: .utf8) == "00000000\n")
        await user.close()
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }

    @Test("After an unlock and a lock, no copy of the passphrase is in its memory, not even of the first passphrase")
    func passphrases() async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        for round in 0..<2 {
            let word = ["some", "secret", "canary"].joined() + "\(round)"
            // The two forms in which a message may have it.
            let forms = [word, Array(word.utf8.prefix(12)).map(String.init).joined(separator: ",")]
            let first = try #require(
                try await RemoteEngine.connect(storeDirectory: folder.path("store"), program: "test"))
            _ = try await first.perform(PrepareSecretsCall())
            if round == 0 {
                try await first.perform(UnlockCall(passphrase: Array(word.utf8), creates: true))
            } else {
                let earlier = Array((["some", "secret", "canary"].joined() + "0").utf8)
                _ = try await first.perform(
                    ChangeKeysCall(from: .passphrase(earlier), to: .passphrase(Array(word.utf8))))
            }
            await first.close()
            let user = try #require(
                try await RemoteEngine.connect(storeDirectory: folder.path("store"), program: "test"))
            try await user.perform(LockCall())
            for form in forms {
                guard try Self.occurrences(of: form, in: program.process) != nil else {
                    print("Skipped: the memory of another process cannot be read.")
                    break
                }
                let isClean = await eventually {
                    (try? Self.occurrences(of: form, in: program.process))?.isEmpty == true
                }
                let left = try Self.occurrences(of: form, in: program.process)
                #expect(isClean, "round \(round): \(left?.prefix(3) ?? [])")
            }
            await user.close()
        }
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }
}
