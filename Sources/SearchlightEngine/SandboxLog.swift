// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// What extensions tried and were refused, and what confined them last; kept in a file of the store, so that it outlives
/// workers and is seen by other processes.
///
/// Several processes may add to the file; each holds it locked while it reads, adds and replaces it, so that whoever reads
/// finds it whole. It is for telling only: one that cannot be read is begun anew, and one that cannot be written is done
/// without.
final class SandboxLog: Sendable {
    /// How much is kept of each bundle, and of how many bundles; what is oldest goes first.
    static let maximumRefusals = 96
    static let maximumBundles = 256
    /// A larger file is begun anew, in bytes.
    static let maximumBytes = 16 << 20

    private struct State {
        /// What was not written yet.
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

    /// Takes what an event says of the sandbox. What an extension tries is told seldom, so it is written at once.
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

    /// Notes which extensions there are from now on.
    func meet(_ registry: ExtensionRegistry) {
        let present = registry.extensions.map { ($0.identifier, $0.fingerprint) }
        state.withLock { $0.present = Dictionary(present) { first, _ in first } }
    }

    /// What is known of the extensions. What one did before it was replaced is left out: it says nothing of what is there
    /// now, and should that do it too, it is told again.
    func history() -> SandboxHistory {
        // Under the lock, so that nothing is on its way from the one to the other.
        state.withLock { state in
            var history = Self.read(file)
            history.add(state.pending)
            history.bundles = history.bundles.filter { name, bundle in
                state.present[name].map { $0 == bundle.fingerprint } ?? true
            }
            return history
        }
    }

    /// Writes what was not written yet.
    func save() {
        state.withLock { state in
            guard !state.pending.bundles.isEmpty else { return }
            guard let lock = lockedFile() ?? lockedFile() else { return }
            // Where the file was not replaced, closing it alone would not do: a process that is being started at this moment
            // shares it.
            defer { withExtendedLifetime(lock) { _ = flock(lock.number, LOCK_UN) } }
            var history = Self.read(file)
            history.add(state.pending)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            // Not synchronized: a crash may cost what was told last.
            guard let data = try? encoder.encode(history),
                (try? file.replace(with: data, isSynchronized: false)) != nil
            else { return }
            state.pending = SandboxHistory()
        }
    }

    /// The file that is there, locked for this process; `nil` if another has it. The others hold it for a moment only; who
    /// was stopped meanwhile must not stop this one.
    private func lockedFile() -> OwnedDescriptor? {
        guard let descriptor = try? OwnFile.open(path, O_RDWR | O_CREAT) else { return nil }
        let number = descriptor.number
        var (held, present) = (stat(), stat())
        // Somebody may have replaced it since it was opened; then the lock would be one of nothing.
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

/// What is known of the sandbox of each bundle.
package struct SandboxHistory: Hashable, Sendable, Codable {
    /// What an extension tried, and when.
    package struct Entry: Hashable, Sendable, Codable {
        /// What, and how often.
        package var refusal: SandboxRefusal
        /// The first time, in seconds since 2001-01-01 UTC.
        package var first: Double
        /// The last time.
        package var last: Double
    }
    /// One bundle's.
    package struct Bundle: Hashable, Sendable, Codable {
        /// What confined its last worker; `nil` if that is not known.
        package var report: SandboxReport?
        /// What it tried, the newest last.
        package var refusals: [Entry] = []
        /// The state of the bundle that all this is about.
        package var fingerprint: ExtensionBundle.Fingerprint?
    }
    /// By bundle.
    package var bundles: [String: Bundle] = [:]

    mutating func note(_ report: SandboxReport, of bundle: String, _ fingerprint: ExtensionBundle.Fingerprint?) {
        change(bundle, fingerprint) { $0.note(report) }
    }

    mutating func note(
        _ refusal: SandboxRefusal, of bundle: String, _ fingerprint: ExtensionBundle.Fingerprint?, at moment: Double
    ) {
        change(bundle, fingerprint) { $0.add(Entry(refusal: refusal, first: moment, last: moment)) }
    }

    /// Changes what is known of a state of a bundle, which takes the place of what is known of another one.
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

    /// At most what is kept: the bundles that were heard of last.
    func bounded() -> SandboxHistory {
        guard bundles.count > SandboxLog.maximumBundles else { return self }
        let newest = bundles.sorted { ($0.value.refusals.last?.last ?? 0) > ($1.value.refusals.last?.last ?? 0) }
        var history = SandboxHistory()
        for (name, bundle) in newest.prefix(SandboxLog.maximumBundles) { history.bundles[name] = bundle }
        return history
    }
}

extension SandboxHistory.Bundle {
    /// Notes what confined the last worker. What its last background worker yields by stays, for most have nothing to say of
    /// it.
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

/// The sandbox as `status` tells of it.
package struct SandboxStatus: Hashable, Sendable, Codable {
    /// Whether workers are confined at all.
    package var isEnforced: Bool
    /// What this kernel lacks of what there is.
    package var missing: SandboxProtections
    /// The revision of the kernel's Landlock; 0 for none.
    package var landlockRevision: Int
    /// What is known of each bundle.
    package var history: SandboxHistory
}
