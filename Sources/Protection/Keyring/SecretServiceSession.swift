// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSodium
import Dispatch
import Synchronization

/// A session with the Secret Service (its API 0.2): a connection to the bus, and a key that
/// encrypts the secrets on it.
///
/// The bus may give the name of the service to any program of the user, so all answers are bounded
/// and checked.
final class SecretServiceSession: Sendable {
    private let bus: MessageBus
    private let service: BusService
    private let limits: SecretService.Limits
    private let clock: any Clock<Duration>
    private let state: Mutex<State>

    private struct State {
        var cipher: SessionCipher?
        /// The object of this session in the keyring.
        var path = noPrompt
        var questions: [String: Question] = [:]
    }
    private typealias Question = AwaitedValue<Result<ForeignValue?, KeyringProblem>>

    private static let name = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    private static let serviceInterface = "org.freedesktop.Secret.Service"
    private static let collectionInterface = "org.freedesktop.Secret.Collection"
    private static let itemInterface = "org.freedesktop.Secret.Item"
    private static let promptInterface = "org.freedesktop.Secret.Prompt"
    private static let completed = BusMember(promptInterface, "Completed")
    private static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
    private static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    /// The path that stands for no object.
    private static let noPrompt = "/"

    private init(_ bus: MessageBus, _ limits: SecretService.Limits, _ clock: any Clock<Duration>) {
        (self.bus, self.limits, self.clock) = (bus, limits, clock)
        service = BusService(Self.name, on: bus)
        state = Mutex(State())
    }

    /// Connects, starts the keyring if the bus can, and agrees on a key.
    static func open(
        _ address: String, _ limits: SecretService.Limits, _ clock: any Clock<Duration>
    ) async throws(ProtectionError) -> SecretServiceSession {
        let bus: MessageBus
        do throws(BusError) {
            bus = try MessageBus(
                address: address, name: "keyring",
                onCall: { $0.refuse(name: BusErrorName.unknownMethod, message: "This connection serves no calls.") },
                onDisconnect: { _ in })
        } catch {
            throw .keyring(.unavailable(error.description))
        }
        let session = SecretServiceSession(bus, limits, clock)
        do throws(ProtectionError) {
            try await session.begin()
        } catch {
            session.close()
            throw error
        }
        return session
    }

    private func begin() async throws(ProtectionError) {
        let start = AwaitedValue<BusError?>()
        let starting = Task { [bus] in
            do throws(BusError) {
                try await bus.startService(Self.name)
                start.deliver(nil)
            } catch {
                start.deliver(error)
            }
        }
        defer { starting.cancel() }
        // The start fails if the bus has no service file for a keyring, but a keyring may be
        // running anyway.
        var reason = "no program serves \(Self.name)."
        switch await start.value(within: limits.answer, on: clock) {
        case .some(nil): break
        case .some(.some(.remote(_, let message))): reason = String(message.prefix(500))
        case .some(.some(.disconnected)): throw .keyring(.unavailable("the session bus does not answer."))
        case .some(.some(let error)): throw .keyring(.unavailable(error.description))
        case nil: throw timeOut(limits.answer)
        }
        let appeared = AwaitedValue<Bool>()
        service.begin(hearing: [.init(Self.completed)]) { [weak self] event in
            switch event {
            case .appeared: appeared.deliver(true)
            case .gone:
                appeared.deliver(false)
                self?.endQuestions()
            case .signal(let signal): self?.receive(signal)
            }
        }
        guard await appeared.value(within: limits.answer, on: clock) == true else {
            throw .keyring(.unavailable(reason))
        }
        try await agreeOnKey()
    }

    private func agreeOnKey() async throws(ProtectionError) {
        let exchange = try KeyExchange()
        let answer = try await call(
            Self.root, Self.serviceInterface, "OpenSession",
            [.string(Self.algorithm), .variant(.bytes(exchange.publicKey))], [Self.notSupported: .unencrypted])
        guard let key = answer.first?.byteList, let path = answer.dropFirst().first?.objectPath,
            let cipher = try exchange.cipher(with: key)
        else { throw Self.malformed("it opened no session") }
        state.withLock { ($0.cipher, $0.path) = (cipher, path) }
    }

    /// Ends the session and the connection.
    func close() {
        endQuestions()
        // The handler of an event may be the caller, and a connection cannot end its own thread.
        DispatchQueue.global().async { [bus] in bus.close() }
    }

    // MARK: Keys

    /// Creates an item in the default collection, which is created if there is none.
    func create(_ key: SecretKey, _ name: KeyringName) async throws(ProtectionError) {
        let known = try await defaultCollection()
        let collection = if let known { known } else { try await createdCollection() }
        try await unlock([collection])
        let (cipher, session) = try current()
        let sealed = try cipher.seal(key)
        let properties: [String: BusValue] = [
            Self.itemInterface + ".Label": .string(name.label),
            Self.itemInterface + ".Attributes": .texts(name.ownAttributes),
        ]
        let secret: BusValue = .structure([
            .object(session), .bytes(sealed.parameters), .bytes(sealed.value), .string("text/plain"),
        ])
        let answer = try await call(
            collection, Self.collectionInterface, "CreateItem", [.dictionary(properties), secret, .boolean(true)])
        guard let item = answer.first?.objectPath, let prompt = answer.dropFirst().first?.objectPath else {
            throw Self.malformed("it created no item")
        }
        if item == Self.noPrompt { _ = try await ask(prompt) }
    }

    /// Returns the keys with a name, and unlocks the collection for that.
    func keys(_ name: KeyringName) async throws(ProtectionError) -> [SecretKey] {
        var items = try await search(name.attributes)
        if items.unlocked.isEmpty {
            // Some keyrings find nothing while they are locked.
            var closed = Array(items.locked.prefix(SecretService.maximumKeys))
            if closed.isEmpty, let collection = try await defaultCollection() { closed = [collection] }
            if !closed.isEmpty {
                try await unlock(closed)
                items = try await search(name.attributes)
                guard items.locked.isEmpty || !items.unlocked.isEmpty else { throw .keyring(.dismissed) }
            }
        }
        return try await secrets(of: items.unlocked.prefix(SecretService.maximumKeys))
    }

    /// Returns the keys of items. An item that the keyring cannot read, perhaps one of another
    /// program, does not hide the others.
    ///
    /// - Throws: The first error, if no item has a key.
    private func secrets(of items: ArraySlice<String>) async throws(ProtectionError) -> [SecretKey] {
        var keys: [SecretKey] = []
        var problem: ProtectionError?
        for item in items {
            do throws(ProtectionError) { if let key = try await secret(of: item) { keys.append(key) } } catch {
                problem = problem ?? error
                switch error {
                case .keyring(.refused), .keyring(.malformed): break
                // A keyring that does not answer now would not answer about the others either.
                default:
                    guard !keys.isEmpty else { throw error }
                    return keys
                }
            }
        }
        if keys.isEmpty, let problem { throw problem }
        return keys
    }

    private func secret(of item: String) async throws(ProtectionError) -> SecretKey? {
        let (cipher, session) = try current()
        let fields = try await call(item, Self.itemInterface, "GetSecret", [.object(session)]).first?.members ?? []
        guard fields.count == 4, fields[0].text == session, let parameters = fields[1].byteList,
            let value = fields[2].byteList
        else { throw Self.malformed("an item has no secret") }
        return try cipher.open(.init(parameters: parameters, value: value))
    }

    /// Removes the items with a name that were kept for its folder.
    ///
    /// - Returns: `true` if none with the name is left.
    func remove(_ name: KeyringName) async throws(ProtectionError) -> Bool {
        for item in try await search(name.ownAttributes).unlocked.prefix(SecretService.maximumKeys) {
            // A question for a mere cleaning is left unanswered.
            _ = try await call(item, Self.itemInterface, "Delete", [])
        }
        let left = try await search(name.attributes)
        return left.unlocked.isEmpty && left.locked.isEmpty
    }

    private func search(
        _ attributes: [String: String]
    ) async throws(ProtectionError) -> (unlocked: [String], locked: [String]) {
        let answer = try await call(Self.root, Self.serviceInterface, "SearchItems", [.texts(attributes)])
        guard answer.count == 2 else { throw Self.malformed("it found no lists of items") }
        let lists = answer.map { $0.members.compactMap(\.objectPath) }
        return (lists[0], lists[1])
    }

    /// The collection for new keys; `nil` if the keyring has none.
    private func defaultCollection() async throws(ProtectionError) -> String? {
        let answer = try await call(Self.root, Self.serviceInterface, "ReadAlias", [.string("default")])
        guard let path = answer.first?.objectPath else { throw Self.malformed("it named no default collection") }
        return path == Self.noPrompt ? nil : path
    }

    private func createdCollection() async throws(ProtectionError) -> String {
        let properties: [String: BusValue] = [Self.collectionInterface + ".Label": .string("Default")]
        let answer = try await call(
            Self.root, Self.serviceInterface, "CreateCollection", [.dictionary(properties), .string("default")])
        guard let path = answer.first?.objectPath, let prompt = answer.dropFirst().first?.objectPath else {
            throw Self.malformed("it created no collection")
        }
        if path != Self.noPrompt { return path }
        guard let made = try await ask(prompt)?.objectPath else { throw Self.malformed("it created no collection") }
        return made
    }

    private func unlock(_ objects: [String]) async throws(ProtectionError) {
        let answer = try await call(Self.root, Self.serviceInterface, "Unlock", [.objects(objects)])
        guard answer.count == 2, let prompt = answer[1].objectPath else {
            throw Self.malformed("it did not say what it unlocked")
        }
        if prompt != Self.noPrompt { _ = try await ask(prompt) }
    }

    // MARK: Calls

    private func current() throws(ProtectionError) -> (SessionCipher, String) {
        let (cipher, path) = state.withLock { ($0.cipher, $0.path) }
        guard let cipher else { throw Self.malformed("it opened no session") }
        return (cipher, path)
    }

    /// Calls a method.
    ///
    /// - Parameter problems: The problem for an error with a certain name.
    private func call(
        _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue],
        _ problems: [String: KeyringProblem] = [:]
    ) async throws(ProtectionError) -> [ForeignValue] {
        switch await service.answer(
            path, BusMember(interface, method), arguments, within: limits.answer, on: clock)
        {
        case .success(let values): return values
        case .failure(.remote(let name, let message)):
            throw .keyring(problems[name] ?? .refused(String((message.isEmpty ? name : message).prefix(500))))
        case .failure(.disconnected): throw .keyring(.unavailable("it ended."))
        case .failure(let error): throw .keyring(.refused(String(error.description.prefix(500))))
        case nil: throw timeOut(limits.answer)
        }
    }

    /// Shows a question of the keyring, and waits for the user.
    private func ask(_ prompt: String) async throws(ProtectionError) -> ForeignValue? {
        guard prompt.hasPrefix(Self.root) else { throw Self.malformed("its question has the path \(prompt)") }
        let question = Question()
        state.withLock { $0.questions[prompt] = question }
        defer { state.withLock { $0.questions[prompt] = nil } }
        // The user has no window of this program.
        _ = try await call(prompt, Self.promptInterface, "Prompt", [.string("")])
        switch await question.value(within: limits.question, on: clock) {
        case .success(let value): return value
        case .failure(let problem): throw .keyring(problem)
        case nil:
            service.call(prompt, BusMember(Self.promptInterface, "Dismiss")) { _ in }
            throw timeOut(limits.question)
        }
    }

    private func receive(_ signal: BusSignal) {
        guard signal.member == Self.completed, let isDismissed = signal.arguments.first?.boolean else { return }
        let question = state.withLock { $0.questions[signal.path] }
        question?.deliver(isDismissed ? .failure(.dismissed) : .success(signal.arguments.dropFirst().first))
    }

    private func endQuestions() {
        for question in state.withLock({ Array($0.questions.values) }) {
            question.deliver(.failure(.unavailable("it ended.")))
        }
    }

    private func timeOut(_ time: Duration) -> ProtectionError {
        Task.isCancelled ? .keyring(.dismissed) : .keyring(.timedOut(seconds: Int(time.components.seconds)))
    }

    private static func malformed(_ detail: String) -> ProtectionError { .keyring(.malformed(detail)) }
}

extension ForeignValue {
    /// The bytes of an array of bytes; `nil` for other types.
    fileprivate var byteList: [UInt8]? {
        guard case .list(let members) = self else { return nil }
        let bytes = members.compactMap { $0.unsigned.flatMap(UInt8.init(exactly:)) }
        return bytes.count == members.count ? bytes : nil
    }

    /// The path of an object; `nil` for other types and overlong paths.
    fileprivate var objectPath: String? {
        text.flatMap { $0.hasPrefix("/") && $0.utf8.count <= 512 ? $0 : nil }
    }
}

extension SecretKey {
    /// Compares two keys in constant time.
    func isSame(as other: SecretKey) throws(ProtectionError) -> Bool {
        try use { (bytes: UnsafePointer<UInt8>) throws(ProtectionError) in
            try other.use { (others: UnsafePointer<UInt8>) throws(ProtectionError) in
                sodium_memcmp(bytes, others, Self.byteCount) == 0
            }
        }
    }
}
