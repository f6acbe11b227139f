// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where the dynamic linker finds libraries on this machine: the folders of its configuration, then its own (ld.so(8)). Its
/// cache is made of the same.
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

    /// - Parameter root: The folder in which `/etc`, `/lib` and `/usr` are; empty for those of the machine.
    init(root: String) {
        let standard = ["/lib", "/usr/lib"].flatMap { ["\($0)/\(Self.triple)", "\($0)64", $0] }
        folders = Array(
            (Self.configured("/etc/ld.so.conf", root, Self.maximumDepth) + standard).prefix(Self.maximumFolders)
        ).map { root + $0 }
    }

    /// Whether one of them, or of others before, has a library.
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

    /// The files of a pattern, which has its stars in the last part only.
    private static func files(_ pattern: String, beside path: String, _ root: String) -> [String] {
        let base = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
        let full = pattern.hasPrefix("/") ? pattern : base + pattern
        guard let slash = full.lastIndex(of: "/") else { return [] }
        let (folder, name) = (String(full[..<slash]), String(full[full.index(after: slash)...]))
        return ProbedFile.names(root + folder, limit: maximumFolders).filter { fnmatch(name, $0, 0) == 0 }.sorted()
            .map { folder + "/" + $0 }
    }
}
