// SPDX-License-Identifier: Apache-2.0

/// The attachments that an HTML page refers to in its `src`, `poster` and `background` attributes.
struct HTMLReferences {
    /// The identifiers of `cid:` references, without the scheme.
    private(set) var attachments: Set<String> = []

    /// The maximum number of bytes of a page to search.
    private static let maximumBytes = 8 << 20
    /// The maximum number of references to keep.
    private static let maximumReferences = 1000

    /// Searches for references. This is not a parser: it misses unusual notations, and only finds
    /// false references in text that shows source code.
    init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.prefix(Self.maximumBytes), as: UTF8.self)
        let pattern = /\b(?:src|poster|background)\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s>"']+))/
            .ignoresCase()
        for match in text.matches(of: pattern).prefix(Self.maximumReferences) {
            let value = match.output.double ?? match.output.single ?? match.output.bare ?? ""
            if value.prefix(4).lowercased() == "cid:" { attachments.insert(String(value.dropFirst(4))) }
        }
    }
}
