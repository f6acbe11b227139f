// SPDX-License-Identifier: Apache-2.0

/// A debouncer: holds the names that events reported until no further event follows for a short
/// time.
struct SettlingPaths {
    /// The kind of an event, which determines how long to wait.
    enum Happening: Hashable {
        /// The name appeared, disappeared, or was closed after writing.
        case done
        /// The file is being written.
        case writing
        /// The name must be checked again after a duration.
        case later(Duration)
    }

    /// A folder and a name in it; `nil` represents the whole folder.
    private struct Place: Hashable {
        var folder: Int64
        var name: EntryName?
    }
    private struct Wait {
        var first: ContinuousClock.Instant
        var due: ContinuousClock.Instant
        /// The other name of a moved file. Both names become due together.
        var other: Place?
    }
    /// The old names of moved files, by cookie, until the event for the new name arrives.
    private var moved: [UInt32: Place] = [:]
    private var waits: [Place: Wait] = [:]
    private var names: [Int64: Int] = [:]

    /// The time without events after which a name is due.
    static let quiet = Duration.milliseconds(100)
    /// The time without events after which a name that is being written is due.
    static let quietWhileWriting = Duration.seconds(1)
    /// The maximum time that a name waits. A file that is written continuously is checked at this
    /// interval.
    static let patience = Duration.seconds(10)
    /// The maximum number of names in one folder. If there are more, the whole folder is compared.
    static let maximumNames = 256
    /// The maximum number of waiting names. If there are more, everything is compared.
    static let maximumPlaces = 8192

    /// `true` if too many names were waiting or events were lost, so that everything must be
    /// compared.
    private(set) var hasOverflowed = false

    /// Records an event.
    ///
    /// - Parameter cookie: A number that links the two events of a move; 0 for other events.
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

    /// `true` if no name is waiting.
    var isEmpty: Bool { waits.isEmpty && !hasOverflowed }

    /// Records that events were lost.
    mutating func overflow() {
        self = SettlingPaths()
        hasOverflowed = true
    }

    /// The time when the next name is due; `nil` if none is waiting.
    var nextDue: ContinuousClock.Instant? { waits.values.lazy.map { due($0) }.min() }

    /// Returns and removes the names that are due, by folder; `nil` represents the whole folder.
    /// The two names of a moved file are due together.
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
