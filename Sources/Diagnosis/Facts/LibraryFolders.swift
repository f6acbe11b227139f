// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The dynamic linker's library folders: the folders in its configuration, followed by its default
/// folders (ld.so(8)). Its cache is built from the same folders.
struct LibraryFolders {
    private let folders: [String]

    private static let maximumFolders = 256
    private static let maximumDepth = 4

    #if arch(x86_64)
        private static let triple = "x86_64-linux-gnu"
    #elseif arch(arm64)
        private static let triple = "aarch64-linux-gnu"
    #elseif arch(riscv64)
        private static let triple = "riscv64-linux-gnu"
    #else
        #error("Name this architecture's folder of libraries here.")
    #endif

    /// Reads the configuration.
    ///
    /// - Parameter root: The prefix of `/etc`, `/lib` and `/usr`; empty for this machine.
    init(root: String) {
        let standard = ["/lib", "/usr/lib"].flatMap { ["\($0)/\(Self.triple)", "\($0)64", $0] }
        folders = Array(
            (Self.configured("/etc/ld.so.conf", root, Self.maximumDepth) + standard).prefix(Self.maximumFolders)
        ).map { root + $0 }
    }

    /// Returns `true` if a library is in one of these folders or of `others`.
    func has(_ name: String, besides others: [String] = []) -> Bool {
        if name.hasPrefix("/") { return access(name, R_OK) == 0 }
        return (others + folders).contains { access($0 + "/" + name, R_OK) == 0 }
    }

    private static func configured(_ path: String, _ root: String, _ depth: Int) -> [String] {
        guard depth > 0, let text = ProbedFile.text(root + path) else { return [] }
        return text.split(separator: "\n").flatMap { line -> [String] in
            let line = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard let first = line.first else { return [] }
            guard first == "include" else { return first.hasPrefix("/") ? [String(first)] : [] }
            return line.dropFirst().flatMap { pattern in
                files(String(pattern), beside: path, root).flatMap { configured($0, root, depth - 1) }
            }
        }
    }

    /// Returns the files that match a pattern, which may have wildcards only in its last component.
    private static func files(_ pattern: String, beside path: String, _ root: String) -> [String] {
        let base = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
        let full = pattern.hasPrefix("/") ? pattern : base + pattern
        guard let slash = full.lastIndex(of: "/") else { return [] }
        let (folder, name) = (String(full[..<slash]), String(full[full.index(after: slash)...]))
        return ProbedFile.names(root + folder, limit: maximumFolders).filter { fnmatch(name, $0, 0) == 0 }.sorted()
            .map { folder + "/" + $0 }
    }
}
