// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An extension bundle for the registry. Its library has only the headers that are read without
/// loading it.
public struct PlainBundle {
    /// The path of the bundle directory.
    public let path: String

    /// Writes a bundle, by default named after its identifier, into a folder.
    ///
    /// - Parameter manifest: Changes to the keys of the default Info.plist; `nil` removes a key.
    @discardableResult
    public init(
        _ identifier: String, in folder: String, name: String? = nil, version: String = "1",
        manifest changes: [String: Any?] = [:], library: [UInt8] = PlainBundle.library
    ) throws {
        path = folder + "/" + (name ?? identifier) + ".searchext"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        var manifest: [String: Any] = [
            "CFBundleIdentifier": identifier, "CFBundleVersion": version, "CFBundleExecutable": "library.so",
            "CFBundleDisplayName": "Name of \(identifier)",
            "NSExtension": ["NSExtensionPointIdentifier": "com.apple.spotlight.index"],
        ]
        for (key, value) in changes { manifest[key] = value }
        let data = try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
        try write(Array(data), to: "Info.plist")
        try write(library, to: "library.so")
    }

    /// Writes a file of the bundle that only the owner can change.
    public func write(_ bytes: [UInt8], to name: String) throws {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    }

    /// The headers of a shared library for this machine, with one loadable and one dynamic segment,
    /// and 64 more bytes.
    public static let library: [UInt8] = {
        #if arch(x86_64)
            let machine: UInt8 = 62
        #elseif arch(arm64)
            let machine: UInt8 = 183
        #else
            let machine: UInt8 = 243
        #endif
        var bytes = [UInt8](repeating: 0, count: 64 + 2 * 56 + 64)
        bytes.replaceSubrange(0..<7, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1])
        bytes[16] = 3  // ET_DYN
        bytes[18] = machine
        bytes[20] = 1
        bytes[32] = 64  // Where the segments are listed
        bytes[52] = 64
        bytes[54] = 56
        bytes[56] = 2
        bytes[64] = 1  // PT_LOAD
        bytes[64 + 32] = UInt8(bytes.count)
        bytes[120] = 2  // PT_DYNAMIC
        bytes[120 + 8] = 176
        bytes[120 + 32] = 64
        return bytes
    }()
}
