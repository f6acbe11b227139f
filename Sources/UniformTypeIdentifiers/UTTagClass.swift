// SPDX-License-Identifier: Apache-2.0

/// A kind of tag that names a type outside of this system: an extension, a MIME type and so on.
public struct UTTagClass: RawRepresentable, Hashable, Codable, Sendable {
    /// The name of the class, for instance `public.mime-type`.
    public let rawValue: String

    /// Makes a tag class from its name; names the system does not know have no tags.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Filename extensions, without the dot; compared without case.
    public static let filenameExtension = UTTagClass(rawValue: "public.filename-extension")
    /// MIME types; compared without case.
    public static let mimeType = UTTagClass(rawValue: "public.mime-type")
    /// Four-character codes; case is significant.
    public static let osType = UTTagClass(rawValue: "com.apple.ostype")
    /// Old pasteboard names; case is significant.
    public static let pasteboardType = UTTagClass(rawValue: "com.apple.nspboard-type")
    /// URL schemes, without the colon; compared without case.
    public static let urlScheme = UTTagClass(rawValue: "public.url-scheme")
    /// Codes of device models; compared without case.
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

    /// The key of a class the system knows, or `nil`.
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
