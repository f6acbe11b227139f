// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ExtensionHost
import Foundation

/// A bundle for the replay of a recording: without access to any file, and with a library or with
/// none. Its folder is removed at the end of the object.
package final class ReplayBundle: Sendable {
    package let bundle: ExtensionBundle
    private let folder: String

    /// Creates the bundle in the folder for temporary files.
    ///
    /// - Parameters:
    ///   - library: The path of a library, which is copied into the bundle; `nil` for none.
    /// - Throws: ``ExtensionError``, or an error of Foundation.
    package init(_ recording: CallRecording, library: String?) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/searchlight-replay-\(UUID().uuidString)"
        self.folder = folder
        // Nothing from the recording is part of a path.
        let path = folder + "/replayed.searchext"
        var point: [String: Any] = ["NSExtensionPointIdentifier": "com.apple.spotlight.index"]
        var manifest: [String: Any] = ["CFBundleIdentifier": recording.bundle, "CFBundleVersion": "1"]
        if library != nil {
            manifest["CFBundleExecutable"] = "library.so"
            point["NSExtensionPrincipalClass"] = recording.principalClass
        } else {
            // A bundle has code or a binding. The worker plays the recorded extension instead.
            manifest["Searchlight"] = [
                "SymbolBindings": ["serve throttle library \"libc.so.6\" call getpid() -> _: int"]
            ]
        }
        manifest["NSExtension"] = point
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
                .write(to: URL(filePath: path + "/Info.plist"))
            if let library { try FileManager.default.copyItem(atPath: library, toPath: path + "/library.so") }
            bundle = try ExtensionBundle(at: path)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
