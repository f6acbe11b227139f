// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]
let coreSpotlight: Target.Dependency = .product(name: "CoreSpotlight", package: "searchlight")

// Small whole apps for authors to read. Each has a folder with its program (App), its index
// extension (Extension) and the code that both share (Records). They use Searchlight only through
// the shared library CoreSpotlight.
let package = Package(
    name: "searchlight-examples",
    products: [
        .executable(name: "acme-directory", targets: ["AcmeDirectory"]),
        .library(name: "AcmeIndex", type: .dynamic, targets: ["AcmeIndex"]),
        .executable(name: "friends", targets: ["Friends"]),
        .library(name: "FriendIndex", type: .dynamic, targets: ["FriendIndex"]),
        .executable(name: "pictures", targets: ["PicturesProgram"]),
        .library(name: "PictureIndex", type: .dynamic, targets: ["PictureIndex"]),
        .executable(name: "journal", targets: ["JournalProgram"]),
        // For the window of Pictures
        .library(name: "PictureGallery", targets: ["PictureGallery"]),
    ],
    dependencies: [.package(name: "searchlight", path: ".."), .package(name: "Plugins", path: "../Plugins")],
    targets: [
        // Acme Directory: the employees of a company
        .executableTarget(
            name: "AcmeDirectory", dependencies: ["AcmeRecords", "DesktopApp", "ExampleSupport", coreSpotlight],
            path: "AcmeDirectory/App", swiftSettings: strict),
        .target(
            name: "AcmeIndex", dependencies: ["AcmeRecords", "ExampleSupport", coreSpotlight],
            path: "AcmeDirectory/Extension", swiftSettings: strict),
        .target(
            name: "AcmeRecords", dependencies: ["ExampleSupport", coreSpotlight], path: "AcmeDirectory/Records",
            swiftSettings: strict),

        // Friends: an address book
        .executableTarget(
            name: "Friends", dependencies: ["FriendRecords", "DesktopApp", "ExampleSupport", coreSpotlight],
            path: "Friends/App", swiftSettings: strict),
        .target(
            name: "FriendIndex", dependencies: ["FriendRecords", "ExampleSupport", coreSpotlight],
            path: "Friends/Extension", swiftSettings: strict),
        .target(
            name: "FriendRecords", dependencies: ["ExampleSupport", coreSpotlight], path: "Friends/Records",
            swiftSettings: strict),

        // Pictures: a gallery of pixel art
        .executableTarget(
            name: "PicturesProgram", dependencies: ["PictureGallery", "DesktopApp", "ExampleSupport", coreSpotlight],
            path: "Pictures/App", swiftSettings: strict),
        .target(
            name: "PictureIndex", dependencies: ["PictureGallery", "ExampleSupport", coreSpotlight],
            path: "Pictures/Extension", swiftSettings: strict),
        .target(
            name: "PictureGallery", dependencies: ["ExampleSupport", coreSpotlight], path: "Pictures/Records",
            swiftSettings: strict),

        // Journal: an app for the extension Journal, with which it shares the library
        .executableTarget(
            name: "JournalProgram",
            dependencies: [
                "DesktopApp", "ExampleSupport", .product(name: "Journal", package: "Plugins"), coreSpotlight,
            ],
            path: "JournalApp/App", swiftSettings: strict),

        // Helpers of all apps: a JSON file, and the registration on the session bus
        .target(name: "ExampleSupport", path: "Shared/ExampleSupport", swiftSettings: strict),
        .target(
            name: "DesktopApp", dependencies: ["CGIO", "ExampleSupport"], path: "Shared/DesktopApp",
            swiftSettings: strict),
        .systemLibrary(
            name: "CGIO", path: "Shared/CGIO", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
    ]
)
