// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The benchmarks use declarations with `package` access. SwiftPM names a package after its folder.
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

// Scripts/swift-in builds this package in the main package's build folder, so that nothing is
// compiled twice.
let package = Package(
    name: "searchlight-benchmarks",
    dependencies: [
        .package(name: "searchlight", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                internals, .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], exclude: ["thresholds.json"], packageAccess: false, swiftSettings: strict),
        .testTarget(
            name: "BenchmarkTests", dependencies: ["benchmarks", internals], packageAccess: false, swiftSettings: strict
        ),
    ]
)
