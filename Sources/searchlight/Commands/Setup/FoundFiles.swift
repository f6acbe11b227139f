// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc

/// The user's files that an extension would index.
struct FoundFiles: Sendable {
    /// The watched paths that have content, in manifest order.
    var present: [String] = []
    /// The watched paths that are missing or empty.
    var missing: [String] = []

    /// Checks the paths that an extension watches. Reads only names, and does not open files.
    init(of bundle: ExtensionBundle, _ configuration: WorkerConfiguration) {
        for place in WatchedPlaces(of: bundle, configuration).places {
            if Self.hasContent(place) {
                if !present.contains(place.path) { present.append(place.path) }
            } else if !missing.contains(place.path) {
                missing.append(place.path)
            }
        }
        missing.removeAll { path in present.contains { path == $0 || path.hasPrefix($0 + "/") } }
    }

    /// The maximum number of names to read in a folder.
    private static let maximumNames = 10_000

    private static func hasContent(_ place: WatchedPlaces.Place) -> Bool {
        // Patterns for hidden folders are in addition to the folder itself.
        hasContent(place.path, place.names[...])
    }

    private static func hasContent(_ path: String, _ patterns: ArraySlice<String>) -> Bool {
        guard let pattern = patterns.first else { return isNonEmpty(path) }
        return names(in: path).contains { name in
            fnmatch(pattern, name, FNM_PERIOD) == 0 && hasContent(path + "/" + name, patterns.dropFirst())
        }
    }

    private static func isNonEmpty(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR
            ? names(in: path).contains { !$0.hasPrefix(".") } : status.st_size > 0
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < maximumNames, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
