// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// The extensions of this project. They are built like any other extension: as a separate package
// that uses Searchlight only through the shared library CoreSpotlight.
let package = Package(
    name: "searchlight-plugins",
    products: [
        .library(name: "Journal", type: .dynamic, targets: ["Journal"])
    ],
    dependencies: [
        .package(name: "searchlight", path: ".."),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // Journal: folders of Markdown and plain-text notes
        .target(
            name: "Journal",
            dependencies: ["JournalNotes", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
        .target(
            name: "JournalNotes",
            dependencies: [
                "CMarkGFM", "CFileBirth", "CTOML", "CHTML", "CUchardet", .product(name: "Yams", package: "Yams"),
            ], swiftSettings: strict),
        .target(
            name: "CFileBirth", cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")]),
        // Three C functions that wrap toml++.
        .target(name: "CTOML", cxxSettings: [.treatAllWarnings(as: .error)]),
        // C functions that wrap the HTML parser of libxml2.
        .target(name: "CHTML", dependencies: ["CLibXML2"], cSettings: [.treatAllWarnings(as: .error)]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CUchardet", pkgConfig: "uchardet", providers: [.apt(["libuchardet-dev"])]),
        .systemLibrary(
            name: "CMarkGFM", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .testTarget(
            name: "JournalNotesTests", dependencies: ["JournalNotes", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict),
        .testTarget(
            name: "JournalTests",
            dependencies: ["Journal", "JournalNotes", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
