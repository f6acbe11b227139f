// SPDX-License-Identifier: Apache-2.0

extension SharedMIMEInfo {
    /// The maximum number of entries in a list.
    static let maximumEntries = 100_000

    /// Reads the lists of all folders. Earlier folders take precedence.
    static func loadNames(_ roots: [String]) -> Names {
        var names = Names()
        for root in roots {
            var discarded: Set<String> = []
            for line in lines(FileBytes.read(root + "/globs2", limit: maximumFileBytes)) {
                // The format is `weight:type:pattern[:flags]`. A pattern contains no colon.
                let fields = line.split(separator: ":", omittingEmptySubsequences: false)
                guard fields.count >= 3, let weight = Int(fields[0]), (0...100).contains(weight),
                    let type = mimeName(fields[1])
                else { continue }
                if fields[2] == "__NOGLOBS__" {
                    discarded.insert(type)
                    continue
                }
                let isCaseSensitive = fields.count > 3 && fields[3].split(separator: ",").contains("cs")
                names.globs.add(
                    String(fields[2]), type: type, weight: weight, isCaseSensitive: isCaseSensitive)
            }
            // A folder discards only patterns from the folders that follow it.
            names.globs.endFolder(discarding: discarded)

            for line in lines(FileBytes.read(root + "/aliases", limit: maximumFileBytes)) {
                let fields = line.split(separator: " ")
                guard fields.count == 2, let alias = mimeName(fields[0]), let canonical = mimeName(fields[1]) else {
                    continue
                }
                guard alias != canonical, names.canonicalNames[alias] == nil else { continue }
                guard names.canonicalNames.count < maximumEntries else { break }
                names.canonicalNames[alias] = canonical
                names.aliases[canonical, default: []].append(alias)
            }
            var parentCount = 0
            for line in lines(FileBytes.read(root + "/subclasses", limit: maximumFileBytes)) {
                let fields = line.split(separator: " ")
                guard fields.count == 2, let child = mimeName(fields[0]), let parent = mimeName(fields[1]) else {
                    continue
                }
                parentCount += 1
                guard parentCount <= maximumEntries else { break }
                if names.parents[child]?.contains(parent) != true { names.parents[child, default: []].append(parent) }
            }
        }
        return names
    }

    /// Returns the lines of a file, without comments.
    private static func lines(_ bytes: [UInt8]) -> some Sequence<Substring> {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).lazy.filter { $0.utf8.first != UInt8(ascii: "#") }
    }

    /// Returns a MIME type name in lowercase; `nil` if it is invalid.
    static func mimeName(_ text: some StringProtocol) -> String? {
        guard text.utf8.count <= 255, text.utf8.contains(UInt8(ascii: "/")) else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return text.lowercased()
    }
}
