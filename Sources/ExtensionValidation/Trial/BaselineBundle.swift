// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation

/// An empty extension, which determines the minimum load time on this machine. Its folder is
/// removed when the object is deinitialized.
final class BaselineBundle: Sendable {
    let bundle: ExtensionBundle
    private let folder: String

    /// Creates the bundle in the temporary folder; `nil` if that fails.
    ///
    /// - Parameter loadsFramework: `true` to load CoreSpotlight, as a Swift extension does.
    init?(loadsFramework: Bool) {
        let folder = FileManager.default.temporaryDirectory.path + "/searchlight-baseline-\(UUID().uuidString)"
        self.folder = folder
        let path = folder + "/\(Self.identifier).searchext"
        let library = loadsFramework ? "libCoreSpotlight.so" : "libc.so.6"
        let manifest: [String: Any] = [
            "CFBundleIdentifier": Self.identifier, "CFBundleVersion": "1",
            "NSExtension": ["NSExtensionPointIdentifier": "com.apple.spotlight.index"],
            "Searchlight": ["SymbolBindings": ["serve throttle library \"\(library)\" call getpid() -> _: int"]],
        ]
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
                .write(to: URL(filePath: path + "/Info.plist"))
            bundle = try ExtensionBundle(at: path)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            return nil
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static let identifier = "com.searchlight.validation.baseline"
}
