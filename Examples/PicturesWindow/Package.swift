// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// The window of the example app Pictures. It is a package of its own, so that the other examples
// build without GTK.
let package = Package(
    name: "searchlight-examples-window",
    products: [.executable(name: "pictures-window", targets: ["PicturesWindow"])],
    dependencies: [.package(name: "searchlight", path: "../.."), .package(name: "Examples", path: "..")],
    targets: [
        .executableTarget(
            name: "PicturesWindow",
            dependencies: [
                "CGTK", .product(name: "PictureGallery", package: "Examples"),
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            path: "App", swiftSettings: strict),
        .systemLibrary(name: "CGTK", path: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    ]
)
