// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import SystemSupport

/// The file in which a person changes the constants of scheduling: `$SEARCHLIGHT_SCHEDULING`, else
/// `searchlight/scheduling.json` in `$XDG_CONFIG_HOME` (`~/.config`). docs/SCHEDULING.md has its keys.
package struct PolicyFile: Sendable {
    /// Where it is.
    package let path: String
    /// Whether a person named it, so that it has to be there.
    package let isNamed: Bool

    /// The file that an environment means.
    package init(environment: [String: String]) {
        if let named = environment["SEARCHLIGHT_SCHEDULING"], !named.isEmpty {
            self.init(path: named)
            return
        }
        let folders = BaseDirectories(environment: environment, user: BaseDirectories.homeOfUser)
        self.init((folders.config ?? "/.config") + "/searchlight/scheduling.json", isNamed: false)
    }

    /// A file that a person named.
    package init(path: String) { self.init(URL(filePath: path).standardizedFileURL.path, isNamed: true) }

    private init(_ path: String, isNamed: Bool) { (self.path, self.isNamed) = (path, isNamed) }

    /// Why the file is no policy, and what to do.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// What was attempted, what happened, what to do.
        package let description: String
    }

    /// Reads the policy; without a file the standard one.
    package func policy() throws(Failure) -> SchedulingPolicy {
        let bytes: [UInt8]
        do throws(BoundedFile.Failure) {
            bytes = try BoundedFile.regular(path, limit: SchedulingPolicy.maximumConfigurationBytes)
        } catch .system(ENOENT) where !isNamed {
            return SchedulingPolicy()
        } catch {
            throw failure("The file could not be read: \(error) Correct that, or take it away.")
        }
        do throws(PolicyError) { return try SchedulingPolicy(configuration: Data(bytes)) } catch {
            throw failure(error.description)
        }
    }

    private func failure(_ reason: String) -> Failure {
        Failure(description: "Reading how to schedule from \(path) failed. \(reason)")
    }
}
