// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// Extensions for common content, such as mail. Each format is read by a system library, so these
// extensions are a separate package: the commands, Journal and Bookmarks build without the
// libraries.
let package = Package(
    name: "searchlight-content",
    products: [
        .library(name: "Mail", type: .dynamic, targets: ["Mail"])
    ],
    dependencies: [
        .package(name: "searchlight", path: "../..")
    ],
    targets: [
        // Shared by the extensions: donation batches and progress reports.
        .target(
            name: "ContentSupport", dependencies: [.product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),

        // Mail: Maildir, mbox and Thunderbird's folders.
        .target(
            name: "Mail",
            dependencies: ["ContentSupport", "MailMessages", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
        .target(name: "MailMessages", dependencies: ["CMailReader"], swiftSettings: strict),
        // A small C interface to GMime and to libxml2's HTML parser.
        .target(
            name: "CMailReader", dependencies: ["CGMime", "CLibXML2"], cSettings: [.treatAllWarnings(as: .error)]),
        .systemLibrary(name: "CGMime", pkgConfig: "gmime-3.0", providers: [.apt(["libgmime-3.0-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .testTarget(name: "MailMessagesTests", dependencies: ["MailMessages"], swiftSettings: strict),
        .testTarget(
            name: "MailTests",
            dependencies: [
                "ContentSupport", "Mail", "MailMessages", .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
    ]
)
