// SPDX-License-Identifier: Apache-2.0

/// A class of tags that identify a type outside this system, such as filename extensions or MIME
/// types.
public struct UTTagClass: RawRepresentable, Hashable, Codable, Sendable {
    /// The name of the class, such as `public.mime-type`.
    public let rawValue: String

    /// Creates a tag class from its name. Unknown classes have no tags.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Filename extensions without the dot; case-insensitive.
    public static let filenameExtension = UTTagClass(rawValue: "public.filename-extension")
    /// MIME types; case-insensitive.
    public static let mimeType = UTTagClass(rawValue: "public.mime-type")
    /// Four-character codes; case-sensitive.
    public static let osType = UTTagClass(rawValue: "com.apple.ostype")
    /// Old pasteboard names; case-sensitive.
    public static let pasteboardType = UTTagClass(rawValue: "com.apple.nspboard-type")
    /// URL schemes without the colon; case-insensitive.
    public static let urlScheme = UTTagClass(rawValue: "public.url-scheme")
    /// Device model codes; case-insensitive.
    public static let deviceModelCode = UTTagClass(rawValue: "com.apple.device-model-code")

    init(_ key: TagKey) {
        switch key {
        case .filenameExtension: self = .filenameExtension
        case .osType: self = .osType
        case .mimeType: self = .mimeType
        case .pasteboardType: self = .pasteboardType
        case .urlScheme: self = .urlScheme
        case .deviceModelCode: self = .deviceModelCode
        }
    }

    /// The key of a known class; `nil` for unknown classes.
    var key: TagKey? {
        switch rawValue.lowercased() {
        case UTTagClass.filenameExtension.rawValue: .filenameExtension
        case UTTagClass.osType.rawValue: .osType
        case UTTagClass.mimeType.rawValue: .mimeType
        case UTTagClass.pasteboardType.rawValue: .pasteboardType
        case UTTagClass.urlScheme.rawValue: .urlScheme
        case UTTagClass.deviceModelCode.rawValue: .deviceModelCode
        default: nil
        }
    }
}

extension UTTagClass: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name of the class.
    public var description: String { rawValue }
    /// The name of the class.
    public var debugDescription: String { rawValue }
}
