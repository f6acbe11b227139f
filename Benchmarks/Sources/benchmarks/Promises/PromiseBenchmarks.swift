// SPDX-License-Identifier: Apache-2.0
import CSystem
import Dispatch
import Foundation
import Glibc
import Promises
import ServiceMessages
import SystemSupport

/// Measures the delivery of promises. The baselines are the corresponding system facilities.
struct PromiseBenchmarks {
    let folder: String
    /// `true` to copy only a quarter and to open fewer times.
    let isShort: Bool

    private var runs: Int { isShort ? 15 : 9 }
    private var openings: Int { isShort ? 500 : 2000 }
    private var largeBytes: Int { isShort ? 1 << 28 : 1 << 30 }
    private var largeName: String { "\(largeBytes >> 20) MiB" }
    private static let smallBytes = 1 << 20
    private static let streamBytes = 64 << 20
    private static let mebibyte = Double(1 << 20)

    func run() throws -> [Measurement] {
        let place = folder + "/promises"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let large = try Self.make(place + "/large", largeBytes)
        let small = try Self.make(place + "/small", Self.smallBytes)
        return [try inPlace(large, small), try copy(large, to: place)] + (try stream(to: place))
    }

    private static func make(_ path: String, _ count: Int) throws -> String {
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw BenchmarkError("\(path) cannot be written.")
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        let piece = Data((0..<smallBytes).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for _ in 0..<(count / smallBytes) { try file.write(contentsOf: piece) }
        // Synchronized, so that no write-back occurs during another measurement.
        try file.synchronize()
        try file.close()
        return path
    }

    // MARK: In place

    /// Measures the in-place delivery of an original, from opening it in the worker to its path. No
    /// bytes are copied, whatever its size.
    private func inPlace(_ large: String, _ small: String) throws -> Measurement {
        var (long, short): ([Double], [Double]) = ([], [])
        for run in 0..<(openings + 100) {
            let (one, other) = (try Self.open(large), try Self.open(small))
            guard run >= 100 else { continue }
            long.append(one)
            short.append(other)
        }
        return Measurement(
            name: "file promise of \(largeName) in place, opened and its path returned", value: Percentiles(long).p50,
            unit: "µs",
            baseline: "1 MiB", baselineValue: Percentiles(short).p50, row: .inPlace)
    }

    private static func open(_ path: String) throws -> Double {
        try ProcessCost.measure {
            let reply = try FileReply(opening: path)
            guard try Delivery.originalPath(of: .file(reply)) != nil else {
                throw BenchmarkError("\(path) is not the original.")
            }
        }.wall * 1e6
    }

    // MARK: Copying

    /// Measures copies of the large file from the page cache, alternating with `cp`.
    private func copy(_ large: String, to place: String) throws -> Measurement {
        var (own, cp): ([Double], [Double]) = ([], [])
        for run in 0..<(runs + 1) {
            let ownRate = try rate(place) { target in
                _ = try Delivery.deliver(
                    .file(try FileReply(opening: large)), to: .file(path: target), token: UInt64(run))
            }
            let cpRate = try rate(place) { target in
                try SpawnedProgram.run("/bin/cp", [large, target])
            }
            guard run > 0 else { continue }
            own.append(ownRate)
            cp.append(cpRate)
        }
        return Measurement(
            name: "copy of \(largeName) that fulfils a promise", value: Percentiles(own).p50, unit: "MiB/s",
            baseline: "cp",
            baselineValue: Percentiles(cp).p50, row: .copy)
    }

    private func rate(_ place: String, _ body: (String) throws -> Void) throws -> Double {
        let target = place + "/copy"
        let seconds = try ProcessCost.measure { try body(target) }.wall
        try FileManager.default.removeItem(atPath: target)
        // Removes the copy, so that its write-back does not disturb the next measurement.
        return Double(largeBytes) / Self.mebibyte / seconds
    }

    // MARK: Streams

    /// Streams 64 MiB from memory through a payload, alternating with the same number of bytes
    /// through a socket pair. Both end in /dev/null.
    private func stream(to place: String) throws -> [Measurement] {
        let bytes = [UInt8](repeating: 7, count: Self.streamBytes)
        let sink = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(sink) }
        var (own, bare): ([Double], [Double]) = ([], [])
        for run in 0..<(runs + 1) {
            let ownTime = try ProcessCost.measure {
                let payload = try Payload.sending(bytes)
                _ = try Delivery.deliver(
                    .data(payload), to: .stream(descriptor: sink), token: UInt64(run))
            }.wall
            let bareTime = try ProcessCost.measure { try Self.bareStream(bytes, to: sink) }.wall
            guard run > 0 else { continue }
            own.append(Double(Self.streamBytes) / Self.mebibyte / ownTime)
            bare.append(Double(Self.streamBytes) / Self.mebibyte / bareTime)
        }
        return [
            Measurement(
                name: "64 MiB of memory by stream", value: Percentiles(own).p50, unit: "MiB/s",
                baseline: "bare stream", baselineValue: Percentiles(bare).p50, row: .stream)
        ]
    }

    private static func bareStream(_ bytes: [UInt8], to sink: Int32) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw BenchmarkError("There is no pair of sockets.")
        }
        let (reader, writer) = (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
        DispatchQueue.global().async {
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = send(writer.number, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
        var buffer = [UInt8](repeating: 0, count: 128 << 10)
        var left = bytes.count
        while left > 0 {
            let count = read(reader.number, &buffer, buffer.count)
            guard count > 0, write(sink, buffer, count) == count else { throw BenchmarkError("The stream broke off.") }
            left -= count
        }
    }
}
