// SPDX-License-Identifier: Apache-2.0

/// The attachments to which an HTML page refers in `src`, `poster` and `background` attributes.
struct HTMLReferences {
    /// The identifiers in `cid:` references, without the scheme.
    private(set) var attachments: Set<String> = []

    /// The maximum number of bytes of a page that are searched.
    private static let maximumBytes = 8 << 20
    /// The maximum number of references that are kept.
    private static let maximumReferences = 1000

    /// Searches for references. This is not a parser: it misses unusual notations, and finds false
    /// references only in text that shows source code.
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
