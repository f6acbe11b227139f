// SPDX-License-Identifier: Apache-2.0

/// Something that an extension leaves out of the index.
public struct LeftOut: Hashable, Sendable, Codable {
    /// What it is, such as a path.
    public let name: String
    /// Why, in a few words that are the same for all of a kind.
    public let reason: String

    /// The most bytes of a name.
    public static let maximumNameBytes = 4096
    /// The most bytes of a reason.
    public static let maximumReasonBytes = 200

    /// Creates it; texts that are too long are cut.
    public init(name: String, reason: String) {
        self.name = name.beginning(Self.maximumNameBytes)
        self.reason = reason.beginning(Self.maximumReasonBytes)
    }
}

extension String {
    /// As many of the first characters as have no more bytes than that.
    fileprivate func beginning(_ maximumBytes: Int) -> String {
        guard utf8.count > maximumBytes else { return self }
        var end = utf8.index(startIndex, offsetBy: maximumBytes)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
