// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The programs use declarations with `package` access. SwiftPM names a package after its folder.
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

// Programs that inject random failures. Tests/EndToEndTests/Torture runs them and reads their
// reports. Scripts/swift-in builds this package in the main package's build folder, so that nothing
// is compiled twice.
let package = Package(
    name: "searchlight-torture",
    dependencies: [
        .package(name: "searchlight", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // Donates until a test kills it.
        .executableTarget(
            name: "TortureDonor", dependencies: [internals, .product(name: "GRDB", package: "GRDB.swift")],
            packageAccess: false, swiftSettings: strict),
        // Runs the service with clients. Randomly kills processes, fills disks, damages and
        // replaces files, and sets clocks.
        .executableTarget(
            name: "ServiceTorture", dependencies: [internals, .product(name: "GRDB", package: "GRDB.swift")],
            packageAccess: false, swiftSettings: strict),
        // Sends requests to extensions, randomly cancels and kills, and counts leaked resources.
        .executableTarget(
            name: "ExtensionTorture", dependencies: [internals], packageAccess: false, swiftSettings: strict),
    ]
)
