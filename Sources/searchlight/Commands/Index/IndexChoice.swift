// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import CommandSupport
import ArgumentParser
import SearchIndex

/// The options that name an index.
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
