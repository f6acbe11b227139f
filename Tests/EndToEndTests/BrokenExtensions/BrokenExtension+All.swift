// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Glibc
import TestSupport

extension BrokenExtension {
    /// All broken extensions.
    static let all: [BrokenExtension] = [
        crashes, hangs, takers, leavers, answers, promises, previews, donations, tables, swift,
    ].flatMap { $0 }

    /// The extensions to test. Under a sanitizer, extensions whose misuse the sanitizer rightly
    /// reports are left out.
    static let tried = {
        let known = Sanitizer.current.map(misuses) ?? []
        return all.filter { !known.contains($0.name) }
    }()

    private static func misuses(under sanitizer: Sanitizer) -> Set<String> {
        let ofMemory: Set<String> = [
            "free in provide_data", "promises: freed_memory", "promises: more_than_there_is",
            "promises: returned_memory",
        ]
        switch sanitizer {
        case .address: return ofMemory
        // ThreadSanitizer also terminates the process at a jump onto another thread's stack.
        case .thread: return ofMemory.union(["answers: longjmp_away"])
        }
    }

    private static let exit0 = BrokenOutcome.crashes([.exited(0)])
    private static let crash = BrokenOutcome.signal(SIGSEGV)

    /// Extensions that crash in each callback, and extensions that terminate their process in each
    /// way.
    static let crashes: [BrokenExtension] = [
        .init("crash", in: "constructor", isUnusable: true, crash),
        .init("crash", in: "entry", isUnusable: true, crash),
        .init("crash", in: "create", isUnusable: true, crash),
        .init("crash", in: "get_interface", isUnusable: true, crash),
        .init("crash", in: "reindex_all", crash),
        .init("crash", in: "reindex_items", asked: .reindexItems, .setsItemAside),
        .init("crash", in: "provide_data", asked: .data, crash),
        .init("crash", in: "provide_file", asked: .file, crash),
        .init("crash", in: "preview", asked: .preview, crash),
        .init("crash", in: "did_throttle", asked: .throttle, .isNotHeard),
        .init("crash", in: "did_finish_throttle", asked: .endThrottle, .isNotHeard),
        .init("crash", in: "completion", items: 1...1, crash),
        .init("crash", in: "state_completion", items: 1...1, crash),
        .init("crash", in: "thread", crash),
        .init("abort", in: "reindex_all", .signal(SIGABRT)),
        .init("trap", in: "provide_data", asked: .data, .signal(SIGILL)),
        .init("divide", in: "preview", asked: .preview, .signal(SIGFPE)),
        .init("overflow", in: "reindex_all", crash),
        .init("overflow", in: "completion", items: 1...1, crash),
        .init("free", in: "provide_data", asked: .data, .signal(SIGABRT)),
        .init("exit", in: "create", isUnusable: true, exit0),
        .init("exit", in: "reindex_all", exit0),
        .init("exit_3", in: "completion", items: 1...1, .crashes([.exited(3)])),
        .init("exit_at_once", in: "provide_data", asked: .data, exit0),
        .init("exit_elsewhere", in: "reindex_all", .crashes([.exited(4)])),
        .init("exit_and_crash", in: "reindex_all", crash),
        .init("thread_destructor", in: "reindex_all", crash),
        .init("terminate", in: "reindex_all", .signal(SIGTERM)),
        .init("kill", in: "reindex_all", .signal(SIGKILL)),
        // The crash is in the second of two pages: the first page's result is kept, and the reindex
        // continues from there.
        .init("crash", in: "reindex_page", paged: true, items: 1...1, crash),
        .init("exit", in: "reindex_page", paged: true, items: 1...1, exit0),
        .init("throws an exception", .c("throws.cpp", []), isUnusable: true, .signal(SIGABRT)),
        .init(
            "throws an exception while it is made", .c("throws.cpp", ["IN_CREATE"]), isUnusable: true,
            .signal(SIGABRT)),
    ]

    /// Extensions that do not return, in each callback and way.
    static let hangs: [BrokenExtension] = [
        .init("hang", in: "constructor", isUnusable: true, .hangs),
        .init("hang", in: "create", isUnusable: true, .hangs),
        .init("hang", in: "get_interface", isUnusable: true, .hangs),
        .init("hang", in: "reindex_all", .hangs),
        .init("hang", in: "reindex_items", asked: .reindexItems, hangs: true, .setsItemAside),
        .init("hang", in: "provide_data", asked: .data, .hangs),
        .init("hang", in: "provide_file", asked: .file, .hangs),
        .init("hang", in: "preview", asked: .preview, .hangs),
        .init("hang", in: "did_throttle", asked: .throttle, hangs: true, .isNotHeard),
        .init("hang", in: "completion", items: 1...1, .hangs),
        .init("hang", in: "thread", .hangs),
        .init("hang", in: "reindex_page", paged: true, items: 1...1, .hangs),
        .init("crash", in: "cancel_handler", asked: .cancelledData, .isCancelled),
        .init("hang", in: "cancel_handler", asked: .cancelledData, hangs: true, .isCancelled),
        .init("swallow", in: "cancel_handler", asked: .cancelledData, hangs: true, .isCancelled),
        .init("spin", in: "provide_data", asked: .data, .hangs),
        .init("spin", in: "reindex_all", .hangs),
        .init("deadlock", in: "preview", asked: .preview, .hangs),
        .init("stop", in: "reindex_all", .hangs),
        .init("stop", in: "create", isUnusable: true, .hangs),
        .init("deaf", in: "provide_data", asked: .data, .hangs),
        .init("swallow", in: "reindex_all", .hangs),
    ]

    /// Extensions that exceed their resource limits.
    static let takers: [BrokenExtension] = [
        .init("memory", in: "reindex_all", .takesTooMuchMemory),
        .init("memory", in: "preview", asked: .preview, .takesTooMuchMemory),
        .init("memory", in: "create", isUnusable: true, .takesTooMuchMemory),
        .init("addresses", in: "reindex_all", items: 0...1, .oneOf([.works, .crashes()])),
        .init("descriptors", in: "reindex_all", .works),
        .init("descriptors", in: "provide_data", asked: .data, .works),
        .init("threads", in: "reindex_all", items: 0...1, .oneOf([.works, .crashes()])),
        .init("file_size", in: "reindex_all", items: 0...1, .oneOf([.works, .signal(SIGXFSZ)])),
        .init("fork", in: "reindex_all", .works),
        .init("daemon", in: "reindex_all", .works),
        .init("exec", in: "reindex_all", items: 0...1, .oneOf([.works, .crashes([.exited(7)])])),
    ]

    /// Extensions that destroy their own environment.
    static let leavers: [BrokenExtension] = [
        .init("close_connection", in: "reindex_all", items: 0...1, .oneOf([.works, .crashes(), .hangs])),
        .init("close_all", in: "reindex_all", .oneOf([.crashes(), .hangs])),
        .init("close_all", in: "create", isUnusable: true, .oneOf([.crashes(), .hangs])),
        .init("close_twice", in: "reindex_all", .works),
        .init("close_output", in: "reindex_all", .works),
        .init("environment", in: "reindex_all", .works),
        .init("handlers", in: "reindex_all", .works),
        .init(
            "writes junk to its connection",
            .c("half-a-message", [#"BYTES="this is not D-Bus, and it is long enough to be a header of a message""#]),
            .crashes([.endedByHost])),
        .init(
            "writes half a message to its connection",
            .c("half-a-message", [#"BYTES="l\1\0\1\20\0\0\0\1\0\0\0\20\0\0\0""#]),
            .oneOf([.hangs, .crashes([.endedByHost])])),
        .init("answers", way: "longjmp_away", .oneOf([.hangs, .crashes()])),
        .init("answers", way: "dlclose_itself", .works),
        .init(
            "calls what nobody has", .c("undefined-symbol", []), .cannotLoad(.cannotOpen, "searchlight_function")),
    ]
}
