// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Feeds inputs to the parsers and decoders. The first byte of an input selects the property; see
/// ``FuzzProperty``.
///
/// The normal build checks the files in its arguments, and so reproduces a failure. Built with
/// `-sanitize=fuzzer` and `COVERAGE_GUIDED`, as in `Scripts/torture`, it is a libFuzzer program and
/// generates inputs itself.
@main
enum Fuzz {
    static func check(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let all = FuzzProperty.allCases
        all[Int(first) % all.count].check(Array(bytes.dropFirst()))
    }

    #if COVERAGE_GUIDED
        static func main() {
            var count = CommandLine.argc
            var arguments = CommandLine.unsafeArgv
            exit(runDriver(&count, &arguments, testOneInput))
        }
    #else
        static func main() throws {
            for path in CommandLine.arguments.dropFirst() {
                Fuzz.check(Array(try Data(contentsOf: URL(filePath: path))))
                print("\(path): nothing broke")
            }
        }
    #endif
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
