// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemSupport

/// All profiles: the built-in ones, and the user's own, which replace built-in profiles with the
/// same name.
public struct ReceiverProfiles: Sendable {
    /// The profiles, sorted by name.
    public private(set) var profiles: [ReceiverProfile]
    /// The errors for invalid files.
    public private(set) var problems: [ReceiverProblem] = []

    /// The other names in the folder, sorted, without hidden files and editor backups.
    public private(set) var others: [String] = []

    /// The maximum number of files to read.
    private static let maximumFiles = 256

    /// Reads the user's profiles: NAME.json.
    ///
    /// - Parameter folder: The folder, which does not have to exist.
    public init(folder: String) {
        var found = Dictionary(uniqueKeysWithValues: ReceiverProfile.shipped.map { ($0.name, $0) })
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let visible = names.filter { !$0.hasPrefix(".") }.sorted()
        others = visible.filter { !$0.hasSuffix(".json") && !$0.hasSuffix("~") }
        for name in visible.filter({ $0.hasSuffix(".json") }).prefix(Self.maximumFiles) {
            do throws(ReceiverProblem) {
                let profile = try Self.read(folder + "/" + name, name: String(name.dropLast(".json".count)))
                found[profile.name] = profile
            } catch {
                problems.append(error)
            }
        }
        profiles = found.values.sorted { $0.name < $1.name }
    }

    /// Returns the profile with a name; `nil` if there is none.
    public subscript(name: String) -> ReceiverProfile? { profiles.first { $0.name == name } }

    /// Returns the folder with the user's own profiles.
    public static func folder(environment: [String: String]) -> String {
        let folders = BaseDirectories(environment: environment, user: BaseDirectories.homeOfUser)
        return (folders.config ?? "/.config") + "/searchlight/receivers"
    }

    private static func read(_ path: String, name: String) throws(ReceiverProblem) -> ReceiverProfile {
        let bytes: [UInt8]
        do throws(BoundedFile.Failure) {
            bytes = try BoundedFile.regular(path, limit: ReceiverProfile.maximumBytes)
        } catch {
            throw ReceiverProblem(path: path, reason: error.description)
        }
        return try ReceiverProfile(Data(bytes), name: name, path: path)
    }
}
