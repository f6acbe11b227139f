// SPDX-License-Identifier: Apache-2.0
import CBuildFacts
import Foundation

/// Where the parts of Searchlight are, seen from this program: beside it in a build folder, in the usual places below
/// the same prefix when installed.
package struct Installation: Sendable {
    /// The program of workers, absolute.
    package let workerPath: String
    /// The program that serves Quick Look, absolute.
    package let quickLookPath: String
    /// The folder of `libCoreSpotlight.so`; `nil` if it is in none of the usual places.
    package let frameworkFolder: String?
    /// The version of the programs that are built together.
    package static let version = SEARCHLIGHT_VERSION

    /// Looks for the parts.
    package init(environment: [String: String]) {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        self.init(environment: environment, programFolder: URL(filePath: program).deletingLastPathComponent().path)
    }

    /// Looks for the parts, seen from a folder with one of the programs: `bin` or `libexec/searchlight` of an installation, or
    /// a build folder.
    package init(environment: [String: String], programFolder folder: String) {
        func first(_ candidates: [String?]) -> String? {
            candidates.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
        }
        let isPrivate = folder.hasSuffix("/libexec/searchlight")
        let prefix = URL(filePath: folder).appending(path: isPrivate ? "../.." : "..").standardizedFileURL.path
        func path(of program: String, override: String? = nil) -> String {
            first([override, "\(folder)/\(program)", "\(prefix)/libexec/searchlight/\(program)"])
                ?? "\(folder)/\(program)"
        }
        workerPath = path(of: "searchlight-worker", override: environment["SEARCHLIGHT_WORKER"])
        quickLookPath = path(of: "searchlight-quicklook")
        let framework = first([folder + "/libCoreSpotlight.so", prefix + "/lib/searchlight/libCoreSpotlight.so"])
        frameworkFolder = framework.map { URL(filePath: $0).deletingLastPathComponent().path }
    }
}
