// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import SystemSupport

@Suite("The address of the session bus")
struct SessionBusAddressTests {
    @Test("The variable takes precedence over the socket in the folder of sockets, and an empty one is ignored")
    func variable() throws {
        let folder = try TemporaryFolder()
        try makeSocket(folder.path("bus"))
        let address = "unix:path=" + folder.path("bus")
        let runtime = ["XDG_RUNTIME_DIR": folder.path]
        #expect(SessionBusAddress.find(in: runtime) == address)
        #expect(SessionBusAddress.find(in: runtime.merging(["DBUS_SESSION_BUS_ADDRESS": ""]) { $1 }) == address)
        let own = runtime.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]) { $1 }
        #expect(SessionBusAddress.find(in: own) == "unix:path=/nonexistent")
    }

    @Test("Without a socket there is no bus")
    func absent() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "bus")
        for runtime in [folder.path, folder.path("none"), "relative", ""] {
            #expect(SessionBusAddress.find(in: ["XDG_RUNTIME_DIR": runtime]) == nil, "\(runtime)")
        }
        #expect(SessionBusAddress.find(in: [:]) == nil)
    }

    @Test("Forbidden characters of an address are escaped")
    func escapes() throws {
        let folder = try TemporaryFolder()
        let place = folder.path("a;b c,é")
        try #require(mkdir(place, 0o700) == 0)
        try makeSocket(place + "/bus")
        let address = try #require(SessionBusAddress.find(in: ["XDG_RUNTIME_DIR": place]))
        #expect(address.hasSuffix("/a%3bb%20c%2c%c3%a9/bus"), "\(address)")
    }

    private func makeSocket(_ path: String) throws {
        try #require(mknod(path, S_IFSOCK | 0o600, 0) == 0)
    }
}
