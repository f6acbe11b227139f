// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The last sandbox report of each extension, and the accesses that the sandbox denied. They are
/// stored in a file in the store, so that they persist when workers exit, and other processes can
/// read them.
///
/// Several processes may add to the file. Each locks it while it reads, merges and replaces it, so
/// that readers always find a complete file. The file is informational: an unreadable file is
/// replaced by an empty one, and a failed write is ignored.
final class SandboxLog: Sendable {
    /// The maximum number of denied accesses for each bundle, and the maximum number of bundles.
    /// The oldest are dropped first.
    static let maximumRefusals = 96
    static let maximumBundles = 256
    /// The maximum size of the file in bytes. A larger file is replaced by an empty one.
    static let maximumBytes = 16 << 20

    private struct State {
        /// The entries that have not been written yet.
        var pending = SandboxHistory()
        var present: [String: ExtensionBundle.Fingerprint] = [:]
    }
    private let state = Mutex(State())
    private let directory: String
    private let now: @Sendable () -> Double

    init(directory: String, now: @escaping @Sendable () -> Double) {
        self.directory = directory
        self.now = now
    }

    private var path: String { directory + "/sandbox.json" }
    private var file: StoreFile { StoreFile(path: path, maximumBytes: Self.maximumBytes) }

    /// Records the sandbox facts in an event. Denied accesses are rare, so they are written
    /// immediately.
    func take(_ event: ExtensionEvent) {
        let isRefusal = state.withLock { state in
            switch event {
            case .confined(let bundle, let report):
                state.pending.note(report, of: bundle, state.present[bundle])
                return false
            case .refusal(let bundle, let refusal):
                state.pending.note(refusal, of: bundle, state.present[bundle], at: now())
                return true
            default: return false
            }
        }
        if isRefusal { save() }
    }

    /// Sets the installed extensions.
    func meet(_ registry: ExtensionRegistry) {
        let present = registry.extensions.map { ($0.identifier, $0.fingerprint) }
        state.withLock { $0.present = Dictionary(present) { first, _ in first } }
    }

    /// Returns the history of the installed extensions. Entries for an earlier version of a bundle
    /// are omitted: they do not describe the current version, which reports its own denied
    /// accesses.
    func history() -> SandboxHistory {
        // The lock keeps `save()` from moving entries from memory to the file between the two
        // reads.
        state.withLock { state in
            var history = Self.read(file)
            history.add(state.pending)
            history.bundles = history.bundles.filter { name, bundle in
                state.present[name].map { $0 == bundle.fingerprint } ?? true
            }
            return history
        }
    }

    /// Writes the pending entries.
    func save() {
        state.withLock { state in
            guard !state.pending.bundles.isEmpty else { return }
            guard let lock = lockedFile() ?? lockedFile() else { return }
            // Unlocks explicitly. If the file was not replaced, closing the descriptor is not
            // enough: a child process between fork and exec shares the lock.
            defer { withExtendedLifetime(lock) { _ = flock(lock.number, LOCK_UN) } }
            var history = Self.read(file)
            history.add(state.pending)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            // Written without fsync: a crash may lose the last entries.
            guard let data = try? encoder.encode(history),
                (try? file.replace(with: data, isSynchronized: false)) != nil
            else { return }
            state.pending = SandboxHistory()
        }
    }

    /// Opens and locks the current file; `nil` if another process holds the lock. The attempt does
    /// not block, so that a stopped process cannot block this one.
    private func lockedFile() -> OwnedDescriptor? {
        guard let descriptor = try? OwnFile.open(path, O_RDWR | O_CREAT) else { return nil }
        let number = descriptor.number
        var (held, present) = (stat(), stat())
        // Another process may have replaced the file after it was opened. The lock would then be on
        // an unlinked file.
        guard flock(number, LOCK_EX | LOCK_NB) == 0, fstat(number, &held) == 0, stat(path, &present) == 0,
            held.st_ino == present.st_ino, held.st_dev == present.st_dev
        else { return nil }
        return descriptor
    }

    private static func read(_ file: StoreFile) -> SandboxHistory {
        guard case .bytes(let data) = file.read(),
            let history = try? JSONDecoder().decode(SandboxHistory.self, from: data)
        else { return SandboxHistory() }
        return history.bounded()
    }
}

/// The sandbox history of each bundle.
package struct SandboxHistory: Hashable, Sendable, Codable {
    /// A denied access, with the times of its first and last occurrence.
    package struct Entry: Hashable, Sendable, Codable {
        /// The denied access and its count.
        package var refusal: SandboxRefusal
        /// The time of the first occurrence, in seconds since 2001-01-01 UTC.
        package var first: Double
        /// The time of the last occurrence, in seconds since 2001-01-01 UTC.
        package var last: Double
    }
    /// The history of one bundle.
    package struct Bundle: Hashable, Sendable, Codable {
        /// The protections of its last worker; `nil` if unknown.
        package var report: SandboxReport?
        /// The denied accesses, newest last.
        package var refusals: [Entry] = []
        /// The fingerprint of the bundle version that the entries describe.
        package var fingerprint: ExtensionBundle.Fingerprint?
    }
    /// The histories by bundle identifier.
    package var bundles: [String: Bundle] = [:]

    mutating func note(_ report: SandboxReport, of bundle: String, _ fingerprint: ExtensionBundle.Fingerprint?) {
        change(bundle, fingerprint) { $0.note(report) }
    }

    mutating func note(
        _ refusal: SandboxRefusal, of bundle: String, _ fingerprint: ExtensionBundle.Fingerprint?, at moment: Double
    ) {
        change(bundle, fingerprint) { $0.add(Entry(refusal: refusal, first: moment, last: moment)) }
    }

    /// Changes a bundle's history. If the fingerprint differs, the history of the earlier version
    /// is replaced.
    private mutating func change(
        _ name: String, _ fingerprint: ExtensionBundle.Fingerprint?, _ change: (inout Bundle) -> Void
    ) {
        var bundle = bundles[name] ?? Bundle()
        if bundle.fingerprint != fingerprint { bundle = Bundle(fingerprint: fingerprint) }
        change(&bundle)
        bundles[name] = bundle
    }

    mutating func add(_ other: SandboxHistory) {
        for (name, newer) in other.bundles {
            change(name, newer.fingerprint) { bundle in
                if let report = newer.report { bundle.note(report) }
                for entry in newer.refusals { bundle.add(entry) }
            }
        }
        self = bounded()
    }

    /// Returns the history, truncated to the bundles with the most recent denied accesses.
    func bounded() -> SandboxHistory {
        guard bundles.count > SandboxLog.maximumBundles else { return self }
        let newest = bundles.sorted { ($0.value.refusals.last?.last ?? 0) > ($1.value.refusals.last?.last ?? 0) }
        var history = SandboxHistory()
        for (name, bundle) in newest.prefix(SandboxLog.maximumBundles) { history.bundles[name] = bundle }
        return history
    }
}

extension SandboxHistory.Bundle {
    /// Records the last worker's report. Most workers report no background measures, so the last
    /// known measures are kept.
    fileprivate mutating func note(_ new: SandboxReport) {
        let known = report
        report = new
        guard new.background == nil else { return }
        report?.background = known?.background
        report?.backgroundMissing = known?.backgroundMissing
    }

    fileprivate mutating func add(_ entry: SandboxHistory.Entry) {
        var entry = entry
        if let place = refusals.firstIndex(where: {
            $0.refusal.kind == entry.refusal.kind && $0.refusal.detail == entry.refusal.detail
        }) {
            let known = refusals.remove(at: place)
            entry.refusal.count = known.refusal.count.addingReportingOverflow(entry.refusal.count).partialValue
            entry.first = min(known.first, entry.first)
            entry.last = max(known.last, entry.last)
        }
        refusals = (refusals + [entry]).suffix(SandboxLog.maximumRefusals)
    }
}

/// The sandbox part of `status`.
package struct SandboxStatus: Hashable, Sendable, Codable {
    /// `true` if workers are sandboxed.
    package var isEnforced: Bool
    /// The protections that this kernel does not support.
    package var missing: SandboxProtections
    /// The Landlock ABI version of the kernel; 0 if it has no Landlock.
    package var landlockRevision: Int
    /// The sandbox history of each bundle.
    package var history: SandboxHistory
}
