// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Files that a script in `Tests/Fixtures` generates, in a folder that is deleted at the end.
package final class SampleDocuments: Sendable {
    /// The arguments of the script.
    package enum Kind: Sendable {
        case ordinary, hostile
        case mutations(count: Int, seed: Int)

        fileprivate var arguments: [String] {
            switch self {
            case .ordinary: []
            case .hostile: ["--hostile"]
            case .mutations(let count, let seed): ["--fuzz", "\(count)", "--seed", "\(seed)"]
            }
        }
    }

    package let folder: String

    package init(_ kind: Kind, by script: String = "make-documents") throws {
        folder = FileManager.default.temporaryDirectory.path + "/documents-\(UUID().uuidString)"
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/" + script)
        let process = try Process.run(
            script, arguments: [folder] + kind.arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    package subscript(name: String) -> String { folder + "/" + name }

    /// The paths of all files, sorted.
    package var files: [String] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { self[$0] }.filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }
}
