// SPDX-License-Identifier: Apache-2.0

/// Which workers there are, how many use each, and which of them are to be ended. A pure value; moments are durations since
/// some beginning.
struct WorkerShelf<Worker> {
    private struct Place {
        var name: String
        var worker: Worker
        var users = 0
        /// Whether it is used no more by anybody who comes now.
        var isLeaving = false
        /// Since when nobody has used it.
        var idleSince: Duration
        /// Grows with each use.
        var lastUse: UInt64
    }
    private var places: [UInt64: Place] = [:]
    private var numbers: [String: UInt64] = [:]
    private var uses: UInt64 = 0
    private var last: UInt64 = 0

    /// How many there are, those that are leaving among them.
    var count: Int { places.count }

    /// How many of them nobody uses.
    var idleCount: Int { places.values.count { $0.users == 0 } }

    subscript(name: String) -> Worker? { numbers[name].flatMap { places[$0]?.worker } }

    /// The workers of a name, those that are leaving too.
    func all(_ name: String) -> [Worker] { places.values.filter { $0.name == name }.map(\.worker) }

    /// Begins to use the worker of a name.
    ///
    /// - Returns: It, and the number under which it is used; `nil` if there is none.
    mutating func begin(_ name: String) -> (number: UInt64, worker: Worker)? {
        guard let number = numbers[name], var place = places[number] else { return nil }
        uses += 1
        place.users += 1
        place.lastUse = uses
        places[number] = place
        return (number, place.worker)
    }

    /// Adds a worker, in use by whoever adds it, and gives back its number. There must be none of that name.
    mutating func add(_ worker: Worker, _ name: String, now: Duration) -> UInt64 {
        uses += 1
        last += 1
        places[last] = Place(name: name, worker: worker, users: 1, idleSince: now, lastUse: uses)
        numbers[name] = last
        return last
    }

    /// Notes the end of a use.
    ///
    /// - Returns: The worker, if it is to be ended now.
    mutating func end(_ number: UInt64, now: Duration) -> Worker? {
        guard var place = places[number] else { return nil }
        place.users -= 1
        place.idleSince = now
        places[number] = place
        guard place.isLeaving, place.users == 0 else { return nil }
        return remove(number)
    }

    /// Has nobody use a worker who comes from now on; its name is free for another.
    ///
    /// - Returns: The worker, if it is to be ended now; otherwise the last ``end(_:now:)`` gives it back.
    mutating func retire(_ number: UInt64) -> Worker? {
        guard var place = places[number] else { return nil }
        place.isLeaving = true
        places[number] = place
        if numbers[place.name] == number { numbers[place.name] = nil }
        return place.users == 0 ? remove(number) : nil
    }

    mutating func retire(_ name: String) -> Worker? { numbers[name].flatMap { retire($0) } }

    /// Takes out the worker that nobody uses and that was not used for longest.
    mutating func takeLeastRecentlyUsed() -> Worker? {
        let idle = places.filter { $0.value.users == 0 }
        return idle.min { $0.value.lastUse < $1.value.lastUse }.flatMap { remove($0.key) }
    }

    /// Takes out the workers that nobody has used for a while.
    mutating func takeIdle(for linger: Duration, now: Duration) -> [Worker] {
        let due = places.filter { $0.value.users == 0 && $0.value.idleSince + linger <= now }
        return due.keys.sorted().compactMap { remove($0) }
    }

    /// When the next one will have been idle for a while; `nil` if all are in use.
    func nextDeadline(_ linger: Duration) -> Duration? {
        places.values.filter { $0.users == 0 }.map { $0.idleSince + linger }.min()
    }

    mutating func takeAll() -> [Worker] {
        defer { (places, numbers) = ([:], [:]) }
        return places.sorted { $0.key < $1.key }.map(\.value.worker)
    }

    private mutating func remove(_ number: UInt64) -> Worker? {
        guard let place = places.removeValue(forKey: number) else { return nil }
        if numbers[place.name] == number { numbers[place.name] = nil }
        return place.worker
    }
}
