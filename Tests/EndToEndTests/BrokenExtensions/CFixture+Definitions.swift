// SPDX-License-Identifier: Apache-2.0

extension CFixture {
    /// Returns the shared library of a fixture that has several kinds of faults.
    ///
    /// - Parameters:
    ///   - name: The name of its source in Tests/Fixtures/Extensions without “.c”, or with “.cpp”.
    ///   - definitions: The compiler's `-D` definitions, which select the fault.
    static func library(_ name: String, _ definitions: [String]) throws -> String {
        let isCPlusPlus = name.hasSuffix(".cpp")
        let language = isCPlusPlus ? ["--driver-mode=g++", "-std=c++17"] : ["-std=c11"]
        return try library(
            source: BuiltProducts.repository + "/Tests/Fixtures/Extensions/\(name)\(isCPlusPlus ? "" : ".c")",
            options: language + ["-D_GNU_SOURCE", "-I\(includeFolder)"] + definitions.map { "-D\($0)" })
    }
}
