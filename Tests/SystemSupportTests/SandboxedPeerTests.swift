// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemSupport

/// Real sandboxes, created as Flatpak does.
@Suite("Clients in a sandbox", .timeLimit(.minutes(10)))
struct SandboxedPeerTests {
    private static let bubblewrap = "/usr/bin/bwrap"
    private static let perl = "/usr/bin/perl"
    private static let canSandbox: Bool = {
        guard ([bubblewrap, perl] as [String]).allSatisfy({ access($0, X_OK) == 0 }) else { return false }
        // The machine may forbid user namespaces.
        let trial = try? ChildProcess(bubblewrap, ["--ro-bind", "/", "/", "/bin/true"])
        return trial?.wait() == .exited(0)
    }()
    private static let client =
        "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un($ARGV[0])) or die; <STDIN>"

    /// Connects a client from a sandbox. Returns its identity, and the side that closed first.
    private func identify(info: String?) throws -> PeerIdentity {
        let folder = try TemporaryFolder()
        let listener = try ServiceSocket.listen(inFolder: folder.path)
        var arguments = ["--unshare-pid", "--die-with-parent", "--tmpfs", "/", "--proc", "/proc", "--dev", "/dev"]
        for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] where access(path, F_OK) == 0 {
            arguments += ["--ro-bind", path, path]
        }
        arguments += ["--bind", folder.path, "/store"]
        if let info {
            arguments += ["--ro-bind", try folder.write(Array(info.utf8), to: "info"), "/.flatpak-info"]
        }
        arguments += [Self.perl, "-e", Self.client, "/store/socket"]
        let input = Pipe()
        let child = try ChildProcess(Self.bubblewrap, arguments, input: .pipe(input), errors: .inherited)
        defer {
            try? input.fileHandleForWriting.close()
            child.wait()
        }
        // If the sandbox cannot be created, the test must fail instead of blocking.
        var waiting = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        try #require(poll(&waiting, 1, 50_000) == 1)
        let accepted = accept(listener.number, nil, nil)
        try #require(accepted >= 0)
        return try PeerIdentity(of: OwnedDescriptor(adopting: accepted))
    }

    @Test("The sandbox names the application", .enabled(if: canSandbox, "bubblewrap and perl cannot be run here"))
    func application() throws {
        let identity = try identify(info: "[Application]\nname=com.example.Notes\n\n[Instance]\ninstance-id=1\n")
        #expect(identity.sandbox == .flatpak(application: "com.example.Notes"))
        #expect(identity.user == getuid())
        #expect(identity.process != getpid())
    }

    @Test("A doubtful sandbox is rejected", .enabled(if: canSandbox, "bubblewrap and perl cannot be run here"))
    func doubtful() {
        #expect(throws: PeerIdentityError.self) { try identify(info: "[Application]\n") }
    }

    @Test(
        "Another mount namespace alone is not a sandbox",
        .enabled(if: canSandbox, "bubblewrap and perl cannot be run here"))
    func otherNamespace() throws { #expect(try identify(info: nil).sandbox == .none) }
}
