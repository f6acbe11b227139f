// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import Synchronization
import SystemSupport

/// Why the page cannot be served.
package enum QuickLookError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing can be listened on.
    case cannotListen(port: UInt16, reason: String)
    /// The kernel does not say who connects, so that nobody can be let in.
    case cannotIdentify(reason: String)
    /// Nobody brought the code while it was taken, so that nobody can be let in any more.
    case notOpened(after: Duration)

    package var description: String {
        switch self {
        case .cannotListen(let port, let reason):
            port == 0
                ? "Listening on 127.0.0.1 failed: \(reason). Check that the loopback interface is up."
                : "Listening on 127.0.0.1:\(port) failed: \(reason). Name another port, or leave --port out."
        case .cannotIdentify(let reason):
            """
            Serving the page failed: the kernel does not say which user connects (NETLINK_SOCK_DIAG: \(reason)). Use a \
            kernel with CONFIG_INET_DIAG, or allow that call.
            """
        case .notOpened(let limit):
            """
            Nobody opened Quick Look within \(limit.components.seconds) seconds, so its code has expired. Run \
            “searchlight quicklook” again.
            """
        }
    }
}

/// Serves Quick Look to one browser of this user on this machine: listens on 127.0.0.1, and hands what ``PageLoop`` reads to
/// ``QuickLookRoutes``.
package struct QuickLookServer: Sendable {
    /// Where and for how long.
    package struct Options: Hashable, Sendable {
        /// The port; 0 is any that is free.
        package var port: UInt16 = 0
        /// Ends once nothing was asked for so long; `nil` never.
        package var idleExit: Duration?
        /// What stands in the search field at first.
        package var query = ""
        /// The folders in which a file may be made that leads a browser to the page, the best first.
        package var handOverFolders: [String] = []

        package init(
            port: UInt16 = 0, idleExit: Duration? = nil, query: String = "", handOverFolders: [String] = []
        ) {
            self.port = port
            self.idleExit = idleExit
            self.query = query
            self.handOverFolders = handOverFolders
        }
    }

    /// How a browser gets to the page, once.
    package struct Invitation: Sendable {
        /// The address of the page that asks for the code, such as `http://127.0.0.1:4711/`. No secret.
        package let address: String
        /// The absolute path of a file that leads a browser on without being asked. No secret; only this user can read the
        /// file. `nil` if none could be made, for which ``fileProblem`` is the reason.
        package let file: String?
        /// Why there is no file; `nil` if there is one.
        package let fileProblem: String?
        /// The code. A secret: not for arguments, environments, files or logs.
        package let code: String
        /// How long file and code are taken.
        package let life: Duration
    }

    private let store: any EngineClient
    private let options: Options
    private let limits: PageLimits
    private let life: Duration
    private let log: @Sendable (String) -> Void

    /// Creates a server. It listens once it runs.
    ///
    /// - Parameter log: Takes lines about connections that were closed unread, a few a minute at most.
    package init(
        _ store: any EngineClient, options: Options = Options(), log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(store, options: options, limits: PageLimits(), log: log)
    }

    /// Creates a server with other bounds.
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

    /// Serves until its task is cancelled or nobody has asked for long.
    ///
    /// - Parameter onReady: Told how a browser gets to the page.
    /// - Throws: ``QuickLookError``, or what `onReady` throws.
    package func run(onReady: @escaping @Sendable (Invitation) async throws -> Void) async throws {
        let check: KernelPeerCheck
        do { check = try KernelPeerCheck() } catch { throw QuickLookError.cannotIdentify(reason: error.reason) }
        let (listener, port) = try Self.listen(on: options.port)
        var random = SystemRandomNumberGenerator()
        let access = PageAccess(port: port, life: life, random: &random)
        let routes = QuickLookRoutes(store, access: access, query: options.query)
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

    /// A socket that listens on 127.0.0.1, and its port.
    package static func listen(on port: UInt16) throws(QuickLookError) -> (OwnedDescriptor, UInt16) {
        func failure() -> QuickLookError { .cannotListen(port: port, reason: String(cString: strerror(errno))) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_INET, type, 0)
        guard number >= 0 else { throw failure() }
        let listener = OwnedDescriptor(adopting: number)
        var isOn: Int32 = 1
        // The port of a server that has just ended may be had again.
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
