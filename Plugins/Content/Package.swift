// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// Extensions for what people have. Each format is read by a library of the system, so they are a
// package of their own: the commands, Journal and Bookmarks build without these libraries.
let package = Package(
    name: "searchlight-content",
    products: [
        .library(name: "Mail", type: .dynamic, targets: ["Mail"])
    ],
    dependencies: [
        .package(name: "searchlight", path: "../..")
    ],
    targets: [
        // Shared by the extensions: batches of donations and signs of life.
        .target(
            name: "ContentSupport", dependencies: [.product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),

        // Mail: Maildir, mbox and Thunderbird's folders.
        .target(
            name: "Mail",
            dependencies: ["ContentSupport", "MailMessages", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
        .target(name: "MailMessages", dependencies: ["CMailReader"], swiftSettings: strict),
        // GMime and libxml2's parser of HTML behind a few functions of C.
        .target(
            name: "CMailReader", dependencies: ["CGMime", "CLibXML2"], cSettings: [.treatAllWarnings(as: .error)]),
        .systemLibrary(name: "CGMime", pkgConfig: "gmime-3.0", providers: [.apt(["libgmime-3.0-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .testTarget(name: "MailMessagesTests", dependencies: ["MailMessages"], swiftSettings: strict),
        .testTarget(
            name: "MailTests",
            dependencies: ["Mail", "MailMessages", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
    ]
)
