// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The options of a drag.
public struct DragOptions: Sendable {
    /// The standard time limit for a provider's answer. Hosts have shorter limits. This limit ends
    /// the wait for a host without one, after both of its attempts.
    public static let standardAnswerLimit = Duration.seconds(150)

    /// The time limit for a provider's answer.
    public var answerLimit: Duration
    /// The delivery options. The session sets the control.
    public var delivery: DeliveryOptions
    /// The total number of bytes above which ``consent`` is called; `nil` to never call it.
    public var consentLimit: UInt64?
    /// Called once with a number of bytes above the limit. Returns the failure if the user
    /// declines, otherwise `nil`.
    public var consent: @Sendable (_ bytes: UInt64, _ limit: UInt64) async -> DragFailure?
    /// Returns a number for a staging file.
    public var token: @Sendable () -> UInt64
    /// The clock that measures time limits.
    public var clock: any Clock<Duration>

    /// Creates options with the standard values by default, which never ask for consent.
    public init(
        answerLimit: Duration = Self.standardAnswerLimit, delivery: DeliveryOptions = DeliveryOptions(),
        consentLimit: UInt64? = nil,
        consent: @escaping @Sendable (_ bytes: UInt64, _ limit: UInt64) async -> DragFailure? = { _, _ in nil },
        token: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.answerLimit = answerLimit
        self.delivery = delivery
        self.consentLimit = consentLimit
        self.consent = consent
        self.token = token
        self.clock = clock
    }
}

/// The target of a dragged item.
public enum DropTarget: Hashable, Sendable {
    /// A copy to a destination.
    case deliver(Destination)
    /// No copy: the original is opened in place, and its path is reported.
    case inPlace

    /// `true` if a failed delivery leaves nothing behind, so that it can be repeated.
    var isWhole: Bool {
        switch self {
        case .inPlace, .deliver(.folder): return true
        case .deliver(.stream): return false
        case .deliver(.file(let path)):
            var status = stat()
            return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        }
    }
}

/// The location of an item's original.
struct InPlaceFile {
    let path: String
    let bytes: UInt64
    let isWritable: Bool
    /// The SHA-256 of a file, if it was requested.
    let digest: [UInt8]?

    /// Determines the location of a provider's file.
    ///
    /// - Throws: ``PromiseError`` if the content is not a file, or the file no longer has a name.
    init(_ content: PromisedContent, options: DeliveryOptions = DeliveryOptions()) throws(PromiseError) {
        guard case .file(let file) = content else {
            throw .inputOutput(operation: "Finding", path: "the original", code: ENOENT)
        }
        let status = try SingleDelivery.status(of: file)
        var named = stat()
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(file.descriptor.number)", &buffer, buffer.count)
        guard count > 0 else { throw .inputOutput(operation: "Finding", path: file.name, code: errno) }
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        // A name that leads to a different file, or to none, is not accepted.
        guard path.hasPrefix("/"), stat(path, &named) == 0, named.st_ino == status.st_ino,
            named.st_dev == status.st_dev
        else { throw .inputOutput(operation: "Finding", path: file.name, code: ENOENT) }
        self.path = path
        isWritable = access(path, W_OK) == 0
        let isFile = status.st_mode & S_IFMT == S_IFREG
        guard isFile, options.wantsDigest else {
            bytes = isFile ? UInt64(max(0, status.st_size)) : 0
            digest = nil
            return
        }
        let running = try RunningDigest()
        let pace = Pace(options.limits, control: options.control, isBounded: false)
        var source = ByteSource(file: file.descriptor.number, pace: pace)
        // Uses the number of bytes that were read, because another process may be writing to the
        // file.
        bytes = try source.read(limit: .max, for: path) { part in
            running.add(part)
            options.control?.moved(UInt64(part.count))
        }
        digest = running.finish()
    }
}
