// SPDX-License-Identifier: Apache-2.0

/// A host function that a C extension may call, as declared in `searchlight_extension.h`.
package struct BoundaryFunction: Sendable, Hashable {
    /// The meaning of a text, which determines how the scrubber treats it.
    package enum TextRole: Sendable, Hashable {
        /// Text that may be personal: identifiers, titles, messages.
        case personal
        /// A name in a vocabulary: an attribute, a uniform type or an interface.
        case vocabulary
    }

    /// A kind of object that the host creates.
    package enum ObjectKind: UInt8, Sendable, Hashable, CaseIterable {
        case item = 1
        case batch = 2
        case stream = 3
    }

    /// The signature of a completion or handler.
    package enum CallbackKind: Sendable, Hashable {
        /// `searchlight_completion`
        case completion
        /// `searchlight_state_completion`
        case state
        /// `searchlight_listing_completion`
        case listing
        /// `searchlight_cancel_handler`
        case cancel
    }

    /// A parameter. Most parameters correspond to one C argument.
    package enum Parameter: Sendable, Hashable {
        case host
        case request
        case object(ObjectKind)
        /// A C string.
        case text(TextRole)
        /// A C string of which the host reads at most 16 KiB.
        case message
        /// An array of C strings and its length.
        case texts(TextRole)
        /// Two arrays of C strings and their common length.
        case textPairs
        /// An array of items and its length.
        case items
        /// A pointer to bytes, and the number of bytes. The host reads no bytes beyond the limit.
        case bytes(limit: Int)
        case int32
        case uint32
        case int64
        case double
        /// A function and its context.
        case callback(CallbackKind)
        /// A pointer to a `searchlight_preview_reply`.
        case preview
    }

    package enum Result: Sendable, Hashable {
        case none
        /// A `searchlight_status`, or 1 or 0.
        case int32
        case object(ObjectKind)
        /// A table of functions, or NULL.
        case table
    }

    /// The number in recordings: 16 for each interface, plus the position in its table.
    package let number: UInt8
    /// The identifier of the interface; empty for `searchlight_host` itself.
    package let interface: String
    package let name: String
    package let parameters: [Parameter]
    package let result: Result
    /// `true` if an extension may call the function any number of times with the same effect.
    /// Recordings leave out such calls.
    package let isPoll: Bool
    /// `true` if the function answers a request.
    package var isAnswer: Bool { name.hasPrefix("finish") }

    /// The name in reports, such as `searchlight.items/1 set_string`.
    package var title: String { interface.isEmpty ? name : "\(interface) \(name)" }
}

/// A table of host functions.
package struct BoundaryInterface: Sendable {
    package let identifier: String
    package let functions: [BoundaryFunction]

    private init(_ number: UInt8, _ identifier: String, _ functions: [Declaration]) {
        self.identifier = identifier
        self.functions = functions.enumerated().map { position, function in
            BoundaryFunction(
                number: number << 4 | UInt8(position), interface: identifier, name: function.name,
                parameters: function.parameters, result: function.result, isPoll: function.isPoll)
        }
    }

    private struct Declaration {
        let name: String
        let parameters: [BoundaryFunction.Parameter]
        let result: BoundaryFunction.Result
        var isPoll = false

        init(
            _ name: String, _ parameters: [BoundaryFunction.Parameter], _ result: BoundaryFunction.Result,
            isPoll: Bool = false
        ) {
            (self.name, self.parameters, self.result, self.isPoll) = (name, parameters, result, isPoll)
        }
    }

    /// The function in `searchlight_host` itself.
    package static let getInterface = BoundaryInterface(
        0, "", [Declaration("get_interface", [.host, .text(.vocabulary)], .table)]
    ).functions[0]

    /// The maximum size of an encoded batch that the host reads, in bytes.
    private static let batchBytes = 32 << 20
    /// `SEARCHLIGHT_CLIENT_STATE_MAX`
    private static let stateBytes = 250
    /// `SEARCHLIGHT_CURSOR_MAX`
    private static let cursorBytes = 4096
    private static let name = BoundaryFunction.Parameter.text(.personal)
    private static let word = BoundaryFunction.Parameter.text(.vocabulary)
    private static let state = BoundaryFunction.Parameter.bytes(limit: stateBytes)
    private static let done = BoundaryFunction.Parameter.callback(.completion)
    private static let item = BoundaryFunction.Parameter.object(.item)
    private static let batch = BoundaryFunction.Parameter.object(.batch)
    private static let stream = BoundaryFunction.Parameter.object(.stream)

    /// All interfaces of the host, with their functions in table order. The numbers never change.
    package static let all: [BoundaryInterface] = [
        BoundaryInterface(
            1, "searchlight.request/1",
            [
                Declaration("finish", [.host, .request, .int32, .message], .none),
                Declaration("finish_with_data", [.host, .request, .bytes(limit: .max)], .none),
                Declaration("finish_with_file", [.host, .request, name, .int32], .none),
                Declaration("finish_with_preview", [.host, .request, .preview], .none),
                Declaration("finish_page", [.host, .request, .bytes(limit: cursorBytes)], .none),
            ]),
        BoundaryInterface(
            2, "searchlight.cancel/1",
            [
                Declaration("is_cancelled", [.host, .request], .int32, isPoll: true),
                Declaration("set_handler", [.host, .request, .callback(.cancel)], .none),
            ]),
        BoundaryInterface(
            3, "searchlight.progress/1", [Declaration("report", [.host, .request, .int64, .int64], .none)]),
        BoundaryInterface(
            4, "searchlight.thread-check/1",
            ["is_main_thread", "is_load_thread", "is_request_thread"].map { Declaration($0, [.host], .int32) }),
        BoundaryInterface(
            5, "searchlight.items/1",
            [
                Declaration("create", [.host, name, name, word], .object(.item)),
                Declaration("set_string", [item, word, name], .int32),
                Declaration("set_strings", [item, word, .texts(.personal)], .int32),
                Declaration("set_integer", [item, word, .int64], .int32),
                Declaration("set_number", [item, word, .double], .int32),
                Declaration("set_boolean", [item, word, .int32], .int32),
                Declaration("set_date", [item, word, .double], .int32),
                Declaration("set_data", [item, word, .bytes(limit: .max)], .int32),
                Declaration("set_expiration", [item, .double], .int32),
                Declaration("release", [item], .none),
            ]),
        BoundaryInterface(
            6, "searchlight.custom-keys/1", [Declaration("set_traits", [item, word, .uint32], .int32)]),
        BoundaryInterface(
            7, "searchlight.index/1",
            [
                Declaration("index_items", [.host, name, .items, done], .int32),
                Declaration("index_records", [.host, name, .bytes(limit: batchBytes), done], .int32),
                Declaration("delete_items", [.host, name, .texts(.personal), done], .int32),
                Declaration("delete_domains", [.host, name, .texts(.personal), done], .int32),
                Declaration("delete_all", [.host, name, done], .int32),
            ]),
        BoundaryInterface(
            8, "searchlight.batch/1",
            [
                Declaration("create", [.host], .object(.batch)),
                Declaration("index_items", [batch, .items], .int32),
                Declaration("delete_items", [batch, .texts(.personal)], .int32),
                Declaration("delete_domains", [batch, .texts(.personal)], .int32),
                Declaration("delete_all", [batch], .int32),
                Declaration("release", [batch], .none),
                Declaration("commit", [.host, name, batch, state, .int32, state, done], .int32),
                Declaration(
                    "commit_changes", [.host, name, .bytes(limit: batchBytes), state, .int32, state, done], .int32),
                Declaration("read_state", [.host, name, .callback(.state)], .int32),
            ]),
        BoundaryInterface(
            9, "searchlight.rename/1",
            [
                Declaration("rename_items", [.host, name, .textPairs, done], .int32),
                Declaration("rename_in_batch", [batch, .textPairs], .int32),
            ]),
        BoundaryInterface(
            10, "searchlight.listing/1",
            [Declaration("list_items", [.host, name, name, .uint32, .callback(.listing)], .int32)]),
        BoundaryInterface(11, "searchlight.log/1", [Declaration("log", [.host, .int32, .message], .none)]),
        BoundaryInterface(
            12, "searchlight.left-out/1", [Declaration("report", [.host, .message, .message], .none)]),
        BoundaryInterface(
            13, "searchlight.content-draft/1",
            [
                Declaration("finish_with_descriptor", [.host, .request, .int32, name], .none),
                Declaration("finish_with_stream", [.host, .request, .int64], .object(.stream)),
                Declaration("write", [stream, .bytes(limit: .max)], .int32),
                Declaration("end", [stream], .none),
            ]),
        BoundaryInterface(
            14, "searchlight.protection/1", [Declaration("set_class", [.host, name, .int32], .int32)]),
    ]

    private static let functions: [UInt8: BoundaryFunction] = Dictionary(
        ([getInterface] + all.flatMap(\.functions)).map { ($0.number, $0) }
    ) { first, _ in first }

    /// Returns the function with a number; `nil` if there is none.
    package static func function(_ number: UInt8) -> BoundaryFunction? { functions[number] }
}

/// A call of the host to the extension.
package enum HostCallKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Opening the library and creating the extension object.
    case load = 1
    case reindexAll, reindexItems, reindexPage, updateFiles, provideData, provideFile, preview
    case didThrottle, didFinishThrottle
    case reindexEncrypted
    /// A callback that the extension passed in an earlier call.
    case completion = 32
    case state, listing, cancel

    /// `true` if the host makes the call on its own initiative instead of calling back the
    /// extension.
    package var isRequest: Bool { rawValue > HostCallKind.load.rawValue && rawValue < HostCallKind.completion.rawValue }
    package var isCallback: Bool { rawValue >= HostCallKind.completion.rawValue }

    /// The extension's C function.
    package var title: String {
        switch self {
        case .load: "create"
        case .reindexAll: "reindex_all"
        case .reindexItems: "reindex_items"
        case .reindexPage: "reindex_page"
        case .reindexEncrypted: "reindex_encrypted_items"
        case .updateFiles: "update_files"
        case .provideData: "provide_data"
        case .provideFile: "provide_file"
        case .preview: "preview"
        case .didThrottle: "did_throttle"
        case .didFinishThrottle: "did_finish_throttle"
        case .completion, .state, .listing: "completion"
        case .cancel: "cancel handler"
        }
    }
}
