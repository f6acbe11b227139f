// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// First-party extensions, built exactly as anybody else would build theirs: a package of its own that knows
// Searchlight only through the shared library CoreSpotlight.
let package = Package(
    name: "searchlight-plugins",
    products: [
        .library(name: "Journal", type: .dynamic, targets: ["Journal"])
    ],
    dependencies: [
        .package(name: "searchlight", path: "..")
    ],
    targets: [
        // Journal: folders of Markdown and plain-text notes
        .target(
            name: "Journal",
            dependencies: ["JournalNotes", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
        .target(name: "JournalNotes", dependencies: ["CMarkGFM", "CFileBirth"], swiftSettings: strict),
        .target(
            name: "CFileBirth", cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")]),
        .systemLibrary(
            name: "CMarkGFM", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .testTarget(name: "JournalNotesTests", dependencies: ["JournalNotes"], swiftSettings: strict),
        .testTarget(
            name: "JournalTests",
            dependencies: ["Journal", "JournalNotes", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
    ]
)
