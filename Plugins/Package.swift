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
        .library(name: "Journal", type: .dynamic, targets: ["Journal"]),
        .library(name: "Documents", type: .dynamic, targets: ["Documents"]),
        .library(name: "Contacts", type: .dynamic, targets: ["Contacts"]),
        .library(name: "Calendars", type: .dynamic, targets: ["Calendars"]),
        .library(name: "Pictures", type: .dynamic, targets: ["Pictures"]),
        .library(name: "Manuals", type: .dynamic, targets: ["Manuals"]),
        .library(name: "WebPages", type: .dynamic, targets: ["WebPages"]),
    ],
    dependencies: [
        .package(name: "searchlight", path: ".."),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // Journal: folders of Markdown and plain-text notes
        .target(
            name: "Journal",
            dependencies: [
                "JournalNotes", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(
            name: "JournalNotes",
            dependencies: ["FileReading", "CMarkGFM", "CTOML", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict),
        // Documents: folders of PDF, office documents, books, pages and text
        .target(
            name: "Documents",
            dependencies: [
                "DocumentReading", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(
            name: "DocumentReading",
            dependencies: [
                "FileReading", "JournalNotes", "CLibArchive", "CPoppler",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        // Contacts: vCard files, and the address books of Evolution
        .target(
            name: "Contacts",
            dependencies: [
                "ContactCards", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(
            name: "ContactCards", dependencies: ["ContentLines", "FileReading", "CLibSQLite"], swiftSettings: strict),
        // Calendars: iCalendar files
        .target(
            name: "Calendars",
            dependencies: [
                "CalendarEntries", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(
            name: "CalendarEntries", dependencies: ["ContentLines", "FileReading", "CCalendar"], swiftSettings: strict),
        // The line format of vCard and iCalendar
        .target(name: "ContentLines", dependencies: ["FileReading"], swiftSettings: strict),
        // Pictures: folders of pictures
        .target(
            name: "Pictures",
            dependencies: [
                "PictureReading", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(
            name: "PictureReading",
            dependencies: ["FileReading", "CPictures", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
        // C functions that wrap the picture decoders. libheif is loaded at run time
        // (docs/decisions/0030).
        .target(
            name: "CPictures", cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")],
            linkerSettings: ["jpeg", "png16", "tiff", "webp", "webpdemux", "gif", "gcrypt"].map { .linkedLibrary($0) }),
        // Manuals: manual pages, Info, and package documentation
        .target(
            name: "Manuals",
            dependencies: [
                "ManualReading", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(name: "ManualReading", dependencies: ["FileReading", "CLibArchive"], swiftSettings: strict),
        // Web Pages: saved web pages
        .target(
            name: "WebPages",
            dependencies: [
                "WebPageReading", "FileDonations", "FileReading",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .target(name: "WebPageReading", dependencies: ["FileReading"], swiftSettings: strict),
        // The files of configured folders, and their items
        .target(
            name: "FileReading", dependencies: ["CFileBirth", "CMarkup", "CUchardet"], swiftSettings: strict),
        .target(
            name: "FileDonations",
            dependencies: ["FileReading", .product(name: "CoreSpotlight", package: "searchlight")],
            swiftSettings: strict),
        .target(
            name: "CFileBirth", cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")]),
        // Three C functions that wrap toml++.
        .target(name: "CTOML", cxxSettings: [.treatAllWarnings(as: .error)]),
        // C functions that wrap libxml2's HTML and XML parsers.
        .target(name: "CMarkup", dependencies: ["CLibXML2"], cSettings: [.treatAllWarnings(as: .error)]),
        // C functions that wrap poppler's GLib library, which is loaded at run time
        // (docs/decisions/0029).
        .target(name: "CPoppler", cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")]),
        // C functions that wrap libical's recurrence rules and time zones.
        .target(
            name: "CCalendar",
            cSettings: [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")],
            // Its .pc file also names libicalss, which loads Berkeley DB.
            linkerSettings: [.linkedLibrary("ical")]),
        .systemLibrary(name: "CLibSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLibArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CUchardet", pkgConfig: "uchardet", providers: [.apt(["libuchardet-dev"])]),
        .systemLibrary(
            name: "CMarkGFM", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        // Shared by the tests of several extensions
        .target(
            name: "PluginTesting",
            dependencies: ["FileDonations", .product(name: "CoreSpotlight", package: "searchlight")],
            path: "Tests/PluginTesting", swiftSettings: strict),
        .testTarget(
            name: "JournalNotesTests",
            dependencies: ["JournalNotes", "FileReading", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict),
        .testTarget(
            name: "DocumentReadingTests", dependencies: ["DocumentReading", "PluginTesting"], swiftSettings: strict),
        .testTarget(
            name: "DocumentsTests",
            dependencies: [
                "Documents", "DocumentReading", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ContactCardsTests", dependencies: ["ContactCards", "ContentLines", "FileReading", "PluginTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "CalendarEntriesTests",
            dependencies: ["CalendarEntries", "ContentLines", "FileReading", "PluginTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "ContactsTests",
            dependencies: [
                "Contacts", "ContactCards", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CalendarsTests",
            dependencies: [
                "Calendars", "CalendarEntries", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PictureReadingTests", dependencies: ["PictureReading", "FileReading", "PluginTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "PicturesTests",
            dependencies: [
                "Pictures", "PictureReading", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ManualReadingTests", dependencies: ["ManualReading", "FileReading", "PluginTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "ManualsTests",
            dependencies: [
                "Manuals", "ManualReading", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WebPageReadingTests", dependencies: ["WebPageReading", "FileReading", "PluginTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "WebPagesTests",
            dependencies: [
                "WebPages", "WebPageReading", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "JournalTests",
            dependencies: [
                "Journal", "JournalNotes", "FileDonations", "FileReading", "PluginTesting",
                .product(name: "CoreSpotlight", package: "searchlight"),
            ],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
