// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]
let strictC: [CSetting] = [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")]

// Scripts/release sets this variable. The value is a C definition, so another commit recompiles
// only one small file.
let commit = Context.environment["SEARCHLIGHT_COMMIT"].flatMap { text in
    text.isEmpty || !text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
        ? nil : text
}
let buildFacts: [CSetting] = commit.map { [.define("SEARCHLIGHT_COMMIT", to: "\"\($0)\"")] } ?? []

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
// The C API of SQLite, for the FTS5 tokenizer and ranking functions, and for baselines.
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

// docs/ARCHITECTURE.md explains the dependencies between modules. Lower modules are further down.
let package = Package(
    name: "searchlight",
    products: [
        .executable(name: "searchlight", targets: ["searchlight"]),
        .executable(name: "searchlightd", targets: ["searchlightd"]),
        .executable(name: "searchlight-worker", targets: ["searchlight-worker"]),
        .executable(name: "searchlight-quicklook", targets: ["searchlight-quicklook"]),
        // The library that apps and extensions link. It is shared, so that all code of a process
        // uses the same classes.
        .library(
            name: "CoreSpotlight", type: .dynamic,
            targets: ["CoreSpotlight", "UniformTypeIdentifiers", "MobileCoreServices", "QuickLook", "QuickLookUI"]),
        // A product only for the packages Benchmarks, Desktop and Torture.
        .library(
            name: "SearchlightInternals",
            targets: [
                "SearchlightEngine", "ExtensionHost", "ExtensionRuntime", "SearchIndex", "WriteAheadLog",
                "UserSearch", "MetadataQuery", "TextAnalysis", "SemanticEmbedding", "Promises", "Previews",
                "QuickLookServer",
                "IdleScheduling", "AppLaunching", "DesktopSearch", "CommandSupport",
                "ConditionSensors", "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages", "CSystem",
                "UniformTypeIdentifiers", "FileWatching", "TestSupport", "CTestSupport", "TortureSupport",
            ]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // Programs
        .executableTarget(
            name: "searchlight",
            dependencies: [
                "SearchlightEngine", "ExtensionValidation", "ExtensionRuntime", "SearchIndex", "ExtensionHost",
                "MetadataQuery", "UserSearch", "Promises", "Previews", "IdleScheduling", "SchedulerSimulation",
                "ConditionSensors", "CommandSupport", "ItemRecord", "SystemSupport", "BusTransport",
                "UniformTypeIdentifiers", "Diagnosis", "AssistantServer", "JSONText", "DatabaseBindings",
                "AppLaunching", "Protection", "BoundaryRecording", arguments,
            ], resources: [.embedInCode("Templates")], swiftSettings: strict),
        .executableTarget(
            name: "searchlightd",
            dependencies: [
                "SearchlightService", "SearchlightEngine", "ExtensionHost", "Promises", "Protection",
                "ConditionSensors", "SystemSupport", "CSystemd", "CStart", "CWipedMemory", arguments,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "searchlight-worker", dependencies: ["ExtensionRuntime", "CSandbox", "CBuildFacts", "CStart"],
            cSettings: strictC),
        .executableTarget(
            name: "searchlight-quicklook",
            dependencies: [
                "QuickLookServer", "CommandSupport", "SearchlightEngine", "ExtensionHost", arguments,
            ],
            swiftSettings: strict),

        // Libraries for app authors
        .target(
            name: "CoreSpotlight",
            dependencies: [
                "TextAnalysis", "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages",
                "UniformTypeIdentifiers",
                "SearchlightExtension",
            ],
            swiftSettings: strict),
        // Other module names for the same declarations. CoreServices is not among them: portable
        // source checks `canImport(CoreServices)` to detect file system events.
        .target(
            name: "MobileCoreServices", dependencies: ["UniformTypeIdentifiers"],
            path: "Sources/ModuleNames/MobileCoreServices", swiftSettings: strict),
        .target(
            name: "QuickLook", dependencies: ["CoreSpotlight"], path: "Sources/ModuleNames/QuickLook",
            swiftSettings: strict),
        .target(
            name: "QuickLookUI", dependencies: ["CoreSpotlight"], path: "Sources/ModuleNames/QuickLookUI",
            swiftSettings: strict),

        // The service
        .target(
            name: "SearchlightService",
            dependencies: [
                "FileWatching", "SearchlightEngine", "SearchIndex", "ExtensionHost", "Promises", "Previews",
                "MetadataQuery",
                "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages", "IdleScheduling", "ConditionSensors",
                "CFiles", "CSystem", "UserSearch", "AppLaunching", "DesktopSearch",
            ],
            swiftSettings: strict),
        .target(
            name: "SearchlightEngine",
            dependencies: [
                "FileWatching", "SearchIndex", "MetadataQuery", "UserSearch", "ExtensionHost", "Promises", "Previews",
                "IdleScheduling", "ConditionSensors", "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages",
                "UniformTypeIdentifiers", "CSandbox", "CBuildFacts", "SearchlightExtension", "AppLaunching",
                "SemanticEmbedding", "Protection", "WriteAheadLog",
            ], swiftSettings: strict),
        .target(
            name: "SearchIndex",
            dependencies: [
                "WriteAheadLog", "MetadataQuery", "TextAnalysis", "UserSearch", "ItemRecord", "SystemSupport",
                "UniformTypeIdentifiers", "CRecordCompression", "SemanticEmbedding", grdb, sqlite,
            ], resources: [.embedInCode("schema.sql"), .embedInCode("FullText/full-text.sql")], swiftSettings: strict),
        .target(
            name: "CRecordCompression", dependencies: ["CZstd"],
            exclude: ["dictionary-1.txt", "dictionary-2.inc"], cSettings: strictC,
            linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "FileWatching", dependencies: ["SystemSupport", "CSystem", grdb],
            resources: [.embedInCode("snapshot.sql")], swiftSettings: strict),
        .target(name: "WriteAheadLog", dependencies: ["ItemRecord", "SystemSupport"], swiftSettings: strict),
        .target(
            name: "ExtensionHost",
            dependencies: [
                "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages", "CSystem", "SymbolBindings",
                "DatabaseBindings", "JSONText",
                "UniformTypeIdentifiers", "CSandbox", "CSeccomp",
            ],
            swiftSettings: strict),
        .target(
            name: "Promises",
            dependencies: [
                "ItemRecord", "JSONText", "SystemSupport", "ServiceMessages", "UniformTypeIdentifiers", "CSandbox",
                "CFiles", "CGcrypt",
            ],
            resources: [
                "browser", "file-manager", "image-editor", "mail-composer", "plain-text-editor", "rich-text-editor",
                "terminal",
            ].map { .embedInCode("Receivers/\($0).json") }, swiftSettings: strict),
        .target(
            name: "Previews",
            dependencies: ["MetadataQuery", "TextAnalysis", "UserSearch", "ItemRecord", "UniformTypeIdentifiers"],
            swiftSettings: strict),
        .target(name: "JSONText", swiftSettings: strict),
        .target(name: "IdleScheduling", dependencies: ["JSONText"], swiftSettings: strict),
        .target(
            name: "SchedulerSimulation", dependencies: ["IdleScheduling", "JSONText"],
            resources: [
                "laptop-office-day", "laptop-on-battery", "build-server", "never-idle", "resume-from-sleep",
            ].map { .embedInCode("Shipped/\($0).jsonl") } + [.embedInCode("Plot/plot.css")], swiftSettings: strict),
        .target(
            name: "ConditionSensors", dependencies: ["IdleScheduling", "SystemSupport", "BusTransport", "CSystem"],
            swiftSettings: strict),
        .target(
            name: "UserSearch", dependencies: ["MetadataQuery", "TextAnalysis", "ItemRecord", "CStemmer"],
            swiftSettings: strict),
        .target(
            name: "MetadataQuery", dependencies: ["ItemRecord", "TextAnalysis", "CTables"], swiftSettings: strict),
        .target(
            name: "SemanticEmbedding",
            dependencies: ["CEmbeddingKernels", "JSONText", "SystemSupport", "TextAnalysis"], swiftSettings: strict),
        .target(name: "CEmbeddingKernels", cSettings: strictC),
        .target(name: "TextAnalysis", dependencies: ["CTextTables"], swiftSettings: strict),
        .target(name: "CTextTables", cSettings: strictC),

        // The choice and the start of the app that opens an item
        .target(
            name: "AppLaunching", dependencies: ["SystemSupport", "BusTransport", "UniformTypeIdentifiers", "CSystem"],
            swiftSettings: strict),

        // The rules of the interfaces by which GNOME and KDE search
        .target(
            name: "DesktopSearch",
            dependencies: ["BusTransport", "Previews", "UserSearch", "UniformTypeIdentifiers"], swiftSettings: strict),

        // The index for local assistants, over the Model Context Protocol
        .target(
            name: "AssistantServer",
            dependencies: [
                "SearchlightEngine", "SearchIndex", "MetadataQuery", "ItemRecord", "Previews", "JSONText",
                "SystemSupport",
            ],
            swiftSettings: strict),

        // Code that the command and its Quick Look server share
        .target(
            name: "CommandSupport",
            dependencies: [
                "SearchlightEngine", "SearchIndex", "ExtensionHost", "Promises", "Previews", "SystemSupport", "CStart",
                arguments,
            ], swiftSettings: strict),

        // The web page with search, previews and drags
        .target(
            name: "QuickLookServer",
            dependencies: [
                "SearchlightEngine", "SearchIndex", "ExtensionHost", "Promises", "Previews", "SystemSupport",
                "BusTransport", "UniformTypeIdentifiers", "CLoopback", "UserSearch", "AppLaunching",
            ], resources: [.embedInCode("Page/script.js"), .embedInCode("Page/style.css")], swiftSettings: strict),

        // The checks of “searchlight doctor”
        .target(
            name: "Diagnosis",
            dependencies: [
                "SearchlightEngine", "ExtensionHost", "SymbolBindings", "IdleScheduling", "ConditionSensors",
                "SystemSupport", "BusTransport", "CSandbox",
            ], swiftSettings: strict),

        // The validator of extensions, for authors
        .target(
            name: "ExtensionValidation",
            dependencies: [
                "ExtensionHost", "Promises", "Previews", "ItemRecord", "MetadataQuery", "BusTransport", "SystemSupport",
                "ServiceMessages",
                "UniformTypeIdentifiers", "BoundaryRecording",
            ],
            swiftSettings: strict),

        // The worker
        .target(
            name: "ExtensionRuntime",
            dependencies: [
                "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages", "SymbolBindings", "DatabaseBindings",
                "JSONText", "SearchlightExtension", "CSandbox", "CFFI", "CFiles", "CSQLite", "BoundaryRecording",
            ],
            swiftSettings: strict),
        // The calls between an extension and its host, in a file
        .target(
            name: "BoundaryRecording", dependencies: ["ItemRecord", "ServiceMessages", "SystemSupport"],
            swiftSettings: strict),

        // Foundations
        .target(name: "SymbolBindings", swiftSettings: strict),
        .target(
            name: "DatabaseBindings", dependencies: ["ItemRecord", "JSONText", "MetadataQuery"], swiftSettings: strict),
        .target(name: "CSQLite", cSettings: strictC, linkerSettings: [.linkedLibrary("dl")]),
        .systemLibrary(name: "CFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        // libstemmer has no pkg-config file.
        .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "CSeccomp", cSettings: strictC, linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "ServiceMessages", dependencies: ["ItemRecord", "BusTransport", "SystemSupport", "CSystem"],
            resources: [.embedInCode("Introspection.xml")], swiftSettings: strict),
        .target(name: "BusTransport", dependencies: ["SystemSupport", "CSystem", "CSystemd"], swiftSettings: strict),
        .target(name: "SystemSupport", dependencies: ["CSystem"], swiftSettings: strict),
        // The encrypted files of protected indexes
        .target(
            name: "Protection",
            dependencies: ["WriteAheadLog", "ItemRecord", "SystemSupport", "BusTransport", "CSodium", "CGcrypt"],
            swiftSettings: strict),
        .target(name: "ItemRecord", swiftSettings: strict),
        .target(name: "UniformTypeIdentifiers", dependencies: ["CTables"], swiftSettings: strict),
        // The headers for C and C++, and the crate for Rust.
        .target(name: "SearchlightExtension", exclude: ["go", "python", "rust", "zig"], cSettings: strictC),
        .target(name: "CSandbox", cSettings: strictC),
        .target(
            name: "CTables",
            exclude: [
                "types-exported.txt", "types-imported.txt", "types-elsewhere.txt",
                "mime-names.txt",
                "attribute-keys.txt", "attribute-kinds.txt",
            ],
            cSettings: strictC),
        .target(name: "CFiles", cSettings: strictC),
        .target(name: "CSystem", cSettings: strictC),
        .target(name: "CLoopback", cSettings: strictC),
        .target(name: "CStart", cSettings: strictC),
        .target(name: "CWipedMemory", cSettings: strictC),
        .target(name: "CBuildFacts", cSettings: strictC + buildFacts),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),

        // Tests
        .target(name: "CTestSupport", path: "Tests/CTestSupport", cSettings: strictC),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport", "IdleScheduling", "SystemSupport"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "MessageSupport", dependencies: ["BusTransport", "ItemRecord", "ServiceMessages"],
            path: "Tests/MessageSupport",
            swiftSettings: strict),
        .target(
            name: "TortureSupport", dependencies: ["SearchIndex", "ItemRecord", "TestSupport"],
            path: "Tests/TortureSupport", swiftSettings: strict),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "MetadataQuery", "UserSearch", "ItemRecord", "WriteAheadLog", "Protection", "SystemSupport",
                "SymbolBindings",
                "DatabaseBindings",
                "IdleScheduling", "SchedulerSimulation", "Promises", "Previews", "QuickLookServer", "AppLaunching",
                "DesktopSearch", "JSONText", "UniformTypeIdentifiers", "TextAnalysis", "SemanticEmbedding",
                "ExtensionRuntime", "TestSupport",
            ],
            path: "Tests/Fuzz",
            swiftSettings: strict),
        .testTarget(name: "ItemRecordTests", dependencies: ["ItemRecord", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SystemSupportTests", dependencies: ["SystemSupport", "CSystem", "TestSupport"], swiftSettings: strict
        ),
        .testTarget(
            name: "BusTransportTests",
            dependencies: [
                "MessageSupport", "SystemSupport", "BusTransport", "ServiceMessages", "CSystem", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SearchIndexTests",
            dependencies: [
                "SearchIndex", "UserSearch", "WriteAheadLog", "MetadataQuery", "TextAnalysis", "ItemRecord",
                "TestSupport",
                grdb,
            ], swiftSettings: strict),
        .testTarget(
            name: "FileWatchingTests",
            dependencies: ["FileWatching", "SystemSupport", "TestSupport", "CTestSupport", "CSystem", grdb],
            swiftSettings: strict),
        .testTarget(
            name: "WriteAheadLogTests", dependencies: ["WriteAheadLog", "ItemRecord", "SystemSupport", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ProtectionTests",
            dependencies: ["Protection", "WriteAheadLog", "ItemRecord", "SystemSupport", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PromisesTests",
            dependencies: [
                "Promises", "ItemRecord", "SystemSupport", "ServiceMessages", "UniformTypeIdentifiers", "CSandbox",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PreviewsTests",
            dependencies: ["Previews", "UserSearch", "MetadataQuery", "TextAnalysis", "ItemRecord", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "QuickLookServerTests",
            dependencies: ["QuickLookServer", "ExtensionHost", "SystemSupport", "TestSupport", "CTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DatabaseBindingsTests", dependencies: ["DatabaseBindings", "ItemRecord", "JSONText", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SymbolBindingsTests", dependencies: ["SymbolBindings", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ExtensionHostTests",
            dependencies: [
                "ExtensionHost", "CSeccomp", "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages",
                "CSandbox",
                "TestSupport", "CTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BoundaryRecordingTests",
            dependencies: [
                "BoundaryRecording", "ItemRecord", "ServiceMessages", "SystemSupport", "SearchlightExtension",
                "TestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "ExtensionRuntimeTests",
            dependencies: [
                "MessageSupport", "BoundaryRecording",
                "ExtensionRuntime", "SymbolBindings", "DatabaseBindings", "SearchlightExtension",
                "ItemRecord",
                "BusTransport", "ServiceMessages", "SystemSupport", "TestSupport", sqlite,
            ], swiftSettings: strict),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText"], swiftSettings: strict),
        .testTarget(
            name: "IdleSchedulingTests", dependencies: ["IdleScheduling", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SchedulerSimulationTests", dependencies: ["SchedulerSimulation", "IdleScheduling", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ConditionSensorsTests",
            dependencies: ["ConditionSensors", "IdleScheduling", "BusTransport", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DiagnosisTests",
            dependencies: [
                "Diagnosis", "SearchlightEngine", "ExtensionHost", "IdleScheduling", "ConditionSensors", "TestSupport",
            ],
            swiftSettings: strict),
        // Measures the cost of the sensors in a separate process.
        .executableTarget(
            name: "ConditionProbe", dependencies: ["ConditionSensors", "IdleScheduling"], path: "Tests/ConditionProbe",
            swiftSettings: strict),
        .testTarget(
            name: "UniformTypeIdentifiersTests", dependencies: ["UniformTypeIdentifiers", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "TextAnalysisTests", dependencies: ["TextAnalysis", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SemanticEmbeddingTests",
            dependencies: ["SemanticEmbedding", "CEmbeddingKernels", "TestSupport"],
            exclude: ["Reference"], swiftSettings: strict),
        .testTarget(
            name: "UserSearchTests",
            dependencies: [
                "UserSearch", "MetadataQuery", "ItemRecord", "TextAnalysis", "UniformTypeIdentifiers", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MetadataQueryTests",
            dependencies: ["MetadataQuery", "ItemRecord", "TextAnalysis", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "AssistantServerTests",
            dependencies: [
                "AssistantServer", "SearchlightEngine", "ExtensionHost", "SearchIndex", "ItemRecord", "JSONText",
                "TestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "DesktopSearchTests",
            dependencies: ["DesktopSearch", "BusTransport", "UserSearch", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "AppLaunchingTests",
            dependencies: ["AppLaunching", "BusTransport", "UniformTypeIdentifiers", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SearchlightEngineTests",
            dependencies: [
                "AppLaunching", "Protection",
                "SearchlightEngine", "SearchIndex", "MetadataQuery", "UserSearch", "ExtensionHost", "IdleScheduling",
                "Promises",
                "Previews", "ItemRecord", "BusTransport", "ServiceMessages", "SystemSupport", "TestSupport",
                "WriteAheadLog",
            ], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BoundaryRecording",
                "MessageSupport",
                "SearchlightEngine", "SearchIndex", "MetadataQuery", "ExtensionHost", "ExtensionRuntime",
                "ExtensionValidation", "IdleScheduling", "Promises", "Previews", "QuickLookServer", "WriteAheadLog",
                "ItemRecord", "Protection", "UserSearch",
                "SystemSupport", "BusTransport", "ServiceMessages", "TestSupport", "TortureSupport", "FileWatching",
                sqlite,
            ], swiftSettings: strict),
        // A client in another process.
        .executableTarget(
            name: "ServiceClient", dependencies: ["SystemSupport", "BusTransport", "ServiceMessages"],
            path: "Tests/ServiceClient",
            swiftSettings: strict),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "MessageSupport", "MetadataQuery",
                "SearchIndex", "SearchlightService", "SearchlightEngine", "ExtensionHost", "IdleScheduling", "Previews",
                "QuickLookServer",
                "ItemRecord", "SystemSupport", "BusTransport", "ServiceMessages", "CoreSpotlight", "TestSupport",
                grdb,
            ], swiftSettings: strict),
        // An app in another process that uses only the public library.
        .executableTarget(
            name: "TestApp", dependencies: ["CoreSpotlight", "UniformTypeIdentifiers", "PortedSources"],
            path: "Tests/TestApp",
            swiftSettings: strict),
        // Source written for Apple's SDK. The test is that it compiles in both language modes,
        // without the compiler settings of this package.
        .target(
            name: "PortedSources",
            dependencies: [
                "CoreSpotlight", "UniformTypeIdentifiers", "MobileCoreServices", "QuickLook", "QuickLookUI",
            ],
            path: "Tests/PortedSources/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(
            name: "PortedSourcesInSwift6",
            dependencies: [
                "CoreSpotlight", "UniformTypeIdentifiers", "MobileCoreServices", "QuickLook", "QuickLookUI",
            ],
            path: "Tests/PortedSources/Swift6",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .testTarget(
            name: "CoreSpotlightTests",
            dependencies: [
                "MessageSupport",
                "CoreSpotlight", "MetadataQuery", "SearchlightExtension", "ItemRecord", "SystemSupport", "BusTransport",
                "ServiceMessages", "UniformTypeIdentifiers", "PortedSources", "PortedSourcesInSwift6", "TestSupport",
            ],
            swiftSettings: strict),
    ]
)
