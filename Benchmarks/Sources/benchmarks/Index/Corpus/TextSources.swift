// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The documentation installed on this machine, in an order that depends only on its contents.
enum TextSources {
    /// The markup of a text.
    enum Markup: Hashable {
        case plain, html, manual, python, cHeader, packageList
    }

    private enum Packing: String {
        case none = ""
        case gzip, lz4, xz
    }

    private struct File {
        var path: String
        var markup: Markup
        var packing: Packing
    }

    private static var folders: [(path: String, markup: Markup?)] {
        let libraries = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let python = libraries.filter { $0.hasPrefix("python3") }.sorted().map { "/usr/lib/" + $0 }
        return [("/var/lib/apt/lists", .packageList), ("/usr/share/doc", nil), ("/usr/share/man", .manual)]
            + python.map { ($0, .python) } + [("/usr/include", .cHeader)]
    }
    /// The maximum file size, in bytes. Larger files are tables or generated.
    private static let maximumFileBytes = 128 << 20
    /// The number of files that one child process decompresses, since starting it takes longer than
    /// decompressing most files.
    private static let filesPerChild = 64

    /// Calls `body` with the decompressed files; several small ones may be combined into one
    /// document.
    ///
    /// - Parameter wanted: The markup of the folders to read; `nil` for all.
    static func forEachDocument(of wanted: Markup? = nil, _ body: (Markup, Data) throws -> Void) throws {
        for (path, markup) in folders where wanted == nil || markup == wanted {
            let files = Self.files(under: path, markup: markup)
            var start = 0
            while start < files.count {
                let first = files[start]
                var end = start + 1
                while end < files.count, end - start < filesPerChild, files[end].packing == first.packing,
                    files[end].markup == first.markup, first.packing != .none
                {
                    end += 1
                }
                try handOver(first, files[start..<end].map(\.path), body)
                start = end
            }
        }
    }

    private static func handOver(
        _ file: File, _ paths: [String], _ body: (Markup, Data) throws -> Void
    ) throws {
        let bytes =
            file.packing == .none ? FileManager.default.contents(atPath: file.path) : unpacked(paths, file.packing)
        // Files that cannot be read or decompressed on this machine are skipped.
        if let bytes, !bytes.isEmpty { try body(file.markup, bytes) }
    }

    private static func files(under root: String, markup: Markup?) -> [File] {
        let keys: Set<URLResourceKey> = [.isRegularFileKey, .fileSizeKey]
        let url = URL(filePath: root)
        guard let all = FileManager.default.enumerator(at: url, includingPropertiesForKeys: Array(keys)) else {
            return []
        }
        var files: [File] = []
        for case let url as URL in all {
            guard let values = try? url.resourceValues(forKeys: keys), values.isRegularFile == true,
                (values.fileSize ?? 0) < maximumFileBytes
            else { continue }
            var name = url.lastPathComponent
            var packing = Packing.none
            for (suffix, kind) in [(".gz", Packing.gzip), (".lz4", .lz4), (".xz", .xz)] where name.hasSuffix(suffix) {
                name.removeLast(suffix.count)
                packing = kind
            }
            if let markup = Self.markup(ofFile: name, in: markup) {
                files.append(File(path: url.path, markup: markup, packing: packing))
            }
        }
        return files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    private static func markup(ofFile name: String, in folder: Markup?) -> Markup? {
        switch folder {
        case .packageList: name.hasSuffix("_Packages") || name.contains("_i18n_Translation") ? folder : nil
        case .python: name.hasSuffix(".py") ? folder : nil
        case .manual, .cHeader: folder
        default:
            switch (name as NSString).pathExtension.lowercased() {
            case "html", "htm": .html
            case "", "txt", "md", "rst", "debian", "news", "readme", "tex", "changelog": .plain
            default: nil
            }
        }
    }

    private static func unpacked(_ paths: [String], _ packing: Packing) -> Data? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [packing.rawValue, "-dcq"] + paths
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data
    }
}
