// SPDX-License-Identifier: Apache-2.0
import Foundation

/// All real snippets from this machine in a memory-mapped file. Each line contains a title, a tab
/// and the text.
struct SnippetFile {
    private let bytes: Data
    /// The offset of each line, and the end of the last line.
    private let starts: [Int]

    var count: Int { starts.count - 1 }

    /// Opens the file, or creates it from the machine's documentation.
    init(path: String) throws {
        if !FileManager.default.fileExists(atPath: path) { try Self.make(path) }
        bytes = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        var starts = [0]
        bytes.withUnsafeBytes { buffer in
            for (index, byte) in buffer.enumerated() where byte == 0x0A { starts.append(index + 1) }
        }
        self.starts = starts
    }

    /// Returns the title and the text of a snippet.
    subscript(index: Int) -> (title: String, text: String) {
        let line = bytes[starts[index]..<(starts[index + 1] - 1)]
        let tab = line.firstIndex(of: 0x09) ?? line.endIndex
        return (
            String(decoding: line[..<tab], as: UTF8.self), String(decoding: line[tab...].dropFirst(), as: UTF8.self)
        )
    }

    private static func make(_ path: String) throws {
        let file = try OutputFile(path: path)
        var cutter = SnippetCutter { title, text in
            try file.write(title + [0x09] + text + [0x0A])
        }
        try TextSources.forEachDocument { markup, data in try cutter.add(Array(data), markup) }
        try file.finish()
    }
}
