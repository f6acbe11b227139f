// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The compiled `CoreSpotlight` of this program: `libCoreSpotlight.so` and the modules of Swift to
/// compile against. A package that links them compiles and fetches nothing of Searchlight.
///
///     let library = CompiledLibrary(folder: "/usr/local/lib/searchlight", source: nil)
struct CompiledLibrary {
    /// The folder of `libCoreSpotlight.so`.
    let folder: String
    /// The arguments of the Swift compiler that lead to the modules.
    let arguments: [String]

    /// The modules of C that the modules of Swift import. `Scripts/swift-modules` installs the
    /// same.
    private static let cModules = ["SearchlightExtension", "CSystem", "CTables", "CTextTables", "CSystemd"]

    /// Finds the modules of an installation or of a build folder.
    ///
    /// - Parameters:
    ///   - folder: The folder of `libCoreSpotlight.so`; `nil` if there is none.
    ///   - source: The checkout of the build folder; `nil` for an installation.
    /// - Returns: `nil` if the library or a module is missing.
    init?(folder: String?, source: String?) {
        guard let folder else { return nil }
        func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
        self.folder = folder
        let installed = folder + "/swift"
        if exists(installed + "/CoreSpotlight.swiftmodule") {
            arguments = ["-I", installed]
            return
        }
        guard let source, exists(folder + "/Modules/CoreSpotlight.swiftmodule") else { return nil }
        var arguments = ["-I", folder + "/Modules", "-Xcc", "-I\(source)/Sources/SearchlightExtension/include"]
        for name in Self.cModules {
            // SwiftPM generates a map, unless the module is one of the system.
            let maps = ["\(folder)/\(name).build/module.modulemap", "\(source)/Sources/\(name)/module.modulemap"]
            guard let map = maps.first(where: exists) else { return nil }
            arguments += ["-Xcc", "-fmodule-map-file=\(map)"]
        }
        self.arguments = arguments
    }
}
