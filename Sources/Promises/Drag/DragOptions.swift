// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How a drag is carried out.
public struct DragOptions: Sendable {
    /// How long a provider may take to answer in all. Hosts have shorter limits of their own; this one ends the wait for
    /// a host that has none, after both of its attempts.
    public static let standardAnswerLimit = Duration.seconds(150)

    /// How long a provider may take to answer.
    public var answerLimit: Duration
    /// How what it gave is delivered; the control is the session's.
    public var delivery: DeliveryOptions
    /// Beyond so many bytes in all somebody is asked; `nil` asks nobody.
    public var consentLimit: UInt64?
    /// Asked once whether so many bytes, more than the limit, are wanted; gives back why not, or `nil` if they are.
    public var consent: @Sendable (_ bytes: UInt64, _ limit: UInt64) async -> DragFailure?
    /// Numbers for files in the making.
    public var token: @Sendable () -> UInt64
    /// What time is measured with.
    public var clock: any Clock<Duration>

    /// Creates options; without arguments the standard ones, which ask nobody for consent.
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

/// Where something dragged goes.
public enum DropTarget: Hashable, Sendable {
    /// It is copied there.
    case deliver(Destination)
    /// Nowhere: the original is opened where it is, and its path told.
    case inPlace

    /// Whether nothing is there of a delivery that failed, so that it may be made once more.
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

/// Where the original of an item is.
struct InPlaceFile {
    let path: String
    let bytes: UInt64
    let isWritable: Bool
    /// The SHA-256 of a file, if it was wanted.
    let digest: [UInt8]?

    /// - Throws: ``PromiseError``: of what is no file, or a file that has no name (any more).
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
        // A name that leads elsewhere, or nowhere, is none.
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
        // Of as many bytes as were read: somebody may be writing to it.
        bytes = try source.read(limit: .max, for: path) { part in
            running.add(part)
            options.control?.moved(UInt64(part.count))
        }
        digest = running.finish()
    }
}
