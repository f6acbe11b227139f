// SPDX-License-Identifier: Apache-2.0
import Foundation
import Protection
import TestSupport
import Testing

/// The commands for protected indexes, with a service.
@Suite("Commands of protected indexes", .timeLimit(.minutes(10)))
struct ProtectionCommandTests {
    private static let line = #"{"uniqueIdentifier": "pulse", "attributes": {"title": "Resting pulse"}}"#
    private static let donate = [
        "donate", "--bundle", "org.example.health", "--index", "notes", "--protection", "complete", "-",
    ]

    /// Flips the last bit of a file in place.
    private static func flipLastBit(of path: String) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let last = try file.seekToEnd() - 1
        try file.seek(toOffset: last)
        let byte = try #require(try file.readToEnd()?.first)
        try file.seek(toOffset: last)
        try file.write(contentsOf: Data([byte ^ 1]))
        try file.close()
    }

    @Test("A protected item is donated, found, locked, found again and forgotten")
    func wholeWay() async throws {
        let command = Command(harness: try Harness())
        let host = try ServiceHost(command.harness)
        let early = try await command.outcome(Self.donate, input: Self.line)
        #expect(early.status == 4 && early.errors.contains("searchlight unlock"), "\(early)")
        let first = try await command.outcome(["unlock"], input: "correct horse\n")
        #expect(first.status == 0 && first.output.contains("The passphrase is set."), "\(first)")
        let donated = try await command.outcome(Self.donate, input: Self.line)
        #expect(donated.status == 0 && donated.output == "1 item accepted.\n", "\(donated)")
        let found = try await command.outcome(["search", "pulse"])
        #expect(found.output.contains("Resting pulse") && found.errors.isEmpty, "\(found)")
        let unlocked = try await command.outcome(["status"])
        #expect(unlocked.output.contains("Protected indexes: unlocked"), "\(unlocked)")
        #expect(unlocked.output.contains("org.example.health (notes): complete"), "\(unlocked)")
        #expect(try await command.outcome(["lock"]).output == "Locked.\n")
        #expect(try await command.outcome(["lock"]).output == "Protected items are locked already.\n")
        let locked = try await command.outcome(["search", "pulse"])
        #expect(!locked.output.contains("Resting"), "\(locked)")
        #expect(
            locked.errors.contains("Note: Some items are locked. To search them: searchlight unlock"), "\(locked)")
        let refused = try await command.outcome(Self.donate, input: Self.line)
        #expect(refused.status == 4 && refused.errors.contains("searchlight unlock"), "\(refused)")
        let wrong = try await command.outcome(["unlock"], input: "correct horsf\n")
        #expect(wrong.status == 1 && wrong.errors.contains("The passphrase is wrong."), "\(wrong)")
        let again = try await command.outcome(["unlock", "--json"], input: "correct horse\n")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any], "\(again)")
        #expect(report["items"] as? Int == 1 && (report["findings"] as? [String])?.isEmpty == true)
        let forgotten = try await command.outcome(["forget", "org.example.health", "--yes"])
        #expect(forgotten.output.contains("1 item deleted"), "\(forgotten)")
        #expect(forgotten.output.contains("(notes): keys overwritten, file removed"), "\(forgotten)")
        #expect(try await !command.outcome(["search", "pulse"]).output.contains("Resting"))
        await host.close()
    }

    @Test("Every command says that items are locked, and a forgotten passphrase is replaced when nothing needs it")
    func lockedItems() async throws {
        let command = Command(harness: try Harness())
        let host = try ServiceHost(command.harness)
        #expect(try await command.outcome(["unlock"], input: "correct horse\n").status == 0)
        let donate = Self.donate.map { $0 == "complete" ? "completeUnlessOpen" : $0 }
        #expect(try await command.outcome(donate, input: Self.line).status == 0)
        let commands = [
            ["list"], ["query", "title == '*'"], ["query", "--count", "title == '*'"], ["suggest", "pul"],
            ["show", "pulse"],
        ]
        for arguments in commands {
            let open = try await command.outcome(arguments)
            #expect(open.status == 0 && !open.errors.contains("locked"), "\(arguments) \(open)")
        }
        #expect(try await command.outcome(["lock"]).status == 0)
        for arguments in commands {
            let locked = try await command.outcome(arguments)
            #expect(locked.errors.contains("Note: Some items are locked."), "\(arguments) \(locked)")
        }
        for arguments in [
            ["list", "--bundle"], ["search", "pulse", "--bundle"], ["query", "title == '*'", "--bundle"],
            ["suggest", "pul", "--bundle"],
        ] {
            let locked = try await command.outcome(arguments + ["org.example.health"])
            #expect(!locked.errors.contains("has no items of"), "\(arguments) \(locked)")
            #expect(locked.errors.contains("are locked"), "\(arguments) \(locked)")
        }
        let elsewhere = try await command.outcome(["list", "--bundle", "org.example.other"])
        #expect(!elsewhere.errors.contains("locked"), "\(elsewhere)")
        let search = try await command.outcome(["search", "pulse", "--bundle", "org.example.other"])
        #expect(!search.errors.contains("locked"), "\(search)")
        let deleted = try await command.outcome(
            ["delete", "--bundle", "org.example.health", "--index", "notes", "--identifiers", "pulse"])
        #expect(deleted.output == "The index is locked, so the items are deleted at the next unlock.\n", "\(deleted)")
        let wrong = try await command.outcome(["unlock", "--passphrase"], input: "battery staple\n")
        #expect(wrong.status == 1 && !wrong.errors.contains("--passphrase"), "\(wrong)")
        let forgotten = try await command.outcome(["forget", "org.example.health", "--yes"])
        #expect(forgotten.output.contains("0 items and all items of 1 locked index deleted"), "\(forgotten)")
        let hint = try await command.outcome(["unlock"], input: "battery staple\n")
        #expect(hint.status == 1 && hint.errors.contains("unlock --passphrase"), "\(hint)")
        let new = try await command.outcome(["unlock", "--passphrase"], input: "battery staple\n")
        #expect(new.status == 0 && new.output.contains("The passphrase is set."), "\(new)")
        // Also while the store is unlocked.
        #expect(try await command.outcome(["unlock", "--passphrase"], input: "purple sky\n").status == 0)
        let state = try await command.outcome(["status"])
        #expect(state.output.contains("Protected indexes: none\n"), "\(state)")
        let misplaced = try await command.outcome(["keys", "--json", "rotate"])
        #expect(misplaced.status == 64 && misplaced.errors.contains("Write the subcommand first"), "\(misplaced)")
        let unknown = try await command.outcome(["keys", "foo"])
        #expect(
            unknown.status == 64 && unknown.errors.contains("Use one of status, passphrase, keyring, rotate."),
            "\(unknown)")
        #expect(try await command.outcome(donate, input: Self.line).status == 0)
        let other = try await command.outcome(
            donate.map { $0 == "completeUnlessOpen" ? "none" : $0 }, input: Self.line)
        #expect(other.status == 0 && other.errors.contains("has the class completeUnlessOpen"), "\(other)")
        // A file of a removed index that comes back.
        let folder = command.harness.store + "/protected/"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first { $0 != "key" })
        let bytes = try Data(contentsOf: URL(filePath: folder + name))
        #expect(try await command.outcome(["forget", "org.example.health", "--yes"]).status == 0)
        try bytes.write(to: URL(filePath: folder + name))
        let back = try await command.outcome(["forget", "org.example.health", "--yes"])
        #expect(back.status == 0 && back.output.contains("keys overwritten, file removed"), "\(back)")
        #expect(try await command.outcome(["forget", "org.example.health", "--yes"]).status == 2)
        #expect(try await command.outcome(donate, input: Self.line).status == 0)
        await host.close()
        // A store whose file of keys is missing.
        try FileManager.default.removeItem(atPath: command.harness.store + "/protected/key")
        let keys = try await command.outcome(["keys"])
        #expect(keys.status == 10 && keys.output.contains("protected/key is missing"), "\(keys)")
        let verified = try await command.outcome(["verify"])
        #expect(verified.status == 10 && verified.output.contains("protected/key is missing"), "\(verified)")
        let doctor = try await command.outcome(["doctor"])
        #expect(doctor.output.contains("is missing. Without it,"), "\(doctor)")
    }

    @Test("A reindex of locked items says so, waits for the unlocking, and records no identifier")
    func reindex() async throws {
        let command = Command(harness: try Harness())
        let bundle = "com.example.encrypted"
        try command.harness.install(bundle, library: try CFixture.library("encrypted"))
        let host = try ServiceHost(command.harness)
        #expect(try await command.outcome(["unlock"], input: "correct horse\n").status == 0)
        let donated = try await command.outcome(
            ["donate", "--bundle", bundle, "--index", "health", "--protection", "complete", "-"], input: Self.line)
        #expect(donated.status == 0, "\(donated)")
        #expect(try await command.outcome(["lock"]).status == 0)
        for items in [["--items", "pulse"], []] {
            let locked = try await command.outcome(["reindex", bundle] + items)
            #expect(locked.status == 4 && locked.errors.contains("searchlight unlock"), "\(locked)")
        }
        #expect(try await command.outcome(["unlock"], input: "correct horse\n").status == 0)
        let asked = try await command.outcome(["reindex", bundle, "--items", "pulse"])
        #expect(asked.status == 0 && asked.output.contains("asked for 1 item, 1 donated"), "\(asked)")
        let found = try await command.outcome(["search", "named"])
        #expect(found.output.contains("named health 2"), "\(found)")
        // The crash is recorded, without the item.
        let output = command.harness.folder + "/pulse.html"
        let crashed = try await command.outcome(["drag", "pulse", "--accept", "public.html", "--output", output])
        #expect(crashed.status != 0 && crashed.errors.contains("provide an item as data"), "\(crashed)")
        await host.close()
        let files = FileManager.default.enumerator(atPath: command.harness.store)?.compactMap { $0 as? String } ?? []
        var isRecorded = false
        for name in files {
            let bytes = try? Data(contentsOf: URL(filePath: command.harness.store + "/" + name))
            #expect(bytes?.range(of: Data("pulse".utf8)) == nil, "\(name)")
            if bytes?.range(of: Data("provide an item as data".utf8)) != nil { isRecorded = true }
        }
        #expect(isRecorded)
    }

    @Test("Damage of a protected file is reported and repaired while it is unlocked, and names unlocking otherwise")
    func damage() async throws {
        let command = Command(harness: try Harness())
        let host = try ServiceHost(command.harness)
        #expect(try await command.outcome(["unlock"], input: "correct horse\n").status == 0)
        #expect(try await command.outcome(Self.donate, input: Self.line).status == 0)
        let folder = command.harness.store + "/protected/"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first { $0 != "key" })
        try Self.flipLastBit(of: folder + name)
        let found = try await command.outcome(["verify"])
        #expect(found.status == 10 && found.output.contains("writes it again from the items in memory"), "\(found)")
        #expect(found.errors.contains("To repair this: searchlight verify --repair"), "\(found)")
        let repaired = try await command.outcome(["verify", "--repair"])
        #expect(repaired.status == 0 && repaired.output.contains("was written again from the items"), "\(repaired)")
        #expect(repaired.output.contains("No damage is left."), "\(repaired)")
        #expect(try await command.outcome(["search", "pulse"]).output.contains("Resting pulse"))
        try Self.flipLastBit(of: folder + name)
        #expect(try await command.outcome(["lock"]).status == 0)
        for arguments in [["verify"], ["verify", "--repair"]] {
            let locked = try await command.outcome(arguments)
            #expect(locked.status == 10 && locked.output.contains("first: searchlight unlock"), "\(locked)")
            #expect(locked.output.contains("Not checked: the content of protected indexes"), "\(locked)")
            #expect(!locked.output.contains("No damage") && !locked.errors.contains("--repair"), "\(locked)")
        }
        let unlocked = try await command.outcome(["unlock"], input: "correct horse\n")
        #expect(unlocked.status == 0 && unlocked.errors.contains("is not read"), "\(unlocked)")
        let lossy = try await command.outcome(["verify", "--repair"])
        #expect(
            lossy.status == 0 && lossy.output.contains("are lost") && lossy.output.contains("is pending"), "\(lossy)")
        #expect(try await command.outcome(["verify"]).status == 0)
        // The file of keys.
        let key = try Data(contentsOf: URL(filePath: folder + "key"))
        try key.dropLast().write(to: URL(filePath: folder + "key"))
        let keys = try await command.outcome(["keys"])
        #expect(keys.status == 10 && keys.output.contains("only in memory"), "\(keys)")
        #expect(try await command.outcome(["status"]).output.contains("is damaged"))
        let refused = try await command.outcome(Self.donate, input: Self.line)
        #expect(refused.status == 8 && refused.errors.contains("is damaged"), "\(refused)")
        #expect(!refused.errors.contains("remove it"), "\(refused)")
        #expect(try await command.outcome(["verify", "--repair"]).status == 0)
        #expect(try await command.outcome(["keys"]).status == 0)
        #expect(try await command.outcome(Self.donate, input: Self.line).status == 0)
        await host.close()
        try FileManager.default.removeItem(atPath: folder + "key")
        let offline = try await command.outcome(["verify"])
        #expect(offline.status == 10 && !offline.errors.contains("--repair"), "\(offline)")
        let missing = try await command.outcome(Self.donate, input: Self.line)
        #expect(missing.status == 8 && missing.errors.contains("is missing"), "\(missing)")
        #expect(!missing.errors.contains("searchlight unlock"), "\(missing)")
    }

    @Test("A receipt is written to a new file, and checked")
    func receipt() async throws {
        let command = Command(harness: try Harness())
        let donate = ["donate", "--bundle", "org.example.app", "-"]
        #expect(try await command.outcome(donate, input: Self.line).status == 0)
        let path = command.harness.folder + "/receipt.json"
        let forgotten = try await command.outcome(["forget", "org.example.app", "--yes", "--receipt", path])
        #expect(forgotten.status == 0 && forgotten.output.contains("index.sqlite: items"), "\(forgotten)")
        let good = try await command.outcome(["forget", "--verify", path])
        #expect(good.status == 0 && good.output == "Nothing of the receipt is in the store.\n", "\(good)")
        // The removal cannot be repeated, so its receipt stays if its report cannot be written.
        #expect(try await command.outcome(donate, input: Self.line).status == 0)
        let kept = command.harness.folder + "/kept.json"
        let script = "exec \"$0\" \"$@\" >/dev/full"
        let full = try ChildProcess(
            "/bin/sh",
            [
                "-c", script, try BuiltProducts.program("searchlight"), "forget", "org.example.app", "--yes",
                "--receipt", kept,
            ],
            environment: command.environment)
        #expect(full.wait() != .exited(0))
        #expect(try await command.outcome(["forget", "--verify", kept]).status == 0)
        // A receipt is never overwritten, and then nothing is removed.
        #expect(try await command.outcome(donate, input: Self.line).status == 0)
        let again = try await command.outcome(["forget", "org.example.app", "--yes", "--receipt", path])
        #expect(again.status == 8 && again.errors.contains("Nothing was removed"), "\(again)")
        let later = try await command.outcome(["forget", "--verify", path, "--json"])
        #expect(later.status == 0 && later.output.contains("\"later\" : 1"), "\(later)")
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: path))
        let changed = try await command.outcome(["forget", "--verify", path])
        #expect(changed.status == 8 && changed.errors.contains("no receipt"), "\(changed)")
        #expect(try await command.outcome(["forget"]).status == 64)
        #expect(try await command.outcome(["forget", "x", "--verify", path]).status == 64)
        #expect(try await command.outcome(["forget", "--verify", "/dev/zero"]).status == 8)
    }

    @Test("Without a service nothing is unlocked, and wrong use is named")
    func misuse() async throws {
        let command = Command(harness: try Harness())
        // A service that starts creates the store.
        let first = try await command.outcome(["unlock"], input: "correct horse\n")
        #expect(first.status == 4 && first.errors.contains("no service runs"), "\(first)")
        let plain = try await command.outcome(["donate", "--bundle", "org.example.app", "-"], input: Self.line)
        #expect(plain.status == 0, "\(plain)")
        let none = try await command.outcome(["unlock"], input: "correct horse\n")
        #expect(none.status == 4 && none.errors.contains("no service runs"), "\(none)")
        let unnamed = try await command.outcome(
            ["donate", "--bundle", "org.example.app", "--protection", "complete", "-"], input: Self.line)
        #expect(unnamed.status == 64 && unnamed.errors.contains("--index"), "\(unnamed)")
        let unknown = try await command.outcome(
            ["donate", "--bundle", "org.example.app", "--index", "x", "--protection", "secret", "-"], input: Self.line)
        #expect(unknown.status == 64 && unknown.errors.contains("completeUnlessOpen"), "\(unknown)")
        let host = try ServiceHost(command.harness)
        let empty = try await command.outcome(["unlock"], input: "\n")
        #expect(empty.status == 64, "\(empty)")
        #expect(!FileManager.default.fileExists(atPath: command.harness.store + "/protected"))
        await host.close()
    }

    @Test("A rotation that keeps a key names the file and fails")
    func incompleteRotation() async throws {
        let command = Command(harness: try Harness())
        let host = try ServiceHost(command.harness)
        #expect(try await command.outcome(["unlock"], input: "correct horse\n").status == 0)
        #expect(try await command.outcome(Self.donate, input: Self.line).status == 0)
        let whole = try await command.outcome(["keys", "rotate"], input: "correct horse\n")
        #expect(whole.status == 0 && whole.output.hasPrefix("All keys are new."), "\(whole)")
        let folder = command.harness.store + "/protected/"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first { $0 != "key" })
        // The service still has what was damaged since the unlocking, and writes it again.
        try Self.flipLastBit(of: folder + name)
        let healed = try await command.outcome(["keys", "rotate"], input: "correct horse\n")
        #expect(healed.status == 0 && healed.output.hasPrefix("All keys are new."), "\(healed)")
        try Self.flipLastBit(of: folder + name)
        #expect(try await command.outcome(["lock"]).status == 0)
        let kept = try await command.outcome(["keys", "rotate"], input: "correct horse\n")
        #expect(kept.status == 1 && kept.output.hasPrefix("Some keys were not replaced."), "\(kept)")
        #expect(kept.errors.contains(name), "\(kept)")
        let json = try await command.outcome(["keys", "rotate", "--json"], input: "correct horse\n")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any], "\(json)")
        #expect(json.status == 1 && (report["kept"] as? [String])?.count == 1, "\(json)")
        await host.close()
    }

    @Test(
        "The first unlock puts the keys into the keyring, and they move to a passphrase and back",
        .enabled(if: GnomeKeyring.isAvailable))
    func keyring() async throws {
        let command = Command(harness: try Harness())
        let bus = try PrivateBus()
        let daemon = try GnomeKeyring(bus)
        let host = try ServiceHost(command.harness) { $0.keyring = SecretService(address: bus.address) }
        let none = try await command.outcome(["keys"])
        #expect(none.output == "Keys: none. To create them: searchlight unlock\n", "\(none)")
        let refused = try await command.outcome(["keys", "rotate"])
        #expect(refused.status == 4 && refused.errors.contains("searchlight unlock"), "\(refused)")
        let first = try await command.outcome(["unlock"])
        #expect(first.status == 0 && first.output.contains("New keys are in the keyring"), "\(first)")
        #expect(try daemon.items("xdg:schema", "com.searchlight.StoreKey").count == 1)
        let donated = try await command.outcome(Self.donate, input: Self.line)
        #expect(donated.status == 0, "\(donated)")
        #expect(try await command.outcome(["keys"]).output.hasPrefix("Keys: in the keyring of the desktop\n"))
        #expect(try await command.outcome(["status"]).output.contains("Keys: in the keyring of the desktop"))
        let wrongWay = try await command.outcome(["unlock", "--passphrase"], input: "correct horse\n")
        #expect(wrongWay.status == 4 && wrongWay.errors.contains("searchlight keys passphrase"), "\(wrongWay)")

        #expect(try await command.outcome(["lock"]).status == 0)
        let again = try await command.outcome(["unlock"])
        #expect(again.output.hasPrefix("Unlocked: 1 protected item can be found"), "\(again)")
        let rotated = try await command.outcome(["keys", "rotate"])
        #expect(rotated.output == "All keys are new. 1 protected item can be found.\n", "\(rotated)")
        let moved = try await command.outcome(["keys", "passphrase"], input: "correct horse\n")
        #expect(moved.status == 0 && moved.output.contains("The passphrase is set."), "\(moved)")
        #expect(try daemon.items("xdg:schema", "com.searchlight.StoreKey").isEmpty)
        let changed = try await command.outcome(["keys", "passphrase"], input: "correct horse\nbattery staple\n")
        #expect(changed.status == 0, "\(changed)")
        let stale = try await command.outcome(["keys", "keyring"], input: "correct horse\n")
        #expect(stale.status == 1 && stale.errors.contains("The passphrase is wrong."), "\(stale)")
        let back = try await command.outcome(["keys", "keyring", "--json"], input: "battery staple\n")
        #expect(back.status == 0 && back.output.contains(#""keys" : "keyring""#), "\(back)")

        // A locked keyring cannot ask here, and a lost one leaves the rest searchable.
        #expect(try await command.outcome(["lock"]).status == 0)
        try daemon.lock()
        let dismissed = try await command.outcome(["unlock"])
        #expect(dismissed.status == 5 && dismissed.errors.contains("The keyring was not unlocked"), "\(dismissed)")
        daemon.stop()
        let gone = try await command.outcome(["unlock"])
        #expect(gone.status == 4 && gone.errors.contains("No keyring can be reached"), "\(gone)")
        let plain = try await command.outcome(["donate", "--bundle", "org.example.app", "-"], input: Self.line)
        #expect(plain.status == 0, "\(plain)")
        #expect(try await command.outcome(["search", "pulse"]).output.contains("Resting pulse"))
        await host.close()
    }
}
