// SPDX-License-Identifier: Apache-2.0
import CBuildFacts
import Foundation

/// Where the parts of Searchlight are, seen from this program: beside it in a build folder, in the usual places below
/// the same prefix when installed.
public struct Installation: Sendable {
    /// The program of workers, absolute.
    public let workerPath: String
    /// The folder of `libCoreSpotlight.so`; `nil` if it is in none of the usual places.
    public let frameworkFolder: String?
    /// The version of the programs that are built together.
    public static let version = SEARCHLIGHT_VERSION

    /// Looks for the parts.
    public init(environment: [String: String]) {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        let folder = URL(filePath: program).deletingLastPathComponent().path
        func first(_ candidates: [String?]) -> String? {
            candidates.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
        }
        let prefix = URL(filePath: folder).deletingLastPathComponent().path
        workerPath =
            first([
                environment["SEARCHLIGHT_WORKER"], folder + "/searchlight-worker",
                prefix + "/libexec/searchlight/searchlight-worker",
            ]) ?? folder + "/searchlight-worker"
        let framework = first([folder + "/libCoreSpotlight.so", prefix + "/lib/searchlight/libCoreSpotlight.so"])
        frameworkFolder = framework.map { URL(filePath: $0).deletingLastPathComponent().path }
    }
}
