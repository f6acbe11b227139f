// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The window uses the client API, which has `package` access. SwiftPM names a package after its
// folder.
let product = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? ""
let productName = String(
    product.lowercased().enumerated().map { place, letter in
        letter == "_" || letter.isLetter || letter.isNumber && place > 0 ? letter : "_"
    })
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .unsafeFlags(["-package-name", productName]),
]
let internals: Target.Dependency = .product(name: "SearchlightInternals", package: "searchlight")

// The desktop window. The commands build without its libraries, GTK and libadwaita.
let package = Package(
    name: "searchlight-desktop",
    products: [
        .executable(name: "searchlight-window", targets: ["searchlight-window"])
    ],
    dependencies: [
        .package(name: "searchlight", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "searchlight-window",
            dependencies: [
                "WindowModel", "WindowViews", "CAdwaita", internals,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            packageAccess: false, swiftSettings: strict),
        // The views, which own the GTK objects, on the main thread.
        .target(
            name: "WindowViews", dependencies: ["WindowModel", "CAdwaita", "CDesktop", internals],
            packageAccess: false, swiftSettings: strict),
        // The state of the window, its requests and its drags, without a display.
        .target(name: "WindowModel", dependencies: [internals], packageAccess: false, swiftSettings: strict),
        // A content provider that is filled when the receiver asks, and WebKit, which is loaded at
        // run time.
        .target(
            name: "CDesktop", dependencies: ["CAdwaita"],
            cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("dl")]),
        .systemLibrary(name: "CAdwaita", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .testTarget(
            name: "WindowModelTests", dependencies: ["WindowModel", internals], packageAccess: false,
            swiftSettings: strict),
        // A window that promises fixed content, for drops with a synthetic mouse.
        .executableTarget(
            name: "DragSource", dependencies: ["WindowModel", "WindowViews", "CAdwaita", internals],
            path: "Tests/DragSource", packageAccess: false, swiftSettings: strict),
        // A window that accepts such drops.
        .executableTarget(
            name: "DropTarget", dependencies: ["CAdwaita"], path: "Tests/DropTarget",
            cSettings: [.treatAllWarnings(as: .error)]),
        // A window that shows a page that no sanitiser has seen.
        .executableTarget(
            name: "PageProbe", dependencies: ["CAdwaita", "CDesktop"], path: "Tests/PageProbe",
            cSettings: [.treatAllWarnings(as: .error)]),
    ]
)
