// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

extension Conditions {
    /// Returns the conditions to record, without small changes that affect no decision.
    ///
    /// Loads and pressures are rounded to hundredths, and change by at least two hundredths. Free
    /// disk space is rounded to 64 MiB, and times to seconds. The length of names is limited.
    ///
    /// - Parameter old: The last recorded conditions.
    public func settled(since old: Conditions) -> Conditions {
        var settled = self
        settled.otherLoad = Self.share(otherLoad, since: old.otherLoad)
        settled.pressure.cpu = Self.share(pressure.cpu, since: old.pressure.cpu)
        settled.pressure.io = Self.share(pressure.io, since: old.pressure.io)
        settled.pressure.memory = Self.share(pressure.memory, since: old.pressure.memory)
        settled.power?.percent = power?.percent?.finite?.rounded().clamped(to: 0...100)
        settled.freeDisk = freeDisk.map { ($0 >> 26) << 26 }
        settled.resumed = resumed?.finite?.rounded()
        if case .away(let since)? = presence {
            settled.presence = .away(since: (since.finite ?? 0).rounded())
            if case .away(let before)? = old.presence, abs(since - before) < 1 { settled.presence = old.presence }
        }
        settled.inhibitors = inhibitors.prefix(16).map { inhibitor in
            Inhibitor(who: inhibitor.who.kept, why: inhibitor.why.kept, isOwn: inhibitor.isOwn)
        }.sorted()
        return settled
    }

    private static func share(_ new: Double?, since old: Double?) -> Double? {
        guard let new = new?.finite.map({ ($0.clamped(to: 0...1) * 100).rounded() / 100 }) else { return nil }
        guard let old, new != 0, abs(new - old) < 0.015 else { return new }
        return old
    }
}

extension String {
    /// The text, truncated to the number of bytes that a trace accepts: a line contains up to
    /// sixteen inhibitors with two texts each.
    fileprivate var kept: String {
        var kept = String.UnicodeScalarView()
        var bytes = 0
        for scalar in unicodeScalars {
            bytes += String(scalar).utf8.count
            guard bytes <= 200 else { break }
            // A control character would be six bytes long in JSON.
            kept.append(scalar.value < 0x20 ? " " : scalar)
        }
        return String(kept)
    }
}
