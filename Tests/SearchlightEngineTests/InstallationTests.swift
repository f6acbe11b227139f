// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchlightEngine
import TestSupport
import Testing

@Suite("Paths of an installation")
struct InstallationTests {
    /// Creates empty files below a folder.
    private func make(_ names: [String], in folder: String) throws {
        for name in names {
            let file = URL(filePath: folder).appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
    }

    @Test("Each installed program finds the others and the library", arguments: ["bin", "libexec/searchlight"])
    func installed(folder: String) throws {
        let prefix = try TemporaryFolder()
        let programs = "libexec/searchlight/"
        try make(
            [
                "bin/searchlight", programs + "searchlight-worker", programs + "searchlight-quicklook",
                "lib/searchlight/libCoreSpotlight.so",
            ], in: prefix.path)
        let found = Installation(environment: [:], programFolder: "\(prefix.path)/\(folder)")
        #expect(found.workerPath == "\(prefix.path)/libexec/searchlight/searchlight-worker")
        #expect(found.quickLookPath == "\(prefix.path)/libexec/searchlight/searchlight-quicklook")
        #expect(found.frameworkFolder == "\(prefix.path)/lib/searchlight")
        // The window is a separate package.
        #expect(found.windowPath == nil)
        try make([programs + "searchlight-window"], in: prefix.path)
        let complete = Installation(environment: [:], programFolder: "\(prefix.path)/\(folder)")
        #expect(complete.windowPath == "\(prefix.path)/libexec/searchlight/searchlight-window")
    }

    @Test("In a build folder all are in one folder, and a worker can be named")
    func built() throws {
        let folder = try TemporaryFolder()
        try make(
            ["searchlight-worker", "searchlight-quicklook", "libCoreSpotlight.so", "other-worker"], in: folder.path)
        let found = Installation(environment: [:], programFolder: folder.path)
        #expect(found.workerPath == "\(folder.path)/searchlight-worker")
        #expect(found.quickLookPath == "\(folder.path)/searchlight-quicklook")
        #expect(found.frameworkFolder == folder.path)
        let other = "\(folder.path)/other-worker"
        #expect(
            Installation(environment: ["SEARCHLIGHT_WORKER": other], programFolder: folder.path).workerPath == other)
    }
}
