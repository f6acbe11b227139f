// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import Glibc
import ServiceMessages
import Synchronization
import Testing

@testable import BusTransport
@testable import SystemSupport

/// Two connections to each other in one process.
struct BusPair {
    let host: BusConnection
    let worker: BusConnection

    init(
        onHostCall: @escaping BusConnection.CallHandler = { _ in },
        onWorkerCall: @escaping BusConnection.CallHandler,
        onDisconnect: @escaping BusConnection.EndHandler = { _ in }
    ) throws {
        var descriptors: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
        host = try BusConnection(
            adopting: OwnedDescriptor(adopting: descriptors[0]), side: .server, name: "test-host", onCall: onHostCall,
            onDisconnect: onDisconnect)
        worker = try BusConnection(
            adopting: OwnedDescriptor(adopting: descriptors[1]), side: .client, name: "test-worker",
            onCall: onWorkerCall, onDisconnect: { _ in })
    }
}

@Suite("Connections", .timeLimit(.minutes(10)))
struct BusConnectionTests {
    static let echo = BusMember("com.searchlight.Test1", "Echo")

    @Test("Arguments of every type arrive unchanged")
    func everyType() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        let readEnd = OwnedDescriptor(adopting: pipes[0])
        let writeEnd = OwnedDescriptor(adopting: pipes[1])
        _ = try await pair.host.call(Self.echo)
        let answer = try await pair.host.call(
            Self.echo,
            [
                .string("é"), .strings(["a", "", "b"]), .unsigned(.max), .boolean(true), .bytes([0, 255]), .bytes([]),
                .strings([]), .descriptor(writeEnd),
            ])
        var arguments = BusArguments(answer, of: "Echo")
        #expect(try arguments.string() == "é")
        #expect(try arguments.strings() == ["a", "", "b"])
        #expect(try arguments.unsigned() == .max)
        #expect(try arguments.boolean())
        #expect(try arguments.bytes() == [0, 255])
        #expect(try arguments.bytes() == [])
        #expect(try arguments.strings() == [])
        let returned = try arguments.descriptor()
        try arguments.finish()
        #expect(write(returned.number, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(readEnd.number, &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
    }

    @Test("Concurrent calls each get their own answer")
    func concurrentCalls() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 as Range<UInt64> {
                group.addTask {
                    var answer = BusArguments(
                        try await pair.host.call(Self.echo, [.unsigned(number)]), of: "Echo")
                    return try answer.unsigned() == number
                }
            }
            for try await same in group { #expect(same) }
        }
    }

    @Test("A refusal arrives with its name and message")
    func refusal() async throws {
        let pair = try BusPair(onWorkerCall: { $0.refuse(name: ExtensionStatus.notFound.errorName, message: "gone") })
        do {
            _ = try await pair.host.call(Self.echo)
            Issue.record("the call succeeded")
        } catch BusError.remote(let name, let message) {
            #expect(ExtensionStatus(errorName: name) == .notFound)
            #expect(message == "gone")
        }
    }

    @Test("A call that the peer drops fails")
    func droppedCall() async throws {
        let pair = try BusPair(onWorkerCall: { _ in })
        await #expect(throws: BusError.self) { try await pair.host.call(Self.echo) }
    }

    @Test("Pending and later calls fail when the peer disconnects")
    func disconnection() async throws {
        let kept = Mutex<[IncomingCall]>([])
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let (gone, going) = AsyncStream.makeStream(of: Void.self)
        let pair = try BusPair(
            onWorkerCall: { call in
                kept.withLock { $0.append(call) }
                arrival.yield()
            }, onDisconnect: { _ in going.yield() })
        let pending = Task { try await pair.host.call(Self.echo) }
        for await _ in arrived { break }
        pair.worker.close()
        for await _ in gone { break }
        guard case .failure(let error) = await pending.result, case .disconnected? = error as? BusError else {
            Issue.record("the pending call did not fail with disconnected")
            return
        }
        await #expect(throws: BusError.self) { try await pair.host.call(Self.echo) }
    }

    @Test("Calls to a peer that has disconnected before the start fail, and the end is reported")
    func deadPeer() async throws {
        for _ in 0..<50 {
            var descriptors: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
            close(descriptors[1])
            let (gone, going) = AsyncStream.makeStream(of: Void.self)
            let connection = try BusConnection(
                adopting: OwnedDescriptor(adopting: descriptors[0]), side: .server, name: "test-host",
                onCall: { _ in }, onDisconnect: { _ in going.yield() })
            await #expect(throws: BusError.self) { try await connection.call(Self.echo) }
            for await _ in gone { break }
        }
    }

    @Test("A cancelled caller stops waiting")
    func cancellation() async throws {
        let kept = Mutex<[IncomingCall]>([])
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let pair = try BusPair(onWorkerCall: { call in
            kept.withLock { $0.append(call) }
            arrival.yield()
        })
        let pending = Task { try await pair.host.call(Self.echo) }
        for await _ in arrived { break }
        pending.cancel()
        guard case .failure(let error) = await pending.result, case .cancelled? = error as? BusError else {
            Issue.record("the call did not end with cancelled")
            return
        }
    }

    @Test("A batch of 8 MiB goes through")
    func largeMessage() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        var answer = BusArguments(try await pair.host.call(Self.echo, [.bytes(bytes)]), of: "Echo")
        #expect(try answer.bytes() == bytes)
    }

    @Test("A peer that does not speak D-Bus ends the connection, nothing else")
    func garbage() async throws {
        var descriptors: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
        let (gone, going) = AsyncStream.makeStream(of: Void.self)
        let connection = try BusConnection(
            adopting: OwnedDescriptor(adopting: descriptors[0]), side: .server, name: "test-host",
            onCall: { _ in Issue.record("a call arrived") }, onDisconnect: { _ in going.yield() })
        let junk = [UInt8](repeating: 0x41, count: 4096)
        _ = junk.withUnsafeBytes { send(descriptors[1], $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        close(descriptors[1])
        for await _ in gone { break }
        await #expect(throws: BusError.self) { try await connection.call(Self.echo) }
    }

    @Test("Requests arrive unchanged at the other side")
    func requests() async throws {
        let workerRequests: [WorkerRequest] = [
            .load(
                LoadRequest(bundlePath: "/b", libraryPath: "/b/l.so", bundleIdentifier: "com.x", principalClass: "X")),
            .reindexAll, .reindexItems(["a", "b"]), .provideData(item: "i", type: "public.html"),
            .provideFile(item: "i", type: "public.png", inPlace: true),
            .preview(item: "i", query: nil, contentPath: "/f"),
            .didThrottle(ThrottleNotice(reason: .pressure, itemsPerSecond: 2.5)), .didFinishThrottle, .cancel(call: 7),
            .reindexUnlocked(lockedIndexes: ["a", "b"]),
            .reindexPage(ReindexPage(cursor: nil, items: 9, milliseconds: 8, memoryLimit: 7)),
            .reindexPage(ReindexPage(cursor: [], items: .max, milliseconds: 0, memoryLimit: .max)),
        ]
        let hostRequests: [HostRequest] = [
            .index(IndexRequest(.put([1, 2]), index: "n")),
            .index(IndexRequest(.deleteItems(["x"]), index: nil)),
            .index(IndexRequest(.deleteDomains(["d"]), index: nil)), .index(IndexRequest(.deleteAll, index: "n")),
            .index(IndexRequest.clientState(index: "n")),
            .index(IndexRequest.record("i")),
            .index(IndexRequest(.commitBatch(changes: [4], clientState: [], expecting: .any), index: "n")),
            .index(IndexRequest(.commitBatch(changes: [], clientState: [7], expecting: .exactly(nil)), index: "n")),
            .index(IndexRequest(.commitBatch(changes: [], clientState: [], expecting: .exactly([])), index: "n")),
            .log(level: .warning, message: "m"),
        ]
        let seenByWorker = Mutex<[WorkerRequest]>([])
        let seenByHost = Mutex<[HostRequest]>([])
        let pair = try BusPair(
            onHostCall: { call in
                if let request = try? HostRequest(call) { seenByHost.withLock { $0.append(request) } }
                call.reply()
            },
            onWorkerCall: { call in
                if let request = try? WorkerRequest(call) { seenByWorker.withLock { $0.append(request) } }
                call.reply()
            })
        for request in workerRequests { _ = try await pair.host.call(request.member, request.arguments) }
        for request in hostRequests { _ = try await pair.worker.call(request.member, request.arguments) }
        #expect(seenByWorker.withLock { $0 } == workerRequests)
        #expect(seenByHost.withLock { $0 } == hostRequests)
    }
}
