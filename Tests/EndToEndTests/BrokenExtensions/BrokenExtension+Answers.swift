// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Glibc
import ServiceMessages

extension BrokenExtension {
    /// Extensions that answer a reindex wrongly.
    static let answers: [BrokenExtension] = [
        .init("answers", way: "before_it_is_durable", .works),
        .init("answers", way: "without_donating", items: 0...0, .works),
        .init("answers", way: "unknown_numbers", .works),
        .init("answers", way: "next_number", .works),
        .init("answers", way: "after_the_end", .works),
        .init("answers", way: "thread_left_behind", items: 1...201, .works),
        .init("answers", way: "from_another_thread", .works),
        .init("answers", way: "unknown_status", .fails(.failed, "a status of its own")),
        .init("answers", way: "negative_status", .fails(.failed, "less than nothing")),
        .init("answers", way: "without_reason", .fails(.failed, "no reason")),
        .init("answers", way: "malformed_reason", .fails(.refused)),
        .init("answers", way: "escaping_reason", .fails(.failed, "owned")),
        .init("answers", way: "endless_reason", .fails(.failed)),
        .init("answers", way: "with_a_page", .fails(.failed)),
        .init("answers", way: "with_a_preview", .fails(.failed)),
        .init("answers", way: "with_a_file", .fails(.failed)),
        .init("answers", way: "nobody_as_host", .fails(.invalidArgument)),
    ]

    /// Extensions that fulfil a promise wrongly.
    static let promises: [BrokenExtension] = [
        .init("promises", way: "negative_length", asked: .data, .fails(.invalidArgument)),
        .init("promises", way: "bytes_of_nowhere", asked: .data, .fails(.invalidArgument)),
        .init(
            "promises", way: "more_than_there_is", asked: .data,
            .oneOf([.fails(.tooLarge), .crashes(), .takesTooMuchMemory])),
        .init("promises", way: "a_page_too_much", asked: .data, .signal(SIGSEGV)),
        .init("promises", way: "returned_memory", asked: .data, .oneOf([.signal(SIGSEGV), .works])),
        .init("promises", way: "freed_memory", asked: .data, .works),
        .init(
            "promises", way: "a_gibibyte", asked: .data,
            .oneOf([.fails(.tooLarge), .crashes(), .takesTooMuchMemory, .works])),
        .init("promises", way: "nothing", asked: .data, .works),
        .init("promises", way: "twice", asked: .data, .works),
        .init("promises", way: "another_kind", asked: .data, .fails(.failed)),
        .init("promises", way: "all_at_once", asked: .data, .works),
        .init("promises", way: "relative_path", asked: .file, .fails(.invalidArgument)),
        .init("promises", way: "empty_path", asked: .file, .fails(.invalidArgument)),
        .init("promises", way: "no_path", asked: .file, .fails(.invalidArgument)),
        .init("promises", way: "malformed_path", asked: .file, .fails(.invalidArgument)),
        .init("promises", way: "endless_path", asked: .file, .fails(.failed)),
        .init("promises", way: "missing_file", asked: .file, .fails(.notFound)),
        .init("promises", way: "deleted_file", asked: .file, .oneOf([.fails(.notFound), .fails(.refused)])),
        .init("promises", way: "folder", asked: .file, .fails(.unsupported, "not a regular file")),
        .init("promises", way: "fifo", asked: .file, .oneOf([.fails(.unsupported), .fails(.failed)])),
        .init("promises", way: "device", asked: .file, .oneOf([.fails(.unsupported), .fails(.failed)])),
        .init("promises", way: "nothing", asked: .file, .fails(.failed)),
    ]

    /// Extensions that render wrongly.
    static let previews: [BrokenExtension] = [
        .init(
            "previews", way: "a_gibibyte", asked: .preview,
            .oneOf([.fails(.tooLarge, "32"), .cannotBeDelivered, .crashes()])),
        .init("previews", way: "unknown_type", asked: .preview, .makesNoSense("com.example.program")),
        .init("previews", way: "no_type", asked: .preview, .fails(.invalidArgument)),
        .init("previews", way: "no_size", asked: .preview, .fails(.invalidArgument)),
        .init("previews", way: "negative_length", asked: .preview, .fails(.invalidArgument)),
        .init("previews", way: "malformed_texts", asked: .preview, .works),
        .init("previews", way: "ten_thousand_attachments", asked: .preview, .fails(.tooLarge, "attachments")),
        .init("previews", way: "attachments_of_nowhere", asked: .preview, .fails(.invalidArgument, "attachment")),
        .init("previews", way: "an_attachment_that_leads_out", asked: .preview, .fails(.invalidArgument, "attachment")),
        .init("previews", way: "an_attachment_without_name", asked: .preview, .fails(.invalidArgument, "attachment")),
        .init("previews", way: "one_name_twice", asked: .preview, .fails(.invalidArgument, "attachment")),
        .init("previews", way: "attachments_too_large", asked: .preview, .fails(.tooLarge)),
    ]

    /// Extensions that donate wrongly. The one good item at the end is indexed.
    static let donations: [BrokenExtension] =
        [
            "a_title_of_32_mib", "an_identifier_of_1_mib", "a_name_of_1_mib", "malformed_texts",
            "records_that_are_too_short", "records_of_nowhere", "fewer_items_than_it_says", "fewer_names_than_it_says",
            "no_host", "items_never_released", "a_line_without_end", "empty_lines", "much_to_log", "much_progress",
            "much_misuse",
        ].map { .init("donations", way: $0, items: 1...2, .works) } + [
            .init("donations", way: "control_characters", items: 2...2, .works),
            .init("donations", way: "numbers_that_are_none", items: 1...2, .works),
            .init("donations", way: "donations_that_breed", items: 2...2, .works),
            .init("donations", way: "many_in_one_call", items: 100_001...100_001, .works),
            .init("donations", way: "many_calls", items: 2001...2001, .works),
            .init("donations", way: "many_indexes", items: 301...301, .works),
            .init("donations", way: "items_of_nowhere", items: 0...1, .oneOf([.signal(SIGSEGV), .works])),
            .init("donations", way: "text_without_end", .signal(SIGSEGV)),
            .init("donations", way: "an_item_that_was_released", items: 0...2, .oneOf([.crashes(), .works])),
        ]

    /// Extensions that describe themselves wrongly.
    static let tables: [BrokenExtension] =
        [
            ("no entry", "NO_ENTRY", .missingEntryPoint, "returned NULL"),
            ("an entry too small", "ENTRY_SIZE=8", .incompatibleABI, "entry of 8 bytes"),
            ("an entry of another age", "ENTRY_MAJOR=2", .incompatibleABI, "2.0"),
            ("an identifier of somebody else", #"ENTRY_IDENTIFIER="com.example.other""#, .identifierMismatch, "other"),
            ("no functions", "NO_FUNCTIONS", .cannotCreate, "create"),
            ("no interfaces", "NO_INTERFACES", .noInterfaces, ""),
            ("tables too small", "SHORT_TABLES", .noInterfaces, ""),
            ("a reason without end", "CREATE_FILLS_ERROR", .cannotCreate, "xxxx"),
            ("a malformed reason", "CREATE_MALFORMED_ERROR", .cannotCreate, ""),
            ("no reason", "CREATE_SILENT", .cannotCreate, "no reason"),
        ].map { (name: String, definition: String, failure: LoadFailure, text: String) in
            .init("says it has \(name)", .c("tables", [definition]), .cannotLoad(failure, text))
        } + [
            .init(
                "says it has an entry of nowhere", .c("tables", ["ENTRY_OF_NOWHERE"]), isUnusable: true,
                .signal(SIGSEGV)),
            .init(
                "says it has tables of nowhere", .c("tables", ["TABLES_OF_NOWHERE"]), isUnusable: true,
                .signal(SIGSEGV)),
            .init("says it has tables, which are empty", .c("tables", ["EMPTY_TABLES"]), .fails(.unsupported)),
            .init("is missing", .misplaced(.missing), .isRefused),
            .init("is a symbolic link", .misplaced(.linked), .isRefused),
            .init("may be written by everybody", .misplaced(.writableByAll), .isRefused),
            .init("is a folder", .misplaced(.folder), .isRefused),
            .init("is a text", .bytes(Array("#!/bin/sh\necho owned\n".utf8)), .isRefused),
            .init("is empty", .bytes([]), .isRefused),
            .init(
                "is for 32 bits", .bytes([0x7F, 0x45, 0x4C, 0x46, 1, 1, 1] + .init(repeating: 0, count: 200)),
                .isRefused),
            .init(
                "is for another machine",
                .bytes(
                    [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + .init(repeating: 0, count: 8) + [3, 0, 0xF3, 0]
                        + .init(repeating: 0, count: 200)), .isRefused),
            .init("is nothing but a header", .bytes(truncatedHeader), .isRefused),
        ]

    /// The beginning of a library for this machine, and nothing more.
    private static var truncatedHeader: [UInt8] {
        #if arch(x86_64)
            let machine: UInt8 = 62
        #else
            let machine: UInt8 = 183
        #endif
        return [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + .init(repeating: 0, count: 8) + [3, 0, machine, 0, 1, 0, 0, 0]
            + .init(repeating: 0xFF, count: 40)
    }

    /// Extensions in Swift.
    static let swift: [BrokenExtension] = [
        .init("Swift: fatalError in init", .swift("FatalErrorInInit"), isUnusable: true, .crashes()),
        .init("Swift: hangs in init", .swift("HangsInInit"), isUnusable: true, .hangs),
        .init("Swift: a class of another kind", .swift("NotAHandler"), .cannotLoad(.cannotCreate, "NotAHandler")),
        .init("Swift: no object of Foundation's", .swift("NotAnObject"), .cannotLoad(.cannotCreate, "NotAnObject")),
        .init("Swift: no such class", .swift("NoSuchClass"), .cannotLoad(.cannotCreate, "NoSuchClass")),
        .init(
            "Swift: a preview provider that provides none", .swift("PreviewProviderOnly"), .cannotLoad(.cannotCreate)),
        .init("Swift: forces nil", .swift("ForcesNil"), .crashes()),
        .init("Swift: an index out of range", .swift("IndexesOutOfRange"), asked: .data, .crashes()),
        .init("Swift: recurses", .swift("Recurses"), asked: .data, .crashes()),
        .init("Swift: throws data", .swift("ThrowsAlways"), asked: .data, .fails(.failed)),
        .init(
            "Swift: throws files", .swift("ThrowsAlways"), asked: .file, .oneOf([.fails(.failed), .fails(.notFound)])),
        .init("Swift: never acknowledges", .swift("NeverAcknowledges"), .hangs),
        .init("Swift: lets go of the handler", .swift("LetsGoOfTheHandler"), .fails(.failed)),
        .init("Swift: acknowledges fifty times at once", .swift("AcknowledgesOften"), .works),
        .init("Swift: async that never returns", .swift("AsyncThatNeverReturns"), .hangs),
        .init("Swift: blocks all tasks", .swift("BlocksAllTasks"), .oneOf([.works, .hangs])),
        .init("Swift: blocks the main queue", .swift("BlocksTheMainQueue"), .hangs),
        .init("Swift: waits for the main queue", .swift("WaitsForTheMainQueue"), .works),
        .init("Swift: ends from the main queue", .swift("EndsFromTheMainQueue"), .crashes([.exited(5)])),
        .init(
            "Swift: empty data", .swift("EmptyAnswers"), asked: .data,
            .oneOf([.works, .fails(.notFound), .fails(.failed)])),
        .init(
            "Swift: an empty URL", .swift("EmptyAnswers"), asked: .file, .oneOf([.fails(.notFound), .fails(.failed)])),
    ]
}
