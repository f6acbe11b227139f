// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The cache of the registry")
struct RegistryCacheTests {
    private let folder: TemporaryFolder
    private var file: String { folder.path("cache") }

    init() throws { folder = try TemporaryFolder() }

    private func search(_ cache: RegistryCache?) -> ExtensionRegistry {
        ExtensionRegistry(searchPath: [folder.path("a")], cache: cache)
    }

    /// Makes all files look old, so that the stamps are reliable.
    private func age(_ cache: RegistryCache) {
        var entries = cache.entries()
        for path in entries.keys { entries[path]?.isSettled = true }
        cache.replace(entries, in: [folder.path("a")])
    }

    private func fill(_ count: Int = 3) throws -> RegistryCache {
        for number in 0..<count {
            try PlainBundle(
                "com.example.x\(number)", in: folder.path("a"),
                manifest: ["UTExportedTypeDeclarations": [["UTTypeIdentifier": "com.example.t\(number)"]]])
        }
        let cache = RegistryCache(path: file)
        _ = search(cache)
        age(cache)
        cache.save()
        return cache
    }

    @Test("The cache returns what was read")
    func same() throws {
        _ = try fill()
        let cache = RegistryCache(path: file)
        #expect(cache.count == 3)
        #expect(search(cache).extensions == search(nil).extensions)
        #expect(search(cache).refusals.isEmpty)
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("Unchanged files are not read again")
    func warm() throws {
        let cache = try fill(1)
        var entries = cache.entries()
        let path = try #require(entries.keys.first)
        // Content that exists only in the cache shows that the cache was used.
        let values = try ExtensionManifest.values(Array(try Data(contentsOf: URL(filePath: path + "/Info.plist"))))
        guard case .dictionary(var keys) = values else { return }
        keys["CFBundleVersion"] = .string("from the cache")
        var bytes: [UInt8] = []
        PropertyValue.dictionary(keys).encode(to: &bytes)
        entries[path]?.encoded = bytes[...]
        entries[path]?.manifest = nil
        cache.replace(entries, in: [folder.path("a")])
        #expect(search(cache).extensions.map(\.manifest.version) == ["from the cache"])
        try PlainBundle("com.example.x0", in: folder.path("a"), version: "2")
        #expect(search(cache).extensions.map(\.manifest.version) == ["2"])
    }

    @Test("A file that changes while it is read is read again")
    func unsettled() throws {
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        let cache = RegistryCache(path: nil)
        _ = search(cache)
        let entry = try #require(cache.entries()[bundle.path])
        #expect(!entry.isSettled)
        #expect(entry.isOld(at: entry.libraryStamp.changed + 3_000_000_000))
        #expect(
            !entry.isOld(at: entry.libraryStamp.changed - 3_000_000_000), "a clock that was set back is no evidence")
    }

    @Test(
        "Write permissions are checked each time, with any content of the cache",
        arguments: ["", "/library.so", "/Info.plist"])
    func modes(part: String) throws {
        let cache = try fill(1)
        chmod(folder.path("a/com.example.x0.searchext") + part, 0o777)
        #expect(search(cache).extensions.isEmpty)
        guard case .writableByOthers? = search(cache).refusals.first?.problem else {
            Issue.record("\(search(cache).refusals)")
            return
        }
    }

    @Test("A replaced library is checked")
    func library() throws {
        let cache = try fill(1)
        let bundle = try PlainBundle("com.example.x0", in: folder.path("a"), library: [UInt8](repeating: 7, count: 240))
        guard case .notALibrary? = search(cache).refusals.first?.problem else {
            Issue.record("taken")
            return
        }
        _ = bundle
    }

    @Test("A damaged cache is ignored, or contains only valid manifests, and is written again")
    func damage() throws {
        _ = try fill()
        let sound = Array(try Data(contentsOf: URL(filePath: file)))
        let expected = search(nil).extensions
        for offset in stride(from: 0, to: sound.count, by: 7) {
            var bytes = sound
            bytes[offset] ^= 0x10
            try Data(bytes).write(to: URL(filePath: file))
            let cache = RegistryCache(path: file)
            #expect(cache.count == 0)
            #expect(search(cache).extensions == expected)
        }
        let cache = RegistryCache(path: file)
        _ = search(cache)
        cache.save()
        #expect(RegistryCache(path: file).count == 3)
    }

    @Test("A cache with a valid checksum and invalid content is rejected")
    func hostile() throws {
        let cache = try fill()
        let sound = RegistryCache.encode(cache.entries())
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: [Array(sound.dropFirst(16))])
        _ = try loop.run(MutationLoop.inputs) { body in
            var bytes = Array(sound.prefix(8))
            bytes.append(number: Digest.of(body))
            guard let entries = RegistryCache.decode(bytes + body) else { return false }
            for entry in entries.values { _ = entry.readManifest() }
            return true
        }
    }

    @Test("A link, a pipe, another user's file and an endless file are not a cache")
    func noFile() throws {
        _ = try fill()
        try FileManager.default.moveItem(atPath: file, toPath: folder.path("real"))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "real")
        #expect(RegistryCache(path: file).count == 0)
        unlink(file)
        mkfifo(file, 0o600)
        #expect(RegistryCache(path: file).count == 0)
        unlink(file)
        try FileManager.default.copyItem(atPath: folder.path("real"), toPath: file)
        #expect(RegistryCache(path: file).count == 3)
        chmod(file, 0o666)
        #expect(RegistryCache(path: file).count == 0)
        #expect(RegistryCache(path: "/dev/zero").count == 0)
    }

    @Test("A removed bundle is dropped, and bundles of folders that were not searched stay")
    func gone() throws {
        let cache = try fill()
        try FileManager.default.removeItem(atPath: folder.path("a/com.example.x1.searchext"))
        _ = ExtensionRegistry(searchPath: [folder.path("elsewhere")], cache: cache)
        #expect(cache.count == 3)
        _ = search(cache)
        #expect(cache.count == 2)
    }
}
