// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SystemSupport

@Suite("Location of the store")
struct StoreLocationTests {
    @Test(
        "The variables are used in their order, and empty or relative ones are ignored",
        arguments: [
            (["SEARCHLIGHT_STORE": "/s", "XDG_DATA_HOME": "/d", "HOME": "/h"], "/s"),
            (["SEARCHLIGHT_STORE": "", "XDG_DATA_HOME": "/d", "HOME": "/h"], "/d/searchlight/store"),
            (["XDG_DATA_HOME": "d", "HOME": "/h"], "/h/.local/share/searchlight/store"),
            (["XDG_DATA_HOME": "", "HOME": "/h"], "/h/.local/share/searchlight/store"),
            (["SEARCHLIGHT_STORE": "s/../t//./u/", "HOME": "/h"], "/work/t/u"),
            (["SEARCHLIGHT_STORE": "/../.."], "/"),
        ] as [([String: String], String)])
    func variables(environment: [String: String], folder: String) {
        #expect(StoreLocation(environment: environment, workingDirectory: "/work").folder == folder)
    }

    @Test("Without any variable the user database has the home folder")
    func userDatabase() {
        let location = StoreLocation(environment: [:])
        #expect(location.folder.hasPrefix("/"))
        #expect(location.folder.hasSuffix("/.local/share/searchlight/store"))
        #expect(location.folder != "/.local/share/searchlight/store")
    }

    @Test("The socket is in the folder")
    func socket() {
        #expect(StoreLocation(folder: "/a/b/").socketPath == "/a/b/socket")
        #expect(StoreLocation(folder: "/").socketPath == "/socket")
    }
}
