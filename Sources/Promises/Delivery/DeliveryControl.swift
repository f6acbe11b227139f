// SPDX-License-Identifier: Apache-2.0
import CFiles
import Synchronization
import SystemSupport

/// Holds the reins of a delivery from another thread: ends it, and hears how far it has come.
public final class DeliveryControl: Sendable {
    private let cancelled = Atomic(false)
    /// Wakes whoever waits; `nil` if the process has no descriptors left, when a wait lasts until its limit.
    private let flag: OwnedDescriptor?
    private let onBytes: @Sendable (UInt64) -> Void

    /// Creates a control, for one delivery or several.
    ///
    /// - Parameter onBytes: Told how many bytes more have arrived; often, on the thread of the delivery. Must not block.
    public init(onBytes: @escaping @Sendable (UInt64) -> Void = { _ in }) {
        let number = cfiles_flag()
        flag = number >= 0 ? OwnedDescriptor(adopting: number) : nil
        self.onBytes = onBytes
    }

    /// Ends the delivery as soon as can be: a wait at once, a copy between two pieces. May be called at any time.
    public func cancel() {
        cancelled.store(true, ordering: .releasing)
        if let flag { cfiles_raise(flag.number) }
    }

    /// Whether it was ended.
    public var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    var wakeUpNumber: Int32 { flag?.number ?? -1 }

    func moved(_ bytes: UInt64) { onBytes(bytes) }
}

/// How something is delivered.
public struct DeliveryOptions: Sendable {
    /// How long it may take.
    public var limits: DeliveryLimits
    /// How large a folder may be.
    public var tree: TreeLimits
    /// Ends it, and hears of it.
    public var control: DeliveryControl?
    /// Whether the digest is wanted; a file is then read through rather than cloned.
    public var wantsDigest: Bool
    /// The named pipes that several deliveries share.
    var streams: OpenStreams?

    /// Creates options; without arguments the standard ones.
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

/// What was delivered.
public struct DeliveryReport: Hashable, Sendable {
    /// How many bytes; of a folder those of its files.
    public var bytes: UInt64
    /// Where they are, if that is a file or a folder.
    public var path: String?
    /// The SHA-256 of the bytes, if it was wanted and this is no folder.
    public var digest: [UInt8]?
}
