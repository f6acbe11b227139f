// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Feeds inputs to the parsers and decoders of ``FuzzTarget/all``. The first byte of an input
/// selects the target.
///
///     Fuzz FILE…                                    # checks files, and so reproduces a failure
///     Fuzz --inputs COUNT [--seed SEED] [NAME…]     # checks COUNT mutated samples for each target
///     Fuzz --samples FOLDER                         # writes the samples, as a corpus for libFuzzer
///
/// Built with `-sanitize=fuzzer` and `COVERAGE_GUIDED`, as in `Scripts/torture`, it is a libFuzzer
/// program and generates inputs itself, except with `--samples`.
@main
enum Fuzz {
    static func check(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let target = FuzzTarget.all[Int(first) % FuzzTarget.all.count]
        do { _ = try target.check(Array(bytes.dropFirst())) } catch { fatalError("\(target.name): \(error)") }
    }

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2, arguments[0] == "--samples" { return try await writeSamples(to: arguments[1]) }
        #if COVERAGE_GUIDED
            var count = CommandLine.argc
            var pointers = CommandLine.unsafeArgv
            exit(runDriver(&count, &pointers, testOneInput))
        #else
            if arguments.count >= 2, arguments[0] == "--inputs", let inputs = Int(arguments[1]) {
                return try await run(inputs, Array(arguments.dropFirst(2)))
            }
            for path in arguments {
                check(Array(try Data(contentsOf: URL(filePath: path))))
                print("\(path): nothing broke")
            }
        #endif
    }

    private static func writeSamples(to folder: String) async throws {
        for (number, target) in FuzzTarget.all.enumerated() {
            for (index, sample) in try await target.samples().enumerated() {
                let name = "\(target.name)-\(index)"
                try Data([UInt8(number)] + sample).write(to: URL(filePath: folder + "/" + name))
            }
        }
    }

    /// Checks mutated samples, and prints the number of inputs and the time of each target.
    private static func run(_ inputs: Int, _ arguments: [String]) async throws {
        var (names, seed) = (arguments, MutationLoop.seed)
        if names.count >= 2, names[0] == "--seed" {
            seed = UInt64(names[1]) ?? seed
            names.removeFirst(2)
        }
        FileHandle.standardOutput.write(Data("seed \(seed)\n".utf8))
        for target in FuzzTarget.all where names.isEmpty || names.contains(target.name) {
            var loop = MutationLoop(
                seed: seed, corpus: try await target.samples(), tokens: target.tokens.map { Array($0.utf8) })
            let start = ContinuousClock.now
            let accepted: Int
            do { accepted = try loop.run(inputs) { try target.check($0) } } catch {
                FileHandle.standardOutput.write(Data("\(target.name): \(error)\n".utf8))
                exit(1)
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let line = "\(target.name): \(inputs) inputs, \(accepted) accepted, \(Int(seconds.rounded())) s\n"
            // Not buffered, unlike print.
            FileHandle.standardOutput.write(Data(line.utf8))
        }
    }
}

#if COVERAGE_GUIDED
    /// The function that libFuzzer calls with each input. libFuzzer's unused main function also
    /// refers to it.
    @_cdecl("LLVMFuzzerTestOneInput")
    func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        Fuzz.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }

    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt
#endif
