// SPDX-License-Identifier: Apache-2.0

/// The attachments that an HTML page wants to show: what its `src`, `poster` and `background` attributes refer to.
struct HTMLReferences {
    /// The identifiers of `cid:` references, without the scheme.
    private(set) var attachments: Set<String> = []

    /// The most bytes of a page that are looked at.
    private static let maximumBytes = 8 << 20
    /// The most references that are kept.
    private static let maximumReferences = 1000

    /// Looks for references. No parser: what a page writes in an unusual way is not found, and nothing is found wrongly
    /// but in text that shows source.
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
