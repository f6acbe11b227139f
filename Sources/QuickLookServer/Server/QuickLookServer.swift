// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import Synchronization
import SystemSupport

/// An error that prevents the page from being served.
package enum QuickLookError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server cannot listen on the port.
    case cannotListen(port: UInt16, reason: String)
    /// The kernel does not report a connection's user, so no connection can be admitted.
    case cannotIdentify(reason: String)
    /// The code expired before it was used, so no browser can be admitted.
    case notOpened(after: Duration)

    package var description: String {
        switch self {
        case .cannotListen(let port, let reason):
            port == 0
                ? "Listening on 127.0.0.1 failed: \(reason). Check that the loopback interface is up."
                : "Listening on 127.0.0.1:\(port) failed: \(reason). Choose another port, or leave --port out."
        case .cannotIdentify(let reason):
            """
            Serving the page failed: the kernel does not report the user of a connection (NETLINK_SOCK_DIAG: \(reason)). \
            Use a kernel with CONFIG_INET_DIAG, or allow this call.
            """
        case .notOpened(let limit):
            """
            Quick Look was not opened within \(limit.components.seconds) seconds, so its code has expired. Run \
            “searchlight quicklook” again.
            """
        }
    }
}

/// A Quick Look server for one browser of this user on this machine. It listens on 127.0.0.1;
/// ``PageLoop`` reads requests, and ``QuickLookRoutes`` replies to them.
package struct QuickLookServer: Sendable {
    /// The options for a server.
    package struct Options: Hashable, Sendable {
        /// The port; 0 for any free port.
        package var port: UInt16 = 0
        /// The time without requests after which the server exits; `nil` for never.
        package var idleExit: Duration?
        /// The initial text of the search field.
        package var query = ""
        /// The folders for the file that leads a browser to the page, in order of preference.
        package var handOverFolders: [String] = []
        /// The environment for apps that open items.
        package var environment: [String: String] = [:]

        package init(
            port: UInt16 = 0, idleExit: Duration? = nil, query: String = "", handOverFolders: [String] = [],
            environment: [String: String] = [:]
        ) {
            self.environment = environment
            self.port = port
            self.idleExit = idleExit
            self.query = query
            self.handOverFolders = handOverFolders
        }
    }

    /// The information with which a browser can open the page once.
    package struct Invitation: Sendable {
        /// The URL of the page that asks for the code, such as `http://127.0.0.1:4711/`. It is not
        /// secret.
        package let address: String
        /// The absolute path of a file that opens the page without asking for the code. The path is
        /// not secret; only this user can read the file. `nil` if it could not be created;
        /// ``fileProblem`` states the reason.
        package let file: String?
        /// The reason why there is no file; `nil` if there is one.
        package let fileProblem: String?
        /// The code. It is a secret: do not put it into arguments, environments, files or logs.
        package let code: String
        /// The lifetime of the file and the code.
        package let life: Duration
    }

    private let store: any EngineClient
    private let options: Options
    private let limits: PageLimits
    private let life: Duration
    private let log: @Sendable (String) -> Void

    /// Creates a server. It listens only when it runs.
    ///
    /// - Parameter log: Receives lines about connections that were closed unread, at most a few per
    ///   minute.
    package init(
        _ store: any EngineClient, options: Options = Options(), log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(store, options: options, limits: PageLimits(), log: log)
    }

    /// Creates a server with other limits.
    package init(
        _ store: any EngineClient, options: Options = Options(), limits: PageLimits,
        life: Duration = PageAccess.standardLife, log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.options = options
        self.limits = limits
        self.life = life
        self.log = log
    }

    /// Serves until its task is cancelled or the idle time has passed.
    ///
    /// - Parameter onReady: Receives the invitation when the server is listening.
    /// - Throws: ``QuickLookError``, or the error of `onReady`.
    package func run(onReady: @escaping @Sendable (Invitation) async throws -> Void) async throws {
        let check: KernelPeerCheck
        do { check = try KernelPeerCheck() } catch { throw QuickLookError.cannotIdentify(reason: error.reason) }
        let (listener, port) = try Self.listen(on: options.port)
        var random = SystemRandomNumberGenerator()
        let access = PageAccess(port: port, life: life, random: &random)
        let routes = QuickLookRoutes(
            store, access: access, query: options.query, environment: options.environment)
        let (file, problem) = handOver(access)
        defer { file?.remove() }
        let activity = Activity()
        let handlers = PageLoop.Handlers(
            admit: { routes.admit($0) },
            answer: { path, arguments in await routes.answer(granted: path, arguments) }, log: log,
            onWelcome: {
                file?.remove()
                activity.begin()
                activity.end()
            })
        let loop: PageLoop
        do {
            loop = try PageLoop(listener, limits: limits, check: check, activity: activity, handlers: handlers)
        } catch {
            throw QuickLookError.cannotListen(port: options.port, reason: "\(error)")
        }
        let invitation = Invitation(
            address: access.address, file: file?.path, fileProblem: problem, code: access.code, life: life)
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await loop.run() }
                group.addTask {
                    try await onReady(invitation)
                    try await activity.waitForIdle(options.idleExit)
                }
                group.addTask {
                    try await Task.sleep(for: life)
                    file?.remove()
                    guard access.isUsed else { throw QuickLookError.notOpened(after: life) }
                    while true { try await Task.sleep(for: .seconds(86400)) }
                }
                defer { group.cancelAll() }
                do { try await group.next() } catch  where Task.isCancelled {}
            }
        } onCancel: {
            file?.remove()
        }
    }

    private func handOver(_ access: PageAccess) -> (file: HandOverFile?, problem: String?) {
        guard !options.handOverFolders.isEmpty else { return (nil, nil) }
        do throws(HandOverFile.Problem) {
            return (
                try HandOverFile(in: options.handOverFolders, address: access.address, code: access.code), nil
            )
        } catch {
            return (nil, error.description)
        }
    }

    /// Returns a socket that listens on 127.0.0.1, and its port.
    package static func listen(on port: UInt16) throws(QuickLookError) -> (OwnedDescriptor, UInt16) {
        func failure() -> QuickLookError { .cannotListen(port: port, reason: String(cString: strerror(errno))) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_INET, type, 0)
        guard number >= 0 else { throw failure() }
        let listener = OwnedDescriptor(adopting: number)
        var isOn: Int32 = 1
        // Allows the port of a server that has just exited.
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) { place in
                bind(number, place.baseAddress, length) == 0 && Glibc.listen(number, SOMAXCONN) == 0
                    && getsockname(number, place.baseAddress, &length) == 0
            }
        }
        guard isListening else { throw failure() }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}
