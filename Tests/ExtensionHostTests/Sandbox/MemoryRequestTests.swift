// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("Memory that a worker requests")
struct MemoryRequestTests {
    private func request(_ call: MemoryRequest.Call, _ arguments: [UInt64]) -> MemoryRequest {
        var attempt = csandbox_attempt()
        withUnsafeMutableBytes(of: &attempt.arguments) { bytes in
            for (place, value) in arguments.enumerated() {
                bytes.storeBytes(of: value, toByteOffset: place * 8, as: UInt64.self)
            }
        }
        return MemoryRequest(call, attempt)
    }
    private func verdict(_ request: MemoryRequest, used: UInt64 = 100 << 20, newCode: Bool = false)
        -> MemoryRequest.Verdict
    {
        var policy = SandboxPolicy()
        policy.memoryLimit = 128 << 20
        policy.allowsNewCode = newCode
        return request.verdict(csandbox_memory(data: used, address_space: 500 << 20, resident: used), policy)
    }

    @Test("is reported above the limit, with any system call")
    func limit() {
        let (fits, much) = (UInt64(20) << 20, UInt64(40) << 20)
        #expect(verdict(request(.map, [0, fits, 3, 0x22, .max, 0])) == .proceed)
        #expect(verdict(request(.map, [0, much, 3, 0x22, .max, 0])) == .exceeds)
        #expect(verdict(request(.map, [0, .max, 3, 0x22, .max, 0])) == .exceeds)
        #expect(verdict(request(.map, [0, 4 << 30, 0, 0x22, .max, 0])) == .exceedsAddresses)
        #expect(verdict(request(.protect, [0, much, 3])) == .exceeds)
        #expect(verdict(request(.protect, [0, fits, 3])) == .proceed)
        #expect(verdict(request(.remap, [0, 4096, much, 1])) == .exceeds)
        #expect(verdict(request(.remap, [0, much, much + 4096, 1])) == .proceed)
        #expect(verdict(request(.remap, [0, much, 4096, 1])) == .proceed)
        // A mapping that replaces another adds no measured memory.
        #expect(verdict(request(.map, [0, much, 3, 0x32, .max, 0])) == .proceed)
    }

    @Test("that no limit counts is refused, and reported as memory")
    func uncounted() {
        for flags in [0x21, 0x23, 0x122, 0x40022, 0x102] as [UInt64] {
            guard case .refused(ENOMEM, let refusal) = verdict(request(.map, [0, 4096, 3, flags, .max, 0])) else {
                Issue.record("\(flags)")
                continue
            }
            #expect(refusal.kind == .memory)
        }
    }

    @Test("becomes code only from a file, and for bindings")
    func code() {
        #expect(verdict(request(.map, [0, 4096, 5, 2, 7, 0])) == .code(descriptor: 7))
        for (call, arguments) in [
            (.map, [0, 4096, 7, 2, 7, 0]), (.map, [0, 4096, 7, 0x22, .max, 0]), (.map, [0, 4096, 4, 0x22, .max, 0]),
            (.protect, [0, 4096, 5]),
        ] as [(MemoryRequest.Call, [UInt64])] {
            guard case .refused(EPERM, let refusal) = verdict(request(call, arguments)) else {
                Issue.record("\(arguments)")
                continue
            }
            #expect(refusal.kind == .kernel)
            #expect(verdict(request(call, arguments), newCode: true) == .proceed)
        }
    }
}
