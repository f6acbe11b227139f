// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import CommandSupport
import ArgumentParser
import SearchIndex

/// A protection class as an argument: the last part of Apple's name, such as `completeUnlessOpen`.
extension ProtectionClass: ExpressibleByArgument {
    /// Creates a class from the name used in commands.
    public init?(argument: String) {
        guard let found = Self.allCases.first(where: { $0.name == argument }) else { return nil }
        self = found
    }

    /// The names of all classes.
    public static var allValueStrings: [String] { allCases.map(\.name) }
}

/// The options that identify an index.
struct IndexChoice: ParsableArguments {
    @Option(help: "Use the items of the app with this bundle identifier.", completion: BundleNames.completion)
    var bundle: String
    @Option(help: "Use the index with this name instead of the default index.")
    var index: String?

    var scope: IndexScope { IndexScope(bundle: bundle, index: index) }

    func validate() throws {
        try refuseEmpty(bundle, "--bundle", instead: "Name a bundle, such as org.example.app.")
        try refuseEmpty(index, "--index", instead: "Leave it out for the default index.")
    }
}
