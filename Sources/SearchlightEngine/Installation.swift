// SPDX-License-Identifier: Apache-2.0
import CBuildFacts
import Foundation

/// The paths of Searchlight's parts. In a build folder the parts are next to this program. In an
/// installation they are in the standard folders below the same prefix.
package struct Installation: Sendable {
    /// The absolute path of the worker program.
    package let workerPath: String
    /// The absolute path of the Quick Look server.
    package let quickLookPath: String
    /// The absolute path of the program with the search window; `nil` if it is not installed.
    package let windowPath: String?
    /// The folder that contains `libCoreSpotlight.so`; `nil` if none of the standard folders does.
    package let frameworkFolder: String?
    /// The common version of all programs.
    package static let version = SEARCHLIGHT_VERSION

    /// Locates the parts relative to the running program.
    package init(environment: [String: String]) {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        self.init(environment: environment, programFolder: URL(filePath: program).deletingLastPathComponent().path)
    }

    /// Locates the parts relative to a program's folder: `bin` or `libexec/searchlight` in an
    /// installation, or a build folder.
    package init(environment: [String: String], programFolder folder: String) {
        func first(_ candidates: [String?]) -> String? {
            candidates.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
        }
        let isPrivate = folder.hasSuffix("/libexec/searchlight")
        let prefix = URL(filePath: folder).appending(path: isPrivate ? "../.." : "..").standardizedFileURL.path
        func found(_ program: String, override: String? = nil) -> String? {
            first([override, "\(folder)/\(program)", "\(prefix)/libexec/searchlight/\(program)"])
        }
        func path(of program: String, override: String? = nil) -> String {
            found(program, override: override) ?? "\(folder)/\(program)"
        }
        workerPath = path(of: "searchlight-worker", override: environment["SEARCHLIGHT_WORKER"])
        quickLookPath = path(of: "searchlight-quicklook", override: environment["SEARCHLIGHT_QUICKLOOK"])
        windowPath = found("searchlight-window", override: environment["SEARCHLIGHT_WINDOW"])
        let framework = first([folder + "/libCoreSpotlight.so", prefix + "/lib/searchlight/libCoreSpotlight.so"])
        frameworkFolder = framework.map { URL(filePath: $0).deletingLastPathComponent().path }
    }
}
