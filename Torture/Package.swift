// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// What is tortured has `package` access. Its package is called after its folder: SwiftPM passes that name to the compiler.
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

// The programs that break things at random for Tests/EndToEndTests/Torture, which reads what they report. Scripts/swift-in builds
// this in the folder of the main package, so that nothing is compiled twice.
let package = Package(
    name: "searchlight-torture",
    dependencies: [
        .package(name: "searchlight", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // Donates until a test has it killed.
        .executableTarget(
            name: "TortureDonor", dependencies: [internals, .product(name: "GRDB", package: "GRDB.swift")],
            packageAccess: false, swiftSettings: strict),
        // Runs the service among clients, and kills, fills, damages, replaces and sets clocks at random.
        .executableTarget(
            name: "ServiceTorture", dependencies: [internals], packageAccess: false, swiftSettings: strict),
        // Asks extensions, cancels and kills at random, and counts what is left.
        .executableTarget(
            name: "ExtensionTorture", dependencies: [internals], packageAccess: false, swiftSettings: strict),
    ]
)
