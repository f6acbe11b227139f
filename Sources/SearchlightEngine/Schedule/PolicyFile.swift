// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import SystemSupport

/// The user's configuration file for scheduling constants: `$SEARCHLIGHT_SCHEDULING`, or else
/// `searchlight/scheduling.json` in `$XDG_CONFIG_HOME` (`~/.config`). docs/SCHEDULING.md lists its
/// keys.
package struct PolicyFile: Sendable {
    /// The path of the file.
    package let path: String
    /// `true` if the user named the file, so that it must exist.
    package let isNamed: Bool

    /// Returns the file for an environment.
    package init(environment: [String: String]) {
        if let named = environment["SEARCHLIGHT_SCHEDULING"], !named.isEmpty {
            self.init(path: named)
            return
        }
        let folders = BaseDirectories(environment: environment, user: BaseDirectories.homeOfUser)
        self.init((folders.config ?? "/.config") + "/searchlight/scheduling.json", isNamed: false)
    }

    /// Creates a policy file with a path that the user named.
    package init(path: String) { self.init(URL(filePath: path).standardizedFileURL.path, isNamed: true) }

    private init(_ path: String, isNamed: Bool) { (self.path, self.isNamed) = (path, isNamed) }

    /// The reason why the file is not a valid policy, with advice.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// A message with the attempt, the problem and advice.
        package let description: String
    }

    /// Reads the policy; if there is no file, returns the default policy.
    package func policy() throws(Failure) -> SchedulingPolicy {
        let bytes: [UInt8]
        do throws(BoundedFile.Failure) {
            bytes = try BoundedFile.regular(path, limit: SchedulingPolicy.maximumConfigurationBytes)
        } catch .system(ENOENT) where !isNamed {
            return SchedulingPolicy()
        } catch {
            throw failure("The file could not be read: \(error) Correct the problem, or remove the file.")
        }
        do throws(PolicyError) { return try SchedulingPolicy(configuration: Data(bytes)) } catch {
            throw failure(error.description)
        }
    }

    private func failure(_ reason: String) -> Failure {
        Failure(description: "Reading the scheduling policy \(path) failed. \(reason)")
    }
}
