// SPDX-License-Identifier: Apache-2.0

/// A report of content that an extension leaves out of the index.
public struct LeftOut: Hashable, Sendable, Codable {
    /// The name of the content: an item identifier, or another name such as a path.
    public let name: String
    /// The reason: a short phrase that is the same for all content of one kind.
    public let reason: String

    /// The maximum length of a name, in bytes of UTF-8.
    public static let maximumNameBytes = 4096
    /// The maximum length of a reason, in bytes of UTF-8.
    public static let maximumReasonBytes = 200

    /// Creates a report. Texts that are too long are truncated.
    public init(name: String, reason: String) {
        self.name = name.beginning(Self.maximumNameBytes)
        self.reason = reason.beginning(Self.maximumReasonBytes)
    }
}

extension String {
    /// Returns the longest prefix of complete Unicode scalars within a number of bytes.
    fileprivate func beginning(_ maximumBytes: Int) -> String {
        guard utf8.count > maximumBytes else { return self }
        var end = utf8.index(startIndex, offsetBy: maximumBytes)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
