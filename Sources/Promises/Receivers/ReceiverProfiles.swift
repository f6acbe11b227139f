// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

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
        let configuration = environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
        return configuration + "/searchlight/receivers"
    }

    private static func read(_ path: String, name: String) throws(ReceiverProblem) -> ReceiverProfile {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw ReceiverProblem(path: path, reason: "\(String(cString: strerror(errno))).") }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ReceiverProblem(path: path, reason: "it is no regular file.")
        }
        var bytes = [UInt8](repeating: 0, count: ReceiverProfile.maximumBytes + 1)
        var filled = 0
        while filled < bytes.count {
            let count = bytes[filled...].withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw ReceiverProblem(path: path, reason: "\(String(cString: strerror(errno))).")
            }
            if count == 0 { break }
            filled += count
        }
        return try ReceiverProfile(Data(bytes[..<filled]), name: name, path: path)
    }
}
