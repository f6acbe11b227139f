// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemSupport

/// The profiles there are: those that Searchlight brings and a person's own, which replace the ones of the same name.
public struct ReceiverProfiles: Sendable {
    /// In the order of their names.
    public private(set) var profiles: [ReceiverProfile]
    /// The files that are none.
    public private(set) var problems: [ReceiverProblem] = []

    /// The names of what else is in the folder, in order; but for hidden files and the copies that editors leave.
    public private(set) var others: [String] = []

    /// The most files that are looked at.
    private static let maximumFiles = 256

    /// Reads a person's profiles: NAME.json.
    ///
    /// - Parameter folder: It need not be there.
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

    /// The profile of a name; `nil` if there is none.
    public subscript(name: String) -> ReceiverProfile? { profiles.first { $0.name == name } }

    /// Where a person's own profiles are.
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
