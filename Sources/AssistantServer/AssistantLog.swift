// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport

/// The log of everything that assistants read, in the store's folder: one JSON object per line. It
/// contains the numbers and bundles of items, but not their content. May be used by several
/// processes at a time.
package struct AssistantLog: Sendable {
    /// One request by an assistant.
    package struct Entry: Codable, Equatable, Sendable {
        /// The time, in seconds since 1970-01-01 UTC.
        package var time: Double
        /// The name that the assistant states.
        package var assistant: String
        /// The tool, such as `search`.
        package var tool: String
        /// The text of a search.
        package var query: String?
        /// The numbers of the items that were passed to the assistant.
        package var items: [Int64] = []
        /// The bundles of these items.
        package var bundles: [String] = []
        /// `true` if the request was denied because of a missing grant.
        package var isDenied = false

        package init(
            time: Double, assistant: String, tool: String, query: String? = nil, items: [Int64] = [],
            bundles: [String] = [], isDenied: Bool = false
        ) {
            (self.time, self.assistant, self.tool, self.query) = (time, assistant, tool, query)
            (self.items, self.bundles, self.isDenied) = (items, bundles, isDenied)
        }
    }

    /// The size, in bytes, at which the older half is dropped.
    private let maximumBytes: Int

    private let path: String

    /// Creates the log of a store.
    package init(store: String, maximumBytes: Int = 4 << 20) {
        (path, self.maximumBytes) = (StoreFileName.assistantLog.path(inStore: store), maximumBytes)
    }

    /// Returns the entries, oldest first. Damaged lines are left out.
    package func entries() throws(AssistantFileError) -> [Entry] {
        guard access(path, F_OK) == 0 else { return [] }
        return try locked { Self.entries(in: Self.contents($0, atMost: maximumBytes * 2)).map(\.entry) }
    }

    /// Appends an entry. An assistant gets an answer only after its request has been logged.
    package func append(_ entry: Entry) throws(AssistantFileError) {
        try locked { descriptor throws(AssistantFileError) in
            guard var line = try? JSONEncoder().encode(entry) else { return }
            line.append(UInt8(ascii: "\n"))
            if lseek(descriptor, 0, SEEK_END) + line.count > maximumBytes {
                let kept = Self.contents(descriptor, atMost: maximumBytes * 2)
                let half = kept.suffix(maximumBytes / 2)
                let whole = half.firstIndex(of: UInt8(ascii: "\n")).map { half[($0 + 1)...] } ?? Data()
                try replace(descriptor, with: Data(whole))
            }
            guard lseek(descriptor, 0, SEEK_END) >= 0, Self.write(line, to: descriptor) else { throw failure(errno) }
        }
    }

    /// Removes all entries, or the entries about a bundle.
    package func clear(bundle: String? = nil) throws(AssistantFileError) {
        guard access(path, F_OK) == 0 else { return }
        try locked { descriptor throws(AssistantFileError) in
            guard let bundle else { return try replace(descriptor, with: Data()) }
            let kept = Self.entries(in: Self.contents(descriptor, atMost: maximumBytes * 2))
                .filter { !$0.entry.bundles.contains(bundle) }
            try replace(descriptor, with: Data(kept.flatMap { $0.line + [UInt8(ascii: "\n")] }))
        }
    }

    private static func entries(in data: Data) -> [(line: Data, entry: Entry)] {
        data.split(separator: UInt8(ascii: "\n")).compactMap { line in
            (try? JSONDecoder().decode(Entry.self, from: Data(line))).map { (Data(line), $0) }
        }
    }

    private func locked<Value>(
        _ body: (Int32) throws(AssistantFileError) -> Value
    ) throws(AssistantFileError) -> Value {
        let file: OwnedDescriptor
        do throws(UntrustedFile) { file = try OwnFile.open(path, O_RDWR | O_CREAT) } catch {
            throw AssistantFileError(description: error.description)
        }
        guard flock(file.number, LOCK_EX) == 0 else { throw failure(errno) }
        defer { flock(file.number, LOCK_UN) }
        return try body(file.number)
    }

    private func replace(_ descriptor: Int32, with data: Data) throws(AssistantFileError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0, Self.write(data, to: descriptor)
        else { throw failure(errno) }
    }

    private static func contents(_ descriptor: Int32, atMost limit: Int) -> Data {
        lseek(descriptor, 0, SEEK_SET)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return (try? handle.read(upToCount: limit) ?? nil) ?? Data()
    }

    private static func write(_ data: Data, to descriptor: Int32) -> Bool {
        (try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: data)) != nil
    }

    private func failure(_ code: Int32) -> AssistantFileError {
        AssistantFileError(
            description:
                """
                The log of assistants \(path) cannot be used: \(String(cString: strerror(code)).lowercased()). Check that it is \
                your file and that the disk is not full.
                """)
    }
}
