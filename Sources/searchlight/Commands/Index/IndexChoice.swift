// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import CommandSupport
import ArgumentParser
import SearchIndex

/// The options that name an index.
struct IndexChoice: ParsableArguments {
    @Option(help: "The bundle identifier of the app whose items they are.", completion: BundleNames.completion)
    var bundle: String
    @Option(help: "The name of the index; the default one without it.")
    var index: String?

    var scope: IndexScope { IndexScope(bundle: bundle, index: index) }

    func validate() throws {
        try refuseEmpty(bundle, "--bundle", instead: "Name a bundle, such as org.example.app.")
        try refuseEmpty(index, "--index", instead: "Leave it out for the default index.")
    }
}
