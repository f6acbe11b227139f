// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures the disk space of a closed store that was at rest.
enum StoreSize {
    static func run(store: String, donatedBytes: Int) throws -> [Measurement] {
        let megabyte = 1e6
        var total = 0
        let files = FileManager.default.enumerator(at: URL(filePath: store), includingPropertiesForKeys: [.fileSizeKey])
        for case let file as URL in files ?? FileManager.DirectoryEnumerator() {
            total += try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        }
        var measurements = [
            Measurement(
                name: "size on disk, at rest", value: Double(total) / megabyte, unit: "MB", baseline: "bytes donated",
                baselineValue: Double(donatedBytes) / megabyte, row: .size)
        ]
        let database = try SQLiteConnection(path: store + "/index.sqlite", isReadOnly: true)
        // The dbstat table is a compile-time option in SQLite.
        guard let rows = try? database.prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE ORDER BY 2 DESC")
        else {
            return measurements
        }
        while try rows.step() {
            let megabytes = Double(rows.integer(1)) / megabyte
            guard megabytes >= 0.5 else { break }
            measurements.append(Measurement(name: "  of it \(rows.text(0))", value: megabytes, unit: "MB"))
        }
        return measurements
    }
}
