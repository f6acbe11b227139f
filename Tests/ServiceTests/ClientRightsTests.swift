// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Rights, by identity and first call")
struct ClientRightsTests {
    private func rights(
        _ sandbox: ClientIdentity.Sandbox, _ role: Hello.Role, _ bundle: String?, user: UInt32 = 1000
    ) -> Result<ClientRights, AccessDenial> {
        Result { () throws(AccessDenial) in
            try ClientRights(
                ClientIdentity(user: user, process: 1, sandbox: sandbox), user: 1000,
                hello: Hello(role: role, bundle: bundle, program: "p"))
        }
    }

    @Test("An app acts for its named bundle, a sandboxed one for its sandbox's bundle")
    func apps() {
        #expect(
            rights(.none, .app, "com.example.notes")
                == .success(.app(bundle: "com.example.notes", isSandboxed: false)))
        #expect(
            rights(.application("org.gnome.Maps"), .app, nil)
                == .success(.app(bundle: "org.gnome.Maps", isSandboxed: true)))
        #expect(
            rights(.application("org.gnome.Maps"), .app, "org.gnome.Maps")
                == .success(.app(bundle: "org.gnome.Maps", isSandboxed: true)))
    }

    @Test("Identifiers of applications may have underscores, as D-Bus names have")
    func underscores() {
        let name = "io.github.mpc_qt.mpc-qt"
        #expect(rights(.application(name), .app, nil) == .success(.app(bundle: name, isSandboxed: true)))
        #expect(rights(.none, .app, name) == .success(.app(bundle: name, isSandboxed: false)))
    }

    @Test("A sandboxed app that claims another bundle is rejected")
    func falseClaim() {
        #expect(
            rights(.application("org.gnome.Maps"), .app, "com.example.notes")
                == .failure(.falseClaim(claim: "com.example.notes", sandbox: "org.gnome.Maps")))
    }

    @Test("Only an unsandboxed program of the same user is a shell, and it names no bundle")
    func shells() {
        #expect(rights(.none, .shell, nil) == .success(.shell))
        #expect(rights(.none, .shell, "com.example.notes") == .failure(.shellWithBundle))
        #expect(rights(.application("org.gnome.Maps"), .shell, nil) == .failure(.sandboxedShell("org.gnome.Maps")))
        #expect(rights(.none, .shell, nil, user: 1001) == .failure(.otherUser(1001)))
    }

    @Test("An unknown client has no rights", arguments: Hello.Role.allCases)
    func undetermined(role: Hello.Role) {
        #expect(
            rights(.undetermined(reason: "no /proc"), role, role == .app ? "com.example.notes" : nil)
                == .failure(.undetermined("no /proc")))
    }

    @Test(
        "Names that are not bundle identifiers are rejected",
        arguments: [
            "", "notes", ".", "com.", ".example", "com..example", "com/example", "com.exämple", "com.example\u{0}",
            "com.example notes", "../../etc", String(repeating: "a", count: 252) + ".com",
        ])
    func names(name: String) {
        let outcome = rights(.none, .app, name)
        #expect(throws: AccessDenial.self) { try outcome.get() }
    }

    @Test(
        "With any claim, a sandboxed client acts for its own bundle or not at all",
        arguments: 1...50 as ClosedRange<UInt64>)
    func sandboxHolds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let names = ["org.gnome.Maps", "com.example.notes", "", "bad", random.text(length: 12)]
        let own = random.pick(names)
        let claim: String? = random.below(3) == 0 ? nil : random.pick(names)
        guard case .success(let rights) = rights(.application(own), random.pick(Hello.Role.allCases), claim) else {
            return
        }
        #expect(rights == .app(bundle: own, isSandboxed: true))
    }
}
