// SPDX-License-Identifier: Apache-2.0

extension Project {
    /// A package with a handler as for Apple's systems.
    ///
    /// - Parameter searchlight: Where Searchlight's source is, for the package to depend on.
    static func swift(_ names: ProjectNames, searchlight: String) -> Project {
        let point =
            indexPoint + """

                        <key>NSExtensionPrincipalClass</key>
                        <string>\(names.module).IndexRequestHandler</string>
                """
        let name = searchlight.split(separator: "/").last.map(String.init) ?? "searchlight"
        let package = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "\(names.folder)",
                products: [.library(name: "\(names.module)", type: .dynamic, targets: ["\(names.module)"])],
                dependencies: [.package(name: "\(name)", path: "\(searchlight)")],
                targets: [
                    .target(
                        name: "\(names.module)",
                        dependencies: [.product(name: "CoreSpotlight", package: "\(name)")],
                        // As source for Apple's systems is mostly compiled; the handlers it is given are not Sendable there.
                        swiftSettings: [.swiftLanguageMode(.v5)])
                ])

            """
        return Project(
            files: [
                File(path: "Package.swift", text: package, purpose: "how it is built; depends on Searchlight's source"),
                File(
                    path: "Sources/\(names.module)/IndexRequestHandler.swift", text: handler,
                    purpose: "the extension"),
                manifest(names, library: names.library, point: point),
                makefile(
                    names, needs: "Package.swift $(wildcard Sources/*/*.swift)",
                    build: """
                        \tswift build -c release --product \(names.module)
                        \tcp "$$(swift build -c release --show-bin-path)/\(names.library)" $(BUNDLE)
                        """),
                readme(
                    names,
                    "An extension of Searchlight in Swift, written against CoreSpotlight as for Apple's systems. The package"
                        + "\ndepends on Searchlight's source at `\(searchlight)`; see Package.swift."),
            ],
            steps: [
                "make             (the first time it compiles CoreSpotlight too, for some minutes)", "make validate",
                "make install && searchlight reindex \(names.identifier)",
            ])
    }

    private static let handler = """
        import CoreSpotlight
        import Foundation

        /// What is made searchable. Replace it with what your app has.
        private struct Recipe {
            let identifier: String
            let title: String
            let text: String

            static let all = [
                Recipe(identifier: "pancakes", title: "Pancakes", text: "flour, milk, eggs"),
                Recipe(identifier: "rice-pudding", title: "Rice pudding", text: "rice, milk, cinnamon"),
            ]
        }

        /// Found by its name in the Info.plist. Several requests may be under way at once, each on a thread of its own.
        class IndexRequestHandler: CSIndexExtensionRequestHandler {
            /// Donates everything, and acknowledges when it is durable. Not acknowledged, it is asked again.
            override func searchableIndex(
                _ searchableIndex: CSSearchableIndex,
                reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
            ) {
                let items = Recipe.all.map(Self.item)
                searchableIndex.deleteAllSearchableItems { error in
                    guard error == nil else { return Self.report("deleting failed", error) }
                    searchableIndex.indexSearchableItems(items) { error in
                        guard error == nil else { return Self.report("indexing failed", error) }
                        acknowledgementHandler()
                    }
                }
            }

            /// Donates those that exist, and deletes the others.
            override func searchableIndex(
                _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
                acknowledgementHandler: @escaping () -> Void
            ) {
                let wanted = Set(identifiers)
                let items = Recipe.all.filter { wanted.contains($0.identifier) }
                let gone = wanted.subtracting(items.map(\\.identifier))
                searchableIndex.deleteSearchableItems(withIdentifiers: gone.sorted()) { error in
                    guard error == nil else { return Self.report("deleting failed", error) }
                    searchableIndex.indexSearchableItems(items.map(Self.item)) { error in
                        guard error == nil else { return Self.report("indexing failed", error) }
                        acknowledgementHandler()
                    }
                }
            }

            /// Gives what was promised. A person is waiting, so be quick.
            override func data(
                for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
            ) throws -> Data {
                guard let recipe = Recipe.all.first(where: { $0.identifier == itemIdentifier }) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                guard typeIdentifier == UTType.utf8PlainText.identifier else { throw CocoaError(.featureUnsupported) }
                return Data(recipe.text.utf8)
            }

            private static func item(_ recipe: Recipe) -> CSSearchableItem {
                let attributes = CSSearchableItemAttributeSet(contentType: .plainText)
                attributes.title = recipe.title
                attributes.textContent = recipe.text
                attributes.providerDataTypeIdentifiers = [UTType.utf8PlainText.identifier]
                let item = CSSearchableItem(
                    uniqueIdentifier: recipe.identifier, domainIdentifier: "desserts", attributeSet: attributes)
                item.expirationDate = .distantFuture  // without it, the item is gone after 30 days
                return item
            }

            /// Tells the person who looks after the extension.
            private static func report(_ what: String, _ error: (any Error)?) {
                let line = "\\(what): \\(error.map(String.init(describing:)) ?? "for no reason")\\n"
                try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
            }
        }

        """
}
