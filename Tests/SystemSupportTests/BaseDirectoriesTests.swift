// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SystemSupport

/// The folders for a user's files, according to the desktop's rules.
@Suite("The base directories")
struct BaseDirectoriesTests {
    private let home = ["HOME": "/home/ada"]

    @Test("Variables name the folders")
    func named() {
        let folders = BaseDirectories(
            environment: [
                "HOME": "/home/ada", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "/k",
                "XDG_DATA_DIRS": "/one:/two",
            ])
        #expect(folders.home == "/home/ada" && folders.config == "/c")
        #expect(folders.data == "/d" && folders.cache == "/k")
        #expect(folders.sharedData == ["/one", "/two"])
    }

    @Test("Empty and relative variables count as unset", arguments: ["", "here", "./here"])
    func unset(value: String) {
        let variables = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"]
        let folders = BaseDirectories(
            environment: home.merging(variables.map { ($0, value) }, uniquingKeysWith: { $1 }))
        #expect(folders.config == "/home/ada/.config" && folders.data == "/home/ada/.local/share")
        #expect(folders.cache == "/home/ada/.cache")
        #expect(BaseDirectories(environment: ["HOME": value]).home == nil)
        #expect(BaseDirectories(environment: ["HOME": value]).data == nil)
        #expect(BaseDirectories(environment: ["HOME": value], user: { "/home/ada" }).home == "/home/ada")
    }

    @Test("Without a list of shared folders there are the usual ones, and relative ones are skipped")
    func shared() {
        for environment in [home, ["XDG_DATA_DIRS": ""]] {
            #expect(BaseDirectories(environment: environment).sharedData == ["/usr/local/share", "/usr/share"])
        }
        #expect(BaseDirectories(environment: ["XDG_DATA_DIRS": "here:/there::"]).sharedData == ["/there"])
    }

    @Test("A variable is enough without a home folder")
    func homeless() {
        let folders = BaseDirectories(environment: ["XDG_DATA_HOME": "/d"])
        #expect(folders.data == "/d" && folders.config == nil)
    }

    @Test("The caller may reject more paths")
    func stricter() {
        let folders = BaseDirectories(
            environment: home.merging(["XDG_DATA_HOME": "/d/../e"], uniquingKeysWith: { $1 }),
            absolute: { $0.contains("..") ? nil : $0 })
        #expect(folders.data == "/home/ada/.local/share")
    }
}
