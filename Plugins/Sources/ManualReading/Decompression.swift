// SPDX-License-Identifier: Apache-2.0
import CLibArchive
import FileReading
import Glibc

/// Decompresses a file with libarchive, which supports every compression that Debian uses.
enum Decompression {
    /// The maximum number of decompressed bytes, regardless of the size that the file states.
    static let maximumSize = 16 << 20
    private static let piece = 64 << 10

    /// Returns the contents as far as they can be read.
    static func contents(of file: OpenedFile, _ compression: ManualKind.Compression?) throws(SkipReason) -> (
        bytes: [UInt8], problem: ManualProblem?
    ) {
        guard let compression else {
            let bytes = try file.readAll(limit: maximumSize)
            return (bytes, Int(file.size) > bytes.count ? .tooLarge : nil)
        }
        if file.size == 0 { return ([], .damaged) }
        guard let archive = archive_read_new() else { return ([], .tooLarge) }
        defer { archive_read_free(archive) }
        lseek(file.descriptor.raw, 0, SEEK_SET)
        var entry: OpaquePointer?
        // Only the filter that the name implies is allowed, so that no file is decompressed twice.
        guard support(compression, archive) >= ARCHIVE_WARN, archive_read_support_format_raw(archive) == ARCHIVE_OK,
            archive_read_open_fd(archive, file.descriptor.raw, piece) == ARCHIVE_OK,
            archive_read_next_header(archive, &entry) >= ARCHIVE_WARN
        else { return ([], .damaged) }
        // Without a filter, the raw format returns the file unchanged.
        guard archive_filter_count(archive) > 1 else { return ([], .damaged) }
        var bytes: [UInt8] = []
        while true {
            var status = 0
            let room = min(piece, maximumSize + 1 - bytes.count)
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                status = archive_read_data(archive, buffer.baseAddress, buffer.count)
                count = max(0, status)
            }
            bytes += chunk
            if bytes.count > maximumSize { return (bytes.dropLast(bytes.count - maximumSize), .tooLarge) }
            if status < 0 { return (bytes, .damaged) }
            if status == 0 { return (bytes, nil) }
        }
    }

    private static func support(_ compression: ManualKind.Compression, _ archive: OpaquePointer) -> Int32 {
        switch compression {
        case .gzip: archive_read_support_filter_gzip(archive)
        case .bzip2: archive_read_support_filter_bzip2(archive)
        case .xz: archive_read_support_filter_xz(archive)
        case .lzma: archive_read_support_filter_lzma(archive)
        case .zstandard: archive_read_support_filter_zstd(archive)
        }
    }
}
