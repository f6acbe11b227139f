// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The health records of extensions")
struct HealthBookTests {
    /// Stores nothing.
    private struct FullStore: HealthStore {
        func load() -> [String: ExtensionHealth] { [:] }
        func update(
            _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
        ) throws(HealthStoreError) -> [String: ExtensionHealth] {
            throw HealthStoreError(path: "/full", reason: "no space left on device")
        }
    }

    private static let crash = ExtensionError.crashed(
        identifier: "com.example.a", during: "reindex", exit: .signalled(11), lastOutput: ["last words"])

    /// Returns library bytes with `last` additional zero bytes, so that each library has its own
    /// fingerprint.
    private static func library(_ last: UInt8) -> [UInt8] {
        PlainBundle.library + Array(repeating: 0, count: Int(last))
    }

    private func bundle(_ folder: TemporaryFolder) throws -> ExtensionBundle {
        let path = folder.path + "/com.example.a.searchext"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let manifest = """
            <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.a</string>
            <key>CFBundleExecutable</key><string>library.so</string><key>NSExtension</key><dict>
            <key>NSExtensionPointIdentifier</key><string>com.apple.spotlight.index</string></dict></dict></plist>
            """
        try folder.write(Array(manifest.utf8), to: "com.example.a.searchext/Info.plist")
        try folder.write(Self.library(1), to: "com.example.a.searchext/library.so")
        return try ExtensionBundle(at: path)
    }

    @Test("stores each change, reports a quarantine once, and releases a changed extension")
    func quarantine() async throws {
        let folder = try TemporaryFolder()
        let bundle = try bundle(folder)
        let store = MemoryHealthStore()
        let book = HealthBook(store, workerPath: "/", now: { 5 })
        let told = Mutex(0)
        for _ in 0..<4 {
            try await book.note(.crashed, Self.crash, of: bundle) { _ in told.withLock { $0 += 1 } }
        }
        #expect(told.withLock { $0 } == 1)
        #expect(store.load()["com.example.a"]?.quarantine?.evidence.lastOutput == ["last words"])
        // As another process reads it.
        let other = HealthBook(store, workerPath: "/", now: { 1e6 })
        await #expect(throws: ExtensionError.self) { try await other.admit(bundle, .person) }
        try folder.write(Self.library(2), to: "com.example.a.searchext/library.so")
        try await other.admit(bundle, .background)
        #expect(store.load().isEmpty)
        let host = HealthBook(MemoryHealthStore(book.all), workerPath: "/etc", now: { 5 })
        try await host.admit(bundle, .background)
    }

    @Test("that cannot be written reports it, and is still applied")
    func fullStore() async throws {
        let folder = try TemporaryFolder()
        let bundle = try bundle(folder)
        let book = HealthBook(FullStore(), workerPath: "/", now: { 5 })
        let told = Mutex(0)
        for _ in 0..<3 {
            await #expect(throws: HealthStoreError.self) {
                try await book.note(.crashed, Self.crash, of: bundle) { _ in told.withLock { $0 += 1 } }
            }
        }
        #expect(told.withLock { $0 } == 1)
        await #expect(throws: ExtensionError.self) { try await book.admit(bundle, .person) }
        await #expect(throws: HealthStoreError.self) { _ = try await book.release("com.example.a") }
        try await book.admit(bundle, .background)
    }

    @Test("releases skip-listed items when the extension changes, and only then")
    func givenBack() async throws {
        let folder = try TemporaryFolder()
        let bundle = try bundle(folder)
        let told = Mutex<[Set<String>]>([])
        let book = HealthBook(MemoryHealthStore(), workerPath: "/", now: { 5 }) { _, items in
            told.withLock { $0.append(items) }
            return true
        }
        try await book.setAside([("a", "crashed"), ("b", "crashed")], of: bundle)
        try await book.admit(bundle, .background)
        #expect(told.withLock { $0.isEmpty })
        try folder.write(Self.library(2), to: "com.example.a.searchext/library.so")
        await book.meet(bundle)
        try await book.admit(bundle, .background)
        #expect(told.withLock { $0 } == [["a", "b"]])
        #expect(book["com.example.a"].isBlank)
    }

    @Test("keeps skip-listed items until a job can be created for them, and the extension still gets requests")
    func notGivenBack() async throws {
        let folder = try TemporaryFolder()
        let bundle = try bundle(folder)
        let store = MemoryHealthStore()
        let canOwe = Mutex(false)
        let book = HealthBook(store, workerPath: "/", now: { 5 }) { _, _ in canOwe.withLock { $0 } }
        try await book.setAside([("a", "crashed")], of: bundle)
        for _ in 0..<3 { try await book.note(.crashed, Self.crash, of: bundle) { _ in } }
        try folder.write(Self.library(2), to: "com.example.a.searchext/library.so")
        try await book.admit(bundle, .background)
        await #expect(throws: HealthStoreError.self) { try await book.note(.crashed, Self.crash, of: bundle) { _ in } }
        #expect(store.load()["com.example.a"]?.itemsSetAside.map(\.identifier) == ["a"])
        canOwe.withLock { $0 = true }
        try await book.note(.crashed, Self.crash, of: bundle) { _ in }
        let kept = try #require(store.load()["com.example.a"])
        #expect(kept.itemsSetAside.isEmpty && kept.failures.count == 1 && kept.quarantine == nil)
    }

    @Test("adds to stored changes of other processes, and stores a failed change with the next one")
    func others() async throws {
        /// A store that fails while it is configured to fail.
        final class SometimesFull: HealthStore {
            let kept = MemoryHealthStore()
            let isFull = Mutex(false)
            func load() -> [String: ExtensionHealth] { kept.load() }
            func update(
                _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
            ) throws(HealthStoreError) -> [String: ExtensionHealth] {
                if isFull.withLock({ $0 }) { throw HealthStoreError(path: "/full", reason: "no space left on device") }
                return try kept.update(change)
            }
        }
        let folder = try TemporaryFolder()
        let bundle = try bundle(folder)
        let store = SometimesFull()
        let books = (0..<3).map { _ in HealthBook(store, workerPath: "/", now: { 5 }) }
        for book in books { try await book.note(.crashed, Self.crash, of: bundle) { _ in } }
        #expect(books[2]["com.example.a"].quarantine != nil)
        store.isFull.withLock { $0 = true }
        await #expect(throws: HealthStoreError.self) { try await books[0].setDisabled(true, "com.example.b") }
        store.isFull.withLock { $0 = false }
        try await books[1].setDisabled(true, "com.example.c")
        try await books[0].setDisabled(true, "com.example.d")
        #expect(store.load().keys.sorted() == "abcd".map { "com.example.\($0)" })
        #expect(store.load()["com.example.a"]?.failures.count == 3)
    }

    @Test("While another process holds the file, the known state is returned at once")
    func held() async throws {
        /// A store that blocks until it is released.
        final class HeldStore: HealthStore {
            let kept = MemoryHealthStore()
            let gate = DispatchSemaphore(value: 0)
            let begun: AsyncStream<Void>.Continuation
            init(_ begun: AsyncStream<Void>.Continuation) { self.begun = begun }
            func load() -> [String: ExtensionHealth] { kept.load() }
            func update(
                _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
            ) throws(HealthStoreError) -> [String: ExtensionHealth] {
                begun.yield()
                gate.wait()
                return try kept.update(change)
            }
        }
        let (changes, begun) = AsyncStream.makeStream(of: Void.self)
        let store = HeldStore(begun)
        let book = HealthBook(store, workerPath: "/", now: { 5 })
        let names = ["com.example.a", "com.example.b"]
        let disabling = names.map { name in Task { try await book.setDisabled(true, name) } }
        var iterator = changes.makeAsyncIterator()
        await iterator.next()
        #expect(book.all.isEmpty && !book[names[0]].isDisabled)
        for _ in names { store.gate.signal() }
        for task in disabling { try await task.value }
        #expect(book.all.keys.sorted() == names && store.load() == book.all)
    }
}
