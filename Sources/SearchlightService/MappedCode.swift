// SPDX-License-Identifier: Apache-2.0
import CFiles
import SystemSupport

/// The mapped pages of the program and its libraries.
enum MappedCode {
    /// The maximum size of `/proc/self/smaps`. A process that loads no extensions maps less.
    private static let limit = 4 << 20

    /// Drops unmodified code pages from the process's resident set. They stay in the page cache as
    /// long as there is room; each 64 KiB that are used again cost a minor fault.
    ///
    /// Only covers read-only segments without relocations, in mappings without a changed page.
    /// `MADV_DONTNEED` would discard changes.
    static func release() {
        guard let bytes = try? BoundedFile.beginning("/proc/self/smaps", limit: limit) else { return }
        let clean = unchanged(String(decoding: bytes, as: UTF8.self)).map {
            cfiles_range(start: $0.lowerBound, end: $0.upperBound)
        }
        clean.withUnsafeBufferPointer { cfiles_forget_segments($0.baseAddress, $0.count) }
    }

    /// Returns the read-only file mappings without a changed page, in memory or in swap, from text
    /// in the format of proc_pid_smaps(5).
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

    /// Returns the addresses in the first line of a mapping; an empty range if it is not a
    /// read-only file mapping; `nil` for other lines.
    static func mapping(_ line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
        let ends = fields.first?.split(separator: "-") ?? []
        guard fields.count >= 5, ends.count == 2, let start = UInt(ends[0], radix: 16),
            let end = UInt(ends[1], radix: 16), start <= end
        else { return nil }
        // The names of mappings without a file, such as [heap], contain no slash.
        let isCode = (fields[1] == "r-xp" || fields[1] == "r--p") && fields.count == 6 && fields[5].contains("/")
        return start..<(isCode ? end : start)
    }
}
