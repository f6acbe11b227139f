// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Testing

@testable import ExtensionRuntime

@Suite("The table of an extension's objects")
struct HandleTableTests {
    private final class Thing: Sendable {
        let number: Int
        init(_ number: Int) { self.number = number }
    }
    private typealias Table = HandleTable<Thing>

    private func problem(_ body: () throws(Table.Problem) -> Void) -> Table.Problem? {
        do throws(Table.Problem) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("finds added objects, and recognises released and invalid numbers")
    func released() throws {
        let (table, other) = (Table(tag: 1), Table(tag: 2))
        let first = try #require(table.insert(Thing(1), owner: 8))
        let second = try #require(table.insert(Thing(2)))
        #expect(try table.with(first) { $0.number } == 1)
        #expect(try table.with(second) { $0.number } == 2)
        try table.remove(first)
        #expect(problem { () throws(Table.Problem) in try table.remove(first) } == .released(owner: 8))
        #expect(problem { () throws(Table.Problem) in _ = try table.with(first) { $0.number } } == .released(owner: 8))
        // The slot is reused, and the old handle does not refer to its new object.
        let third = try #require(table.insert(Thing(3), owner: 8))
        #expect(problem { () throws(Table.Problem) in _ = try table.with(first) { $0.number } } == .released(owner: 8))
        #expect(try table.with(third) { $0.number } == 3)
        #expect(first != third)
        for strange in [nil, OpaquePointer(bitPattern: 16), OpaquePointer(bitPattern: UInt.max)] {
            #expect(problem { () throws(Table.Problem) in _ = try table.with(strange) { $0.number } } == .unknown)
        }
        #expect(problem { () throws(Table.Problem) in _ = try other.with(second) { $0.number } } == .unknown)
    }

    @Test("lets one thread at a time use an object, and none release it during that")
    func inUse() throws {
        let table = Table(tag: 1)
        let handle = try #require(table.insert(Thing(1), owner: 8))
        try table.with(handle) { _ in
            #expect(
                problem { () throws(Table.Problem) in _ = try table.with(handle) { $0.number } } == .inUse(owner: 8))
            #expect(problem { () throws(Table.Problem) in try table.remove(handle) } == .inUse(owner: 8))
        }
        #expect(try table.with(handle) { $0.number } == 1)
    }

    @Test("stays consistent while many threads add, use and release")
    func threads() {
        let table = Table(tag: 1)
        let wrong = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<2000 {
                guard let handle = table.insert(Thing(thread * 10_000 + round)) else {
                    wrong.add(1, ordering: .relaxed)
                    continue
                }
                let number = try? table.with(handle) { $0.number }
                if number != thread * 10_000 + round { wrong.add(1, ordering: .relaxed) }
                if problem({ () throws(Table.Problem) in try table.remove(handle) }) != nil {
                    wrong.add(1, ordering: .relaxed)
                }
                if problem({ () throws(Table.Problem) in try table.remove(handle) }) == nil {
                    wrong.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    @Test("gives the same object to one of many threads only")
    func sameObject() {
        final class Box { var value = 0 }
        let table = HandleTable<Box>(tag: 1)
        let box = Box()
        let handle = UInt(bitPattern: table.insert(box))
        let done = Atomic(0)
        let refused = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<5000 {
                // Not atomic, so two concurrent calls would lose an increment.
                if (try? table.with(OpaquePointer(bitPattern: handle)) { $0.value += 1 }) != nil {
                    done.add(1, ordering: .relaxed)
                } else {
                    refused.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(box.value == done.load(ordering: .relaxed))
        #expect(done.load(ordering: .relaxed) + refused.load(ordering: .relaxed) == 40_000)
    }
}
