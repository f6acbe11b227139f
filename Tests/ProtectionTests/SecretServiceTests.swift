// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import Protection

@Suite("The keyring of the desktop", .timeLimit(.minutes(10)))
struct SecretServiceTests {
    private static let vault = VaultIdentifier()

    private static func name(_ vault: VaultIdentifier = vault) -> KeyringName {
        KeyringName(vault: vault, key: VaultIdentifier(), folder: "/test")
    }

    /// A key whose bytes are all 5A.
    private static func key() throws -> SecretKey {
        try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
            memory.update(repeating: 0x5A, count: SecretKey.byteCount)
        }
    }

    /// Times that a busy machine does not exceed, or that are over soon.
    private static func limits(_ question: Duration = .seconds(100)) -> SecretService.Limits {
        var limits = SecretService.Limits()
        (limits.answer, limits.question) = (.seconds(100), question)
        return limits
    }

    /// The problem with which an operation ends; `nil` if it succeeds.
    private static func problem(_ body: () async throws(ProtectionError) -> Void) async -> KeyringProblem? {
        do throws(ProtectionError) { try await body() } catch {
            if case .keyring(let problem) = error { return problem }
            Issue.record("\(error)")
        }
        return nil
    }

    // MARK: The encryption

    @Test("Both sides of a key exchange have the same key, and a secret is only open to that key")
    func exchange() throws {
        let (one, other, third) = (try KeyExchange(), try KeyExchange(), try KeyExchange())
        let sender = try #require(try one.cipher(with: other.publicKey))
        let receiver = try #require(try other.cipher(with: one.publicKey))
        let stranger = try #require(try third.cipher(with: one.publicKey))
        let secret = try SecretKey()
        let sealed = try sender.seal(secret)
        #expect(sealed.value.count == 80 && sealed.parameters.count == 16)
        #expect(try #require(try receiver.open(sealed)).isSame(as: secret))
        #expect(try stranger.open(sealed) == nil)
        #expect(try receiver.open(.init(parameters: [], value: sealed.value)) == nil)
        #expect(try receiver.open(.init(parameters: sealed.parameters, value: [])) == nil)
        var random = SplitMix64(seed: MutationLoop.seed)
        for _ in 0..<200 {
            var changed = sealed
            changed.value[64 + random.below(16)] ^= UInt8.random(in: 1...255, using: &random)
            #expect(try receiver.open(changed) == nil)
        }
    }

    @Test("A public key that makes the shared key known is rejected")
    func publicKeys() throws {
        let exchange = try KeyExchange()
        #expect(exchange.publicKey.count == 128)
        let (prime, large) = (KeyExchange.primeBytes, [UInt8](repeating: 255, count: 128))
        let before = prime.dropLast() + [0xFE]
        let weak: [[UInt8]] = [
            [], [0], [1], [0, 0, 1], Array(before), [0] + prime, prime, large, [UInt8](repeating: 1, count: 129),
        ]
        for weak in weak {
            #expect(try exchange.cipher(with: weak) == nil, "\(weak)")
        }
        #expect(try exchange.cipher(with: [2]) != nil)
        #expect(try exchange.cipher(with: [UInt8](repeating: 0, count: 127) + [2]) != nil)
        #expect(try exchange.cipher(with: prime.dropLast() + [0xFD]) != nil)
    }

    /// The private key is 1, 2, … 128, and the other one 1032. Computed with Python's integers,
    /// hmac, and AES of the package cryptography.
    @Test("The shared key is the one of libsecret and GNOME Keyring, even with leading zeros")
    func knownAnswer() throws {
        func bytes(_ text: String) -> [UInt8] {
            let digits = text.compactMap(\.hexDigitValue)
            return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        }
        let exchange = try KeyExchange(exponent: Array(1...128))
        #expect(
            exchange.publicKey
                == bytes(
                    """
                    52893c96a07492593d36d00328ba21101c0ab104717cf1928b3890e1ecbd76e8
                    27e7ba7d589a03ef64f8f5648cea2b077409319013d832c41a04a3793eb4b73c
                    a2a36306241de180ec36f5cfbef207ba2e04a39f1384dce12b8ebe27b54dbf04
                    9be0abc80ebd4849976974b2be955c2c87ba11712576887f5b96427a1d8fb2fd
                    """))
        let other = bytes(
            """
            0000000000000036f0255dde973dcb3b399d747f23e32ed6fdb1f77598338bfd
            f44159c4ec64ddaeb5f78671cbfb22106ae64c32c5bce4cfd4f5920da0ebc8b0
            1eca9292ae3dba1b7a4a899da181390bb3bd1659c81294f400a3490bf9481211
            c79404a576605a5160dbee83b4e019b6d799ae1319ac7e000000000000000100
            """)
        let sealed = SessionCipher.Sealed(
            parameters: Array(0..<16),
            value: bytes(
                """
                d8ba74674bf52ac1439f072602d074abf99cc28ca6fafc85407b321661f12e3a
                0cf063fa92f6bed347da482179df7c19017bece1c7982e4bda7b5951fd7fa16b
                d3b702a2cd71de6d32176527a6754135
                """))
        // The shared secret and the other public key begin with a zero. Keyrings may leave out the
        // zeros of a public key.
        for key in [other, Array(other.drop { $0 == 0 })] {
            let cipher = try #require(try exchange.cipher(with: key))
            #expect(try #require(try cipher.open(sealed)).isSame(as: Self.key()))
        }
    }

    // MARK: GNOME Keyring

    @Test("GNOME Keyring keeps a key, returns it, and forgets it", .enabled(if: GnomeKeyring.isAvailable))
    func real() async throws {
        let bus = try PrivateBus()
        let daemon = try GnomeKeyring(bus)
        let keyring = SecretService(address: bus.address, limits: Self.limits())
        let (key, other) = (try SecretKey(), try SecretKey())
        let (name, next) = (Self.name(), Self.name())
        #expect(try await keyring.keys(name).isEmpty)
        try await keyring.keep(key, as: name)
        try await keyring.keep(other, as: next)
        let found = try await keyring.keys(name)
        #expect(try found.count == 1 && found[0].isSame(as: key))
        #expect(try await keyring.keys(Self.name(VaultIdentifier())).isEmpty)
        #expect(try daemon.items("store", Self.vault.text).count == 2)
        #expect(await keyring.remove(name))
        #expect(try await keyring.keys(name).isEmpty)
        let left = try await keyring.keys(next)
        #expect(try left.count == 1 && left[0].isSame(as: other))
        // A copy of the store in another folder removes no key of this one.
        #expect(await !keyring.remove(KeyringName(vault: next.vault, key: next.key, folder: "/copy")))
        #expect(try await keyring.keys(next).count == 1)
        #expect(await keyring.remove(next))
        #expect(try daemon.items("store", Self.vault.text).isEmpty)
    }

    @Test(
        "A locked keyring that cannot ask is reported, and so is one that is gone",
        .enabled(if: GnomeKeyring.isAvailable))
    func realLocked() async throws {
        let bus = try PrivateBus()
        let daemon = try GnomeKeyring(bus)
        let keyring = SecretService(address: bus.address, limits: Self.limits())
        let name = Self.name()
        try await keyring.keep(try SecretKey(), as: name)
        try daemon.lock()
        #expect(
            await Self.problem { () async throws(ProtectionError) in _ = try await keyring.keys(name) } == .dismissed)
        daemon.stop()
        let gone = await Self.problem { () async throws(ProtectionError) in _ = try await keyring.keys(name) }
        guard case .unavailable = gone else { return #expect(Bool(false), "\(String(describing: gone))") }
    }

    @Test(
        "A program that records all messages of the bus does not see the key",
        .enabled(if: GnomeKeyring.isAvailable && FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-monitor")))
    func monitored() async throws {
        let bus = try PrivateBus()
        let daemon = try GnomeKeyring(bus)
        let file = bus.folder.path("recording")
        try #require(FileManager.default.createFile(atPath: file, contents: nil))
        let monitor = try ChildProcess(
            "/usr/bin/dbus-monitor", ["--address", bus.address, "--binary"],
            output: .file(try #require(FileHandle(forWritingAtPath: file))))
        func recording() throws -> Data { try Data(contentsOf: URL(filePath: file)) }
        let keyring = SecretService(address: bus.address, limits: Self.limits())
        let text = [UInt8](repeating: 0x5A, count: SecretKey.byteCount)
        let key = try Self.key()
        let name = Self.name()
        // Repeated until the recorder has seen the attributes of the item, which are not encrypted.
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        repeat {
            try await keyring.keep(key, as: name)
        } while try recording().range(of: Data(name.key.text.utf8)) == nil && clock.now < deadline
        #expect(try await !keyring.keys(name).isEmpty)
        let recorded = try recording()
        #expect(recorded.range(of: Data(name.key.text.utf8)) != nil)
        #expect(recorded.range(of: Data(text)) == nil)
        #expect(recorded.range(of: Data(String(repeating: "5a", count: 32).utf8)) == nil)
        monitor.send(SIGKILL)
        monitor.wait()
        daemon.stop()
    }

    // MARK: Other keyrings

    private static let (service, path) = ("org.freedesktop.secrets", "/org/freedesktop/secrets")
    private static let interface = "org.freedesktop.Secret.Service"

    /// A keyring of which only the given methods work. Its keys are worthless.
    private static func fake(_ bus: PrivateBus, _ methods: [(String, String, String, String)]) throws -> DBusMock {
        let mock = try DBusMock(bus, name: service, path: path, interface: interface)
        let session =
            "ret = (dbus.Array([2] * 128, signature='y', variant_level=1), dbus.ObjectPath('\(path)/session/1'))"
        let standard = [
            ("OpenSession", "sv", "vo", session), ("ReadAlias", "s", "o", "ret = '\(path)/collection/login'"),
        ]
        for method in standard where !methods.contains(where: { $0.0 == method.0 }) {
            try mock.addMethod(path, interface, method.0, (method.1, method.2), method.3)
        }
        for method in methods { try mock.addMethod(path, interface, method.0, (method.1, method.2), method.3) }
        return mock
    }

    private static let none = ("SearchItems", "a{ss}", "aoao", "ret = ([], [])")

    @Test("Without a keyring, or without a bus, that is the reason")
    func unavailable() async throws {
        let name = Self.name()
        let noBus = SecretService(address: "unix:path=/nonexistent/bus", limits: Self.limits())
        let first = await Self.problem { () async throws(ProtectionError) in _ = try await noBus.keys(name) }
        guard case .unavailable = first else { return #expect(Bool(false), "\(String(describing: first))") }
        guard PrivateBus.isAvailable else { return }
        let bus = try PrivateBus()
        let keyring = SecretService(address: bus.address, limits: Self.limits())
        let second = await Self.problem { () async throws(ProtectionError) in _ = try await keyring.keys(name) }
        guard case .unavailable = second else { return #expect(Bool(false), "\(String(describing: second))") }
        #expect(await !keyring.remove(name))
    }

    /// The answers of a keyring, and the problem that each is.
    struct Answers: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var methods: [(String, String, String, String)]
        var problem: KeyringProblem
    }

    static let answers = [
        Answers(
            testDescription: "no encryption",
            methods: [
                (
                    "OpenSession", "sv", "vo",
                    "raise dbus.exceptions.DBusException('No', name='org.freedesktop.DBus.Error.NotSupported')"
                )
            ],
            problem: .unencrypted),
        Answers(
            testDescription: "another error at the beginning",
            methods: [
                (
                    "OpenSession", "sv", "vo",
                    "raise dbus.exceptions.DBusException('Too many', name='a.b.LimitsExceeded')"
                )
            ],
            problem: .refused("Too many")),
        Answers(
            testDescription: "items that stay locked",
            methods: [
                ("SearchItems", "a{ss}", "aoao", "ret = ([], ['\(path)/collection/login/1'])"),
                ("Unlock", "ao", "aoo", "ret = ([], '/')"),
            ],
            problem: .dismissed),
        Answers(
            testDescription: "an invalid public key",
            methods: [
                (
                    "OpenSession", "sv", "vo",
                    "ret = (dbus.Array([1], signature='y', variant_level=1), dbus.ObjectPath('/a'))"
                )
            ], problem: .malformed("it opened no session")),
        Answers(
            testDescription: "another type",
            methods: [("OpenSession", "sv", "s", "ret = 'session'")], problem: .malformed("it opened no session")),
        Answers(
            testDescription: "a question at a foreign path",
            methods: [none, ("Unlock", "ao", "aoo", "ret = ([], '/com/example')")],
            problem: .malformed("its question has the path /com/example")),
        Answers(
            testDescription: "an error",
            methods: [
                ("SearchItems", "a{ss}", "aoao", "raise dbus.exceptions.DBusException('Out of paper', name='a.b.C')")
            ],
            problem: .refused("Out of paper")),
        Answers(
            testDescription: "a wrong list", methods: [("SearchItems", "a{ss}", "i", "ret = 5")],
            problem: .malformed("it found no lists of items")),
    ]

    @Test("A keyring with an unexpected answer is reported", .enabled(if: DBusMock.isAvailable), arguments: answers)
    func hostile(answers: Answers) async throws {
        let bus = try PrivateBus()
        let mock = try Self.fake(bus, answers.methods)
        let keyring = SecretService(address: bus.address, limits: Self.limits())
        let problem = await Self.problem { () async throws(ProtectionError) in _ = try await keyring.keys(Self.name()) }
        if case .refused(let message)? = problem, case .refused(let expected) = answers.problem {
            #expect(message.contains(expected))
        } else {
            #expect(problem == answers.problem)
        }
        mock.stop()
    }

    @Test(
        "An item that cannot be read does not hide the key, and is the problem if there is none",
        .enabled(if: DBusMock.isAvailable), arguments: [true, false])
    func unreadableItem(hasOther: Bool) async throws {
        let bus = try PrivateBus()
        let items = (1...(hasOther ? 2 : 1)).map { Self.path + "/collection/login/\($0)" }
        let list = items.map { "'\($0)'" }.joined(separator: ", ")
        // With the public key 2, the shared secret is the public key of the other side.
        let session = """
            self.shared = bytes(args[1])
            key = dbus.Array([0] * 127 + [2], signature='y', variant_level=1)
            ret = (key, dbus.ObjectPath('\(Self.path)/session/1'))
            """
        let mock = try Self.fake(
            bus, [("SearchItems", "a{ss}", "aoao", "ret = ([\(list)], [])"), ("OpenSession", "sv", "vo", session)])
        let secret = """
            import ctypes, hashlib, hmac
            middle = hmac.new(bytes(32), objects['\(Self.path)'].shared, hashlib.sha256).digest()
            key = hmac.new(middle, bytes([1]), hashlib.sha256).digest()[:16]
            text, size = b'5a' * 32 + bytes([16]) * 16, ctypes.c_size_t(80)
            library, cipher, sealed = ctypes.CDLL('libgcrypt.so.20'), ctypes.c_void_p(), ctypes.create_string_buffer(80)
            library.gcry_check_version(None)
            library.gcry_cipher_open(ctypes.byref(cipher), 7, 3, 0)
            library.gcry_cipher_setkey(cipher, key, ctypes.c_size_t(16))
            library.gcry_cipher_setiv(cipher, bytes(16), ctypes.c_size_t(16))
            library.gcry_cipher_encrypt(cipher, sealed, size, text, size)
            path = dbus.ObjectPath('\(Self.path)/session/1')
            ret = dbus.Struct((path, dbus.ByteArray(bytes(16)), dbus.ByteArray(sealed.raw), 'text/plain'))
            """
        for item in items {
            try mock.call(
                Self.path, "org.freedesktop.DBus.Mock.AddObject", item, "org.freedesktop.Secret.Item", "{}", "[]")
            let code = item == items[0] ? "raise dbus.exceptions.DBusException('Broken', name='a.b.C')" : secret
            try mock.addMethod(item, "org.freedesktop.Secret.Item", "GetSecret", ("o", "(oayays)"), code)
        }
        let keyring = SecretService(address: bus.address, limits: Self.limits())
        if hasOther {
            let keys = try await keyring.keys(Self.name())
            #expect(try keys.count == 1 && keys[0].isSame(as: Self.key()))
        } else {
            let problem = await Self.problem { () async throws(ProtectionError) in
                _ = try await keyring.keys(Self.name())
            }
            #expect(problem == .refused("Broken"))
        }
        mock.stop()
    }

    /// The end of a question: its signal, and the problem.
    struct Question: Sendable {
        var signal: String
        var problem: KeyringProblem?
    }

    static let questions = [
        Question(signal: "[True, dbus.String('', variant_level=1)]", problem: .dismissed),
        Question(
            signal: "[False, dbus.Array(['\(path)/collection/login'], signature='o', variant_level=1)]", problem: nil),
        Question(signal: "", problem: .timedOut(seconds: 1)),
    ]

    @Test(
        "A question of the keyring is shown, and its end is awaited", .enabled(if: DBusMock.isAvailable),
        arguments: questions)
    func asks(question: Question) async throws {
        let bus = try PrivateBus()
        let prompt = Self.path + "/prompt/p1"
        let mock = try Self.fake(bus, [Self.none, ("Unlock", "ao", "aoo", "ret = ([], '\(prompt)')")])
        try mock.call(
            Self.path, "org.freedesktop.DBus.Mock.AddObject", prompt, "org.freedesktop.Secret.Prompt", "{}",
            "[('Dismiss', '', '', '')]")
        let emit = "self.EmitSignal('org.freedesktop.Secret.Prompt', 'Completed', 'bv', \(question.signal))"
        try mock.addMethod(
            prompt, "org.freedesktop.Secret.Prompt", "Prompt", ("s", ""), question.signal.isEmpty ? "" : emit)
        let keyring = SecretService(
            address: bus.address, limits: Self.limits(question.signal.isEmpty ? .seconds(1) : .seconds(100)))
        let problem = await Self.problem { () async throws(ProtectionError) in
            #expect(try await keyring.keys(Self.name()).isEmpty)
        }
        #expect(problem == question.problem)
        mock.stop()
    }
}
