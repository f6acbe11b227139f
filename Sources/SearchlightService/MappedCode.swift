// SPDX-License-Identifier: Apache-2.0
import CFiles
import SystemSupport

/// The pages of programs and libraries that this process has mapped.
enum MappedCode {
    /// More than a process maps that loads no extensions.
    private static let limit = 4 << 20

    /// Has the kernel forget which of them were used, so that they no longer count as this process's memory. They stay in the
    /// page cache as long as there is room; what is used again costs a minor fault for each 64 KiB.
    ///
    /// Only segments of libraries that cannot be written, so that the loader has relocated nothing in them, and that lie in a
    /// mapping of which no page was changed: `MADV_DONTNEED` would undo that.
    static func release() {
        guard let bytes = try? BoundedFile.beginning("/proc/self/smaps", limit: limit) else { return }
        let clean = unchanged(String(decoding: bytes, as: UTF8.self)).map {
            cfiles_range(start: $0.lowerBound, end: $0.upperBound)
        }
        clean.withUnsafeBufferPointer { cfiles_forget_segments($0.baseAddress, $0.count) }
    }

    /// The mappings of files that can only be read and of which no page was changed, in memory or swapped out; in the form of
    /// proc_pid_smaps(5).
    static func unchanged(_ text: String) -> [Range<UInt>] {
        var found: [Range<UInt>] = []
        var mapping: Range<UInt>?
        for line in text.split(separator: "\n") {
            if let next = Self.mapping(line) {
                mapping = next
            } else if line.hasPrefix("Anonymous:"), !line.hasSuffix(" 0 kB") {
                mapping = nil
            } else if line.hasPrefix("Swap:") {
                if let mapping, !mapping.isEmpty, line.hasSuffix(" 0 kB") { found.append(mapping) }
                mapping = nil
            }
        }
        return found
    }

    /// The addresses of a line that begins a mapping; empty if it is not one of a file that can only be read.
    static func mapping(_ line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
        let ends = fields.first?.split(separator: "-") ?? []
        guard fields.count >= 5, ends.count == 2, let start = UInt(ends[0], radix: 16),
            let end = UInt(ends[1], radix: 16), start <= end
        else { return nil }
        // Other names are in brackets, as [heap].
        let isCode = (fields[1] == "r-xp" || fields[1] == "r--p") && fields.count == 6 && fields[5].contains("/")
        return start..<(isCode ? end : start)
    }
}
