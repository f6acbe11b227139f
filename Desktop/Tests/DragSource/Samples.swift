// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import Promises
import ServiceMessages
import Synchronization
import SystemSupport

/// Writes a line to standard output immediately.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

/// A promise for tests: a kind, a size and a seed for its bytes, such as `text 100 7`.
struct DragSample: Hashable, Sendable {
    var name: String
    var size: Int
    var seed: UInt64

    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3, let size = Int(words[1]), let seed = UInt64(words[2]) else { return nil }
        (name, self.size, self.seed) = (words[0], size, seed)
    }

    var fileExtension: String { name == "picture" ? "png" : name == "file" || name == "original" ? "bin" : "txt" }

    /// The bytes: ASCII letters, or the content of the file that `PICTURE` names.
    var bytes: [UInt8] {
        if name == "picture", let path = ProcessInfo.processInfo.environment["PICTURE"],
            let data = FileManager.default.contents(atPath: path)
        {
            return Array(data)
        }
        var state = seed
        return (0..<size).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(ascii: "a") + UInt8(state >> 60)
        }
    }

    var record: ItemRecord {
        func list(_ type: String) -> AttributeValue { .array([.string(type)]) }
        let attributes: [String: AttributeValue] =
            switch name {
            case "html": ["providerDataTypeIdentifiers": list("public.html")]
            case "picture": ["providerDataTypeIdentifiers": list("public.png")]
            case "file": ["providerFileTypeIdentifiers": list("com.example.binary")]
            case "original": ["providerInPlaceFileTypeIdentifiers": list("com.example.binary")]
            case "url": ["url": .url("https://example.org/\(seed)")]
            default: ["providerDataTypeIdentifiers": list("public.utf8-plain-text")]
            }
        return ItemRecord(uniqueIdentifier: name, attributes: attributes)
    }
}

/// The sample for the next drag. May be used from any thread.
final class SampleChoice: Sendable {
    private let sample = Mutex(DragSample("text 100 1"))

    var current: DragSample { sample.withLock { $0 } ?? DragSample("text 1 1")! }

    func choose(_ line: String) {
        guard let chosen = DragSample(line) else { return say("unknown \(line)") }
        sample.withLock { $0 = chosen }
        say("chosen \(line)")
    }
}

/// Promises with the content of samples.
struct SamplePromises: PromiseProvider {
    struct Denied: Error {}

    func prewarm(_ items: [DragSample]) async { say("prewarm") }

    func fulfil(
        _ promise: Representation, of item: DragSample, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent {
        say("asked \(promise.type)")
        switch item.name {
        case "refused": throw ProviderFailure(.refused, "The app denied it.", cause: Denied())
        case "broken":
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            _ = item.bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, min($0.count, 1000)) }
            close(ends[1])
            return ProvidedContent(
                .data(.stream(OwnedDescriptor(adopting: ends[0]), length: UInt64(item.size + 1000))), wasRetried: true)
        case "slow": try? await Task.sleep(for: .milliseconds(600))
        case "original":
            let path = ProcessInfo.processInfo.environment["ORIGINAL"] ?? "/nonexistent"
            let number = open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { throw ProviderFailure(.notFound, "There is no original.", cause: Denied()) }
            return ProvidedContent(
                .file(FileReply(descriptor: OwnedDescriptor(adopting: number), name: "original")), wasRetried: false)
        default: break
        }
        return ProvidedContent(.data(.inline(item.bytes)), wasRetried: false)
    }
}
