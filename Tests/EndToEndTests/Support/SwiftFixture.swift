// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The Swift test extensions: one library, compiled on first use against this build's
/// CoreSpotlight.
enum SwiftFixture {
    /// The module name of the classes in a manifest.
    static let module = "BrokenHandlers"

    private static let built = Result { try build() }

    static func library() throws -> String { try built.get() }

    private static func build() throws -> String {
        let folder = TemporaryFolder.place + "/searchlight-swift-fixtures-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit {
            try? FileManager.default.removeItem(
                atPath: TemporaryFolder.place + "/searchlight-swift-fixtures-\(getpid())")
        }
        let (products, repository) = (BuiltProducts.folder, BuiltProducts.repository)
        let output = folder + "/lib\(module).so"
        let compiler = URL(filePath: CFixture.compiler).deletingLastPathComponent().path + "/swiftc"
        let (status, text) = try CFixture.run(
            compiler,
            [
                "-emit-library", "-module-name", module, "-swift-version", "5", "-Onone", "-I", products + "/Modules",
                "-Xcc", "-fmodule-map-file=\(products)/SearchlightExtension.build/module.modulemap",
                "-Xcc", "-I\(CFixture.includeFolder)",
                "-Xcc", "-fmodule-map-file=\(repository)/Sources/CSystemd/module.modulemap",
                "-Xcc", "-fmodule-map-file=\(products)/CSystem.build/module.modulemap",
                "-Xcc", "-fmodule-map-file=\(products)/CTables.build/module.modulemap",
                "-Xcc", "-fmodule-map-file=\(products)/CTextTables.build/module.modulemap",
                "-L", products, "-lCoreSpotlight", repository + "/Tests/Fixtures/SwiftExtensions/\(module).swift",
                "-o", output,
            ], environment: ProcessInfo.processInfo.environment)
        try #require(status == 0, "compiling \(module): \(text)")
        return output
    }
}
