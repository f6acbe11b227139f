// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ItemRecord
import SearchlightEngine
import ServiceMessages
import TestSupport

@testable import SearchlightService

/// A service on a private bus, for desktop tests. Programs that it starts write their arguments to
/// a file.
struct DesktopWorld {
    let bus: PrivateBus
    let service: TestService
    private let folder: TemporaryFolder

    init() async throws {
        let bus = try PrivateBus()
        let folder = try TemporaryFolder()
        (self.bus, self.folder) = (bus, folder)
        for name in ["data/applications", "config"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        let page = try Self.program("page", in: folder)
        let window = try Self.program("window", in: folder)
        let environment = [
            "HOME": folder.path, "XDG_DATA_HOME": folder.path("data"), "XDG_DATA_DIRS": folder.path("none"),
            "XDG_CONFIG_HOME": folder.path("config"), "XDG_CONFIG_DIRS": folder.path("none"), "PATH": "/usr/bin:/bin",
            "SEARCHLIGHT_STORE": folder.path("store"), "SEARCHLIGHT_QUICKLOOK": page,
            "SEARCHLIGHT_WINDOW": window,
        ]
        service = try await TestService(folder: folder) {
            $0.sessionBus = bus.address
            $0.engine.worker.environment = environment
        }
    }

    /// Creates a program that adds a line with its name and arguments to the file `log`.
    private static func program(_ name: String, in folder: TemporaryFolder) throws -> String {
        let script =
            "#!/bin/sh\nprintf '%s' '\(name)' >>'\(folder.path("log"))'\n"
            + "for word; do printf ' %s' \"$word\" >>'\(folder.path("log"))'; done\n"
            + "printf ' %s\\n' \"$DESKTOP_STARTUP_ID\" >>'\(folder.path("log"))'\n"
        let path = try folder.write(Array(script.utf8), to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// Makes the window program fail when it starts, as without a display.
    func breakWindow() throws { try folder.write(Array("#!/bin/sh\nexit 1\n".utf8), to: "window") }

    /// Creates a desktop entry for an app.
    func install(_ bundle: String) throws {
        let program = try Self.program(bundle, in: folder)
        try folder.write(
            Array("[Desktop Entry]\nType=Application\nName=\(bundle)\nExec=\(program)\n".utf8),
            to: "data/applications/\(bundle).desktop")
    }

    /// The lines that started programs wrote.
    var log: [String] {
        ((try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? "").split(separator: "\n")
            .map(String.init)
    }

    /// Makes an app donate items, and waits until searches find them.
    func donate(
        _ titles: [String], from bundle: String = "com.example.notes", attributes: [String: AttributeValue] = [:]
    ) async throws {
        let app = try await service.app(bundle)
        var batch: [UInt8] = []
        for title in titles { RecordBatch.append(try record(title, title: title, attributes: attributes), to: &batch) }
        try await app.index(.put(batch))
        _ = try await app.query("title == '*'")
        app.connection.close()
    }

    /// Deletes one of an app's items.
    func delete(_ identifier: String, from bundle: String = "com.example.notes") async throws {
        let app = try await service.app(bundle)
        try await app.index(.deleteItems([identifier]))
        _ = try await app.query("title == '*'")
        app.connection.close()
    }

    /// Shows or hides an app in searches.
    func set(_ bundle: String, isShown: Bool) async throws {
        guard let store = try await RemoteEngine.connect(storeDirectory: service.store, program: "test") else {
            throw BusError.disconnected
        }
        _ = try await store.perform(SetDesktopVisibilityCall(bundle: bundle, isShown: isShown))
        await store.close()
    }

    /// Returns the titles that `Search1` finds.
    func found(_ text: String) async throws -> Set<String> {
        let client = try await BusTestClient(bus)
        defer { client.bus.close() }
        return Set(
            try await client.search(text, ["limit": .unsigned(1000)]).compactMap { item in
                if case .string(let title)? = item["title"] { title } else { nil }
            })
    }
}
