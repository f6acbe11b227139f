// SPDX-License-Identifier: Apache-2.0
import CFiles
import Synchronization
import SystemSupport

/// A handle with which other threads can cancel a delivery and follow its progress.
public final class DeliveryControl: Sendable {
    private let cancelled = Atomic(false)
    /// Wakes up waiting threads. `nil` if the process has no free descriptors; a wait then lasts
    /// until its limit.
    private let flag: OwnedDescriptor?
    private let onBytes: @Sendable (UInt64) -> Void

    /// Creates a control for one or more deliveries.
    ///
    /// - Parameter onBytes: Called often with the number of further bytes that have arrived, on the
    ///   delivery's thread. Must not block.
    public init(onBytes: @escaping @Sendable (UInt64) -> Void = { _ in }) {
        let number = cfiles_flag()
        flag = number >= 0 ? OwnedDescriptor(adopting: number) : nil
        self.onBytes = onBytes
    }

    /// Cancels the delivery: a wait ends at once, a copy ends after the current piece. May be
    /// called at any time.
    public func cancel() {
        cancelled.store(true, ordering: .releasing)
        if let flag { cfiles_raise(flag.number) }
    }

    /// `true` if the delivery was cancelled.
    public var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    var wakeUpNumber: Int32 { flag?.number ?? -1 }

    func moved(_ bytes: UInt64) { onBytes(bytes) }
}

/// The options of a delivery.
public struct DeliveryOptions: Sendable {
    /// The time limits.
    public var limits: DeliveryLimits
    /// The size limits of a folder.
    public var tree: TreeLimits
    /// The handle for cancellation and progress.
    public var control: DeliveryControl?
    /// `true` to compute the digest. A file is then read instead of cloned.
    public var wantsDigest: Bool
    /// The streams that several deliveries share.
    var streams: OpenStreams?

    /// Creates options with the standard values by default.
    public init(
        limits: DeliveryLimits = DeliveryLimits(), tree: TreeLimits = TreeLimits(), control: DeliveryControl? = nil,
        wantsDigest: Bool = false
    ) {
        self.limits = limits
        self.tree = tree
        self.control = control
        self.wantsDigest = wantsDigest
    }
}

/// The report of a delivery.
public struct DeliveryReport: Hashable, Sendable {
    /// The number of bytes; for a folder, the total of all its files.
    public var bytes: UInt64
    /// The path of the file or folder, if there is one.
    public var path: String?
    /// The SHA-256 of the bytes, if it was requested and the content is not a folder.
    public var digest: [UInt8]?
}
