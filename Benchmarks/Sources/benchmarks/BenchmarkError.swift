// SPDX-License-Identifier: Apache-2.0

/// Why something could not be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
