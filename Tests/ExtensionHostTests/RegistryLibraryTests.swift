// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("Headers of libraries")
struct RegistryLibraryTests {
    private func problem(_ change: (inout [UInt8]) -> Void) -> BundleProblem? {
        var bytes = PlainBundle.library
        change(&bytes)
        return Self.judge(bytes)
    }

    private static func judge(_ bytes: [UInt8]) -> BundleProblem? {
        do throws(BundleProblem) {
            try LibraryHeader.check(
                Array(bytes.prefix(LibraryHeader.byteCount)), size: Int64(bytes.count), name: "library.so")
            return nil
        } catch {
            return error
        }
    }

    @Test("A complete library is accepted")
    func whole() { #expect(problem { _ in } == nil) }

    @Test(
        "A truncated library is rejected, and called truncated once it is recognisable",
        arguments: 0..<240)
    func cutOff(count: Int) {
        guard count < PlainBundle.library.count else { return }
        switch problem({ $0 = Array($0.prefix(count)) }) {
        case .damagedLibrary("library.so", _): #expect(count >= 4)
        case .notALibrary("library.so", _): #expect(count < 4)
        case let other: Issue.record("\(count) bytes: \(String(describing: other))")
        }
    }

    @Test("32 bits, the other byte order and another processor are named")
    func architecture() {
        guard
            case .wrongArchitecture(_, "i386", _) = problem({
                $0[4] = 1; $0[18] = 3
            })
        else {
            Issue.record("32 bits")
            return
        }
        let big = problem {
            $0[5] = 2
            $0.replaceSubrange(18..<20, with: [0, 21])
        }
        guard case .wrongArchitecture(_, "big-endian 64-bit PowerPC", _) = big else {
            Issue.record("\(String(describing: big))")
            return
        }
    }

    @Test(
        "An ELF file that is not a shared library is reported as such",
        arguments: [(1, "an object file"), (2, "a program"), (4, "a core dump"), (9, "type 9")])
    func kinds(type: UInt8, expected: String) {
        guard case .notALibrary(_, let found) = problem({ $0[16] = type }) else {
            Issue.record("type \(type)")
            return
        }
        #expect(found.contains(expected))
    }

    @Test("A library without a dynamic section cannot be loaded")
    func noDynamicSection() {
        guard case .notALibrary(_, let found) = problem({ $0[120] = 4 }) else {
            Issue.record("taken")
            return
        }
        #expect(found.contains("dynamic section"))
    }

    @Test("Overflowing numbers do not trap", arguments: [32, 64 + 8, 64 + 32, 56, 54])
    func overflow(offset: Int) {
        let count = offset > 50 && offset < 60 ? 2 : 8
        let problem = problem {
            $0.replaceSubrange(offset..<offset + count, with: [UInt8](repeating: 0xFF, count: count))
        }
        guard case .damagedLibrary = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
    }

    @Test("Damaged bytes are judged without a trap")
    func fuzz() throws {
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: [PlainBundle.library])
        let accepted = try loop.run(MutationLoop.inputs) { Self.judge($0) == nil }
        #expect(accepted > 0)
    }
}
