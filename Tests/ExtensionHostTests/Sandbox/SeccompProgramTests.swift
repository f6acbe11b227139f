// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CSeccomp
import Glibc
import TestSupport
import Testing

@testable import ExtensionHost

/// The filters as the kernel would execute them, in the tests' own interpreter.
@Suite("The filter of system calls")
struct SeccompProgramTests {
    enum Answer: Equatable {
        case allowed, asked
        case failed(Int32)
        case killed
        var isFailure: Bool { if case .failed = self { true } else { false } }
    }

    /// Emulates the kernel's BPF machine, as far as libseccomp uses it.
    static func run(_ program: [UInt8], _ number: Int32, _ arguments: [UInt64]) throws -> Answer {
        var data = [UInt8]()
        func append<Value: FixedWidthInteger>(_ value: Value) { withUnsafeBytes(of: value) { data += $0 } }
        append(number)
        append(UInt32(seccomp_arch_native()))
        append(UInt64(0))
        for place in 0..<6 { append(place < arguments.count ? arguments[place] : 0) }
        var (accumulator, place) = (UInt32(0), 0)
        for _ in 0..<10_000 {
            let start = place * 8
            try #require(start + 8 <= program.count)
            let (code, yes, no, value) = program.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: start, as: UInt16.self), Int(bytes[start + 2]),
                    Int(bytes[start + 3]), bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
                )
            }
            place += 1
            switch code {
            case 0x20:  // load a word
                accumulator = data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Int(value), as: UInt32.self) }
            case 0x54: accumulator &= value
            case 0x05: place += Int(value)
            case 0x15: place += accumulator == value ? yes : no
            case 0x25: place += accumulator > value ? yes : no
            case 0x35: place += accumulator >= value ? yes : no
            case 0x45: place += accumulator & value != 0 ? yes : no
            case 0x06:
                switch value & 0xFFFF_0000 {
                case 0x7FFF_0000: return .allowed
                case 0x7FC0_0000: return .asked
                case 0x0005_0000: return .failed(Int32(value & 0xFFFF))
                default: return .killed
                }
            default:
                Issue.record("instruction \(code)")
                return .killed
            }
        }
        Issue.record("no end")
        return .killed
    }

    private func programs(network: Bool = false, newCode: Bool = false) throws -> SeccompPrograms {
        var policy = SandboxPolicy()
        (policy.allowsNetwork, policy.allowsNewCode) = (network, newCode)
        return try #require(try SeccompPrograms.programs(for: policy))
    }

    private func answer(_ program: [UInt8], _ name: String, _ arguments: UInt64...) throws -> Answer {
        try answer(program, name, arguments)
    }
    private func answer(_ program: [UInt8], _ name: String, _ arguments: [UInt64]) throws -> Answer {
        let number = seccomp_syscall_resolve_name(name)
        try #require(number >= 0, "\(name)")
        return try Self.run(program, number, arguments)
    }

    private static let own = SystemCalls.selfPlaceholder
    private static let all: UInt64 = 0xFFFF_FFFF

    @Test("lets a call with a process ID pass only for the worker itself, with any other arguments")
    func targets() throws {
        let programs = try programs()
        for call in SystemCalls.targeted {
            for target in [0, Self.own, 1, 4711, Self.all, 1 << 31] {
                for kind in [0, 1, 2, 3, 255, Self.all] as [UInt64] {
                    var arguments = [UInt64](repeating: 5, count: 6)
                    arguments[Int(call.target)] = target
                    if let which = call.kind { arguments[Int(which.argument)] = kind }
                    let isOwn = [0, Self.own].contains(target) && (call.kind.map { $0.process == kind } ?? true)
                    let asking = try answer(programs.telling, call.name, arguments)
                    #expect(asking == (isOwn ? .allowed : .asked), "\(call.name) \(arguments)")
                    let plain = try answer(programs.plain, call.name, arguments)
                    #expect(isOwn ? plain == .allowed : plain.isFailure, "\(call.name) \(arguments)")
                }
            }
        }
        for name in ["kill", "tgkill"] {
            for target in [0, 1, Self.all, 4711] { #expect(try answer(programs.telling, name, target, 0) == .asked) }
            #expect(try answer(programs.telling, name, Self.own, 0) == .allowed)
        }
        for name in SystemCalls.clocks {
            for clock in [0, 1, 2, 3, 4, 7, 11] as [UInt64] {
                #expect(try answer(programs.telling, name, clock) == .allowed)
            }
            for clock in [~UInt64(1) << 3 | 2, 0xFFFF_FFFA, 0x8000_0000] {
                #expect(try answer(programs.telling, name, clock) == .asked)
                #expect(try answer(programs.plain, name, clock).isFailure)
            }
        }
        // Any process may leave the idle I/O scheduling class.
        #expect(try answer(programs.telling, "ioprio_set", 1, 0, 0) == .asked)
    }

    @Test(
        "asks about every mapping that no limit counts, that is large, or that is code",
        arguments: 0..<4 as Range<UInt64>)
    func mappings(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let programs = try programs()
        typealias Mapping = SystemCalls.Mapping
        for _ in 0..<4_000 {
            // Values of every size, and close to each power of two.
            let power = UInt64(1) << UInt64.random(in: 0..<64, using: &random)
            let length =
                Bool.random(using: &random)
                ? UInt64.random(in: 0..<power, using: &random)
                : power &+ UInt64.random(in: 0...2, using: &random) &- 1
            let protection = UInt64.random(in: 0..<8, using: &random)
            var flags: UInt64 = 0
            for flag in [Mapping.shared, 2, Mapping.anonymous, Mapping.growsDown, Mapping.huge, Mapping.fixed, 0x20000]
            where Bool.random(using: &random) {
                flags |= flag
            }
            let isCode = protection & Mapping.executable != 0
            let isAnonymous = flags & Mapping.anonymous != 0
            let isOdd = flags & (Mapping.growsDown | Mapping.huge) != 0
            let isShared = isAnonymous && flags & Mapping.shared != 0
            let isLarge =
                isAnonymous && flags & Mapping.fixed == 0 && protection & Mapping.writable != 0
                && length >= Mapping.large
            let isVast =
                length >= Mapping.vast && (isAnonymous ? flags & Mapping.fixed == 0 : true)
            let isLargeChange = protection & Mapping.writable != 0 && length >= Mapping.large
            let found = try answer(programs.telling, "mmap", 0, length, protection, flags, 3, 0)
            #expect(
                found == (isCode || isOdd || isShared || isLarge || isVast ? .asked : .allowed),
                "\(length) \(protection) \(String(flags, radix: 16))")
            let plain = try answer(programs.plain, "mmap", 0, length, protection, flags, 3, 0)
            let isCodeOfFile = !isAnonymous && protection & 6 == 4
            #expect(
                isOdd || isShared || isCode && !isCodeOfFile ? plain.isFailure : plain == .allowed,
                "\(length) \(protection) \(String(flags, radix: 16))")
            let protect = try answer(programs.telling, "mprotect", 0, length, protection)
            #expect(protect == (isCode || isLargeChange ? .asked : .allowed))
        }
    }

    @Test("gives a worker with the network TCP sockets, and none that sends or connects without a check")
    func network() throws {
        for network in [false, true] {
            let programs = try programs(network: network)
            for program in [programs.telling, programs.plain] {
                let asks = program == programs.telling
                for family in 0..<46 as Range<UInt64> {
                    for type in [1, 2, 3, 5, 0x80801, 0x80802] as [UInt64] {
                        for transport in [0, 6, 17, 132, 262] as [UInt64] {
                            let isTCP = (family == 2 || family == 10) && type & 0xF == 1 && [0, 6].contains(transport)
                            let found = try answer(program, "socket", family, type, transport)
                            #expect(network && isTCP ? found == .allowed : asks ? found == .asked : found.isFailure)
                        }
                    }
                }
                for name in ["connect", "bind", "listen", "accept", "accept4"] {
                    let found = try answer(program, name, 5, 0, 16)
                    #expect(asks ? found == .asked : found.isFailure, "\(name)")
                }
                let unlisted: Answer = program == programs.telling ? .asked : .failed(ENOSYS)
                for (name, flags) in [("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)] {
                    var arguments = [UInt64](repeating: 7, count: 6)
                    arguments[flags] = 0x4040
                    #expect(try answer(program, name, arguments) == .allowed)
                    arguments[flags] |= 0x2000_0000
                    #expect(try answer(program, name, arguments) == unlisted)
                }
            }
        }
    }

    @Test("allows a thread only if it shares everything with its process", arguments: 0..<4 as Range<UInt64>)
    func threads(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let programs = try programs()
        let common: [UInt64] = [0x100, 0x200, 0x400, 0x800, 0x10000]
        for _ in 0..<2000 {
            var flags = UInt64.random(in: 0...UInt64.max, using: &random)
            // By chance, all flags would rarely be set.
            if Bool.random(using: &random) { for flag in common { flags |= flag } }
            let isThread = common.allSatisfy { flags & $0 != 0 }
            let plain = try answer(programs.plain, "clone", flags)
            #expect(isThread ? plain == .allowed : plain.isFailure)
            #expect(try answer(programs.telling, "clone", flags) == .asked)
            var attempt = csandbox_attempt()
            (attempt.number, attempt.arguments.0) = (seccomp_syscall_resolve_name("clone"), flags)
            let call = AttemptedCall(attempt, process: 4711, allowsNetwork: false)
            let isMade = if case .makeThread = call { true } else { false }
            #expect(isMade == isThread, "\(String(flags, radix: 16))")
            let closing = try answer(programs.plain, "close_range", 5, 9, flags)
            #expect((closing == .allowed) == (UInt32(truncatingIfNeeded: flags) & ~4 == 0))
        }
        for flags in [0, 4] as [UInt64] {
            #expect(try answer(programs.telling, "close_range", 5, 9, flags) == .allowed)
            #expect(try answer(programs.plain, "close_range", 5, 9, flags) == .allowed)
        }
        #expect(try answer(programs.telling, "close_range", 5, 9, 2) == .asked)
    }

    @Test("creates pairs of local sockets, and timers of allowed clocks")
    func pairsAndTimers() throws {
        let programs = try programs()
        for program in [programs.telling, programs.plain] {
            for family in 0..<46 as Range<UInt64> {
                for type in [1, 2, 3, 4, 5, 0x80801, 0x80805] as [UInt64] {
                    for transport in [0, 1, 6, 132] as [UInt64] {
                        let isPair = family == 1 && [1, 5].contains(type & 0xF) && transport == 0
                        let found = try answer(program, "socketpair", family, type, transport)
                        #expect((found == .allowed) == isPair, "\(family) \(type) \(transport)")
                    }
                }
            }
            for level in [0, 1, 6, 17, 41, 132, 255, 263, 282, 284] as [UInt64] {
                for option in 0..<80 as Range<UInt64> {
                    let isListed = SystemCalls.socketOptions.contains {
                        $0.level == level && $0.options.contains(option)
                    }
                    let found = try answer(program, "setsockopt", 3, level, option)
                    #expect((found == .allowed) == isListed, "\(level) \(option)")
                }
            }
        }
        for clock in [0, 1, 2, 7, 11] as [UInt64] {
            #expect(try answer(programs.plain, "timer_create", clock) == .allowed)
        }
        for clock in [~UInt64(1) << 3 | 2, 0xFFFF_FFFA, 0x8000_0000] {
            #expect(try answer(programs.plain, "timer_create", clock).isFailure)
        }
        #expect(try answer(programs.telling, "timer_create", 1) == .asked)
    }

    @Test("asks about resources that the kernel counts per user")
    func counted() throws {
        let programs = try programs()
        for name in SystemCalls.limited + [
            "rt_sigqueueinfo", "rt_tgsigqueueinfo", "clone3", "vmsplice", "inotify_init1",
        ] {
            #expect(try answer(programs.telling, name, Self.own, 0, 0, 0) == .asked, "\(name)")
        }
        // F_SETPIPE_SZ, and commands that duplicate descriptors.
        for command in [1031, 0, 1030] as [UInt64] {
            #expect(try answer(programs.telling, "fcntl", 3, command, 1 << 20) == .asked)
        }
        #expect(try answer(programs.plain, "fcntl", 3, 1031, 1 << 20).isFailure)
        #expect(try answer(programs.telling, "fcntl", 3, 1032) == .allowed)
        #expect(try answer(programs.plain, "clone3", 0, 0) == .failed(ENOSYS))
        #expect(try answer(programs.plain, "getxattr", 0, 0, 0, 0) == .failed(EPERM))
    }

    @Test("denies what libraries try when they are loaded, without asking the host")
    func unreported() throws {
        let programs = try programs()
        for program in [programs.telling, programs.plain] {
            for name in SystemCalls.unreported { #expect(try answer(program, name, 0, 0, 0) == .failed(EPERM)) }
        }
    }

    @Test("lets bindings create code")
    func newCode() throws {
        let programs = try programs(newCode: true)
        for program in [programs.telling, programs.plain] {
            #expect(try answer(program, "mmap", 0, 4096, 7, 0x22, UInt64(bitPattern: -1), 0) == .allowed)
            #expect(try answer(program, "mmap", 0, 4096, 5, 1, 3, 0) == .allowed)
            #expect(try answer(program, "mprotect", 0, 4096, 5) == .allowed)
            #expect(try answer(program, "mmap", 0, 4096, 3, 0x21, UInt64(bitPattern: -1), 0) != .allowed)
        }
    }
}
