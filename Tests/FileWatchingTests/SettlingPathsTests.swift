// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import FileWatching

@Suite("Debouncing names")
struct SettlingPathsTests {
    private let start = ContinuousClock.now

    @Test("A name is due after a moment without events, later while it is written")
    func quiet() {
        var settling = SettlingPaths()
        settling.note(.writing, "a", in: 1, at: start)
        settling.note(.done, "b", in: 1, at: start)
        #expect(settling.nextDue == start + SettlingPaths.quiet)
        #expect(settling.takeDue(at: start + SettlingPaths.quiet) == [1: ["b"]])
        settling.note(.done, "a", in: 1, at: start + .milliseconds(200))
        #expect(settling.takeDue(at: start + .milliseconds(299)) == [:])
        #expect(settling.takeDue(at: start + .milliseconds(300)) == [1: ["a"]])
        #expect(settling.nextDue == nil)
    }

    @Test("A continuously written name is due at intervals")
    func patience() {
        var settling = SettlingPaths()
        var due = 0
        for tick in 0..<1000 {
            let now = start + .milliseconds(100 * tick)
            settling.note(.writing, "log", in: 1, at: now)
            due += settling.takeDue(at: now).count
        }
        #expect((9...10).contains(due))
    }

    @Test("Both names of a moved file are due together, even if one is still written")
    func moved() {
        var settling = SettlingPaths()
        settling.note(.done, "old", in: 1, at: start, cookie: 7)
        settling.note(.done, "new", in: 2, at: start, cookie: 7)
        settling.note(.writing, "new", in: 2, at: start + .milliseconds(50))
        #expect(settling.takeDue(at: start + .milliseconds(500)) == [:])
        #expect(settling.nextDue == start + .milliseconds(1050))
        #expect(settling.takeDue(at: start + .milliseconds(1050)) == [1: ["old"], 2: ["new"]])
        #expect(settling.isEmpty)
    }

    @Test("Continuous changes double the wait each time, and a pause restarts it")
    func doubling() {
        var wait = DoublingWait(first: .seconds(1), longest: .seconds(60))
        var now = start
        var waits: [Duration] = []
        for _ in 0..<8 {
            waits.append(wait.next(at: now))
            now += waits[waits.count - 1] + .milliseconds(10)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(wait.next(at: now + .seconds(200)) == .seconds(1))
    }

    @Test("Many names of a folder become the folder, and too many become everything")
    func bounds() {
        var settling = SettlingPaths()
        for number in 0...SettlingPaths.maximumNames { settling.note(.done, EntryName("\(number)"), in: 1, at: start) }
        settling.note(.done, "one more", in: 1, at: start)
        settling.note(.done, "a", in: 2, at: start)
        #expect(settling.takeDue(at: start + .seconds(1)) == [1: nil, 2: ["a"]])
        for folder in 0...SettlingPaths.maximumPlaces { settling.note(.done, "a", in: Int64(folder), at: start) }
        #expect(settling.hasOverflowed)
        #expect(settling.nextDue == nil)
    }
}

@Suite("Patterns of names")
struct WatchedTreeTests {
    /// A reference implementation of pattern matching.
    private func matches(_ name: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        guard let wanted = pattern.first else { return name.isEmpty }
        if wanted == UInt8(ascii: "*") {
            return (name.startIndex...name.endIndex).contains { matches(name[$0...], pattern.dropFirst()) }
        }
        return name.first == wanted && matches(name.dropFirst(), pattern.dropFirst())
    }

    @Test("A star matches any characters")
    func oracle() {
        var random = SplitMix64(seed: 7)
        func text(_ letters: String) -> [UInt8] {
            (0..<Int.random(in: 0..<8, using: &random)).compactMap { _ in letters.utf8.randomElement(using: &random) }
        }
        for _ in 0..<20_000 {
            let (name, pattern) = (text("ab"), text("ab*"))
            #expect(WatchedTree.matches(name, pattern) == matches(name[...], pattern[...]))
        }
    }

    @Test("A tree inside another one is not added, unless hidden names or patterns exclude it")
    func nested() {
        func tree(_ root: String, _ owner: String = "a", _ names: [String] = []) -> WatchedTree {
            WatchedTree(owner: owner, root: root, names: names)
        }
        let kept = WatchedTree.withoutNested([
            tree("/n"), tree("/n/b"), tree("/n/.c"), tree("/nb"), tree("/n", "b"), tree("/n", "a", ["*"]), tree("/n"),
        ])
        #expect(Set(kept) == [tree("/n"), tree("/n/.c"), tree("/nb"), tree("/n", "b")])
    }
}
