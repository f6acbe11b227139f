// SPDX-License-Identifier: Apache-2.0

/// Names that something happened to, until nothing more happens to them for a moment.
struct SettlingPaths {
    /// How something that happened is to be waited for.
    enum Happening: Hashable {
        /// The name came, went, or was closed after it was written.
        case done
        /// It is being written.
        case writing
        /// It is to be looked at again after a time.
        case later(Duration)
    }

    /// A folder and a name in it; `nil` is the folder with all that is in it.
    private struct Place: Hashable {
        var folder: Int64
        var name: EntryName?
    }
    private struct Wait {
        var first: ContinuousClock.Instant
        var due: ContinuousClock.Instant
        /// The other name of a file that was moved: both are due together.
        var other: Place?
    }
    /// The old names of files that were moved, until the new one is told.
    private var moved: [UInt32: Place] = [:]
    private var waits: [Place: Wait] = [:]
    private var names: [Int64: Int] = [:]

    /// How long a name must be left alone.
    static let quiet = Duration.milliseconds(100)
    /// How long a name that is being written must be left alone.
    static let quietWhileWriting = Duration.seconds(1)
    /// How long a name waits at most; of a file that is written all the time there is a new state so often.
    static let patience = Duration.seconds(10)
    /// The most names of one folder; beyond that all of it is looked at.
    static let maximumNames = 256
    /// The most places; beyond that everything is looked at.
    static let maximumPlaces = 8192

    /// Whether there were too many, so that everything has to be compared.
    private(set) var hasOverflowed = false

    /// Notes that something happened.
    ///
    /// - Parameter cookie: The same for both names of a file that was moved; 0 for others.
    mutating func note(
        _ happening: Happening, _ name: EntryName?, in folder: Int64, at now: ContinuousClock.Instant,
        cookie: UInt32 = 0
    ) {
        guard !hasOverflowed else { return }
        var place = Place(folder: folder, name: name)
        if name != nil, waits[Place(folder: folder, name: nil)] != nil { place.name = nil }
        if place.name != nil, waits[place] == nil {
            let count = names[folder, default: 0] + 1
            if count > Self.maximumNames {
                waits = waits.filter { $0.key.folder != folder }
                names[folder] = nil
                place.name = nil
            } else {
                names[folder] = count
            }
        }
        let first = waits[place]?.first ?? now
        let quiet =
            switch happening {
            case .done: Self.quiet
            case .writing: Self.quietWhileWriting
            case .later(let time): time
            }
        let latest = if case .later = happening { now + quiet } else { first + Self.patience }
        waits[place] = Wait(first: first, due: min(now + quiet, latest), other: waits[place]?.other)
        if cookie != 0 { pair(place, cookie) }
        if waits.count > Self.maximumPlaces { overflow() }
    }

    private mutating func pair(_ place: Place, _ cookie: UInt32) {
        guard let other = moved.removeValue(forKey: cookie), other != place, waits[other] != nil else {
            if moved.count >= Self.maximumNames { moved = [:] }
            moved[cookie] = place
            return
        }
        waits[place]?.other = other
        waits[other]?.other = place
    }

    private func due(_ wait: Wait) -> ContinuousClock.Instant {
        guard let other = wait.other, let second = waits[other] else { return wait.due }
        return max(wait.due, second.due)
    }

    /// Whether nothing waits.
    var isEmpty: Bool { waits.isEmpty && !hasOverflowed }

    /// Notes that it is not known what happened.
    mutating func overflow() {
        self = SettlingPaths()
        hasOverflowed = true
    }

    /// When the next name is due; `nil` if there is none.
    var nextDue: ContinuousClock.Instant? { waits.values.lazy.map { due($0) }.min() }

    /// Takes what is due: the names of each folder, `nil` for all that is in it. What belongs together, as the two names of a
    /// file that is renamed, is due together.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [Int64: Set<EntryName>?] {
        var due: [Int64: Set<EntryName>?] = [:]
        for place in waits.filter({ self.due($0.value) <= now }).keys {
            waits[place] = nil
            guard let name = place.name else {
                due[place.folder] = .some(nil)
                continue
            }
            names[place.folder, default: 1] -= 1
            if names[place.folder] == 0 { names[place.folder] = nil }
            if case .some(.none) = due[place.folder] { continue }
            due[place.folder] = .some((due[place.folder] ?? []).map { $0.union([name]) } ?? [name])
        }
        if waits.isEmpty { moved = [:] }
        return due
    }
}
