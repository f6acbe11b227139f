// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The functions of `searchlight.batch/1`.

/// A batch that an extension builds through the C interface. Used by one thread at a time.
final class BatchBuilder {
    private(set) var changes = ChangeList()

    /// Adds a change. Returns `SEARCHLIGHT_TOO_LARGE` if the batch would become too large.
    func append(_ change: EncodedChange) -> Int32 {
        guard let change = change.meaningful else { return SEARCHLIGHT_OK }
        do throws(ChangeList.TooLarge) { try changes.appendToBatch([change]) } catch { return SEARCHLIGHT_TOO_LARGE }
        return SEARCHLIGHT_OK
    }

    let session: HostSession?

    init(session: HostSession?) { self.session = session }

    /// All batches that extensions have not released yet.
    static let all = HandleTable<BatchBuilder>(tag: 0x5B)
}

let batchName = "searchlight_batch"

private func append(
    _ batch: OpaquePointer?, _ names: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int,
    _ change: ([String]) -> EncodedChange
) -> Int32 {
    use(BatchBuilder.all, batch, batchName) { builder in
        guard let names = texts(names, count, "The names to delete", builder.session) else {
            return SEARCHLIGHT_INVALID_ARGUMENT
        }
        return builder.append(change(names))
    }
}

/// An argument that the host refuses, with the status for the extension.
private struct RefusedArgument: Error {
    let status: Int32
}

/// Returns the client state at a C pointer.
private func state(_ pointer: UnsafeRawPointer?, _ length: Int) throws(RefusedArgument) -> [UInt8] {
    guard length >= 0, pointer != nil || length == 0 else {
        throw RefusedArgument(status: SEARCHLIGHT_INVALID_ARGUMENT)
    }
    guard length <= Int(SEARCHLIGHT_CLIENT_STATE_MAX) else { throw RefusedArgument(status: SEARCHLIGHT_TOO_LARGE) }
    return Array(UnsafeRawBufferPointer(start: pointer, count: length))
}

private func expectation(
    _ kind: Int32, _ pointer: UnsafeRawPointer?, _ length: Int
) throws(RefusedArgument) -> ClientStateExpectation {
    switch kind {
    case SEARCHLIGHT_EXPECT_ANY: return .any
    case SEARCHLIGHT_EXPECT_NONE: return .exactly(nil)
    case SEARCHLIGHT_EXPECT_STATE: return .exactly(try state(pointer, length))
    default: throw RefusedArgument(status: SEARCHLIGHT_INVALID_ARGUMENT)
    }
}

/// The client state that a batch stores, and the one that it expects, at C pointers.
private struct StateArguments {
    let state: [UInt8]
    let expectation: ClientStateExpectation

    init(
        _ bytes: UnsafeRawPointer?, _ length: Int, _ kind: Int32, _ expected: UnsafeRawPointer?, _ expectedLength: Int
    ) throws(RefusedArgument) {
        state = try ExtensionRuntime.state(bytes, length)
        expectation = try ExtensionRuntime.expectation(kind, expected, expectedLength)
    }
}

private func send(
    _ host: HostPointer?, _ index: UnsafePointer<CChar>?, _ changes: ChangeList, _ arguments: StateArguments,
    _ completion: Completion
) -> Int32 {
    let request = { index in
        IndexRequest.commit(
            IndexBatch(
                scope: IndexScope(bundle: "", index: index), changes: changes, clientState: arguments.state,
                expecting: arguments.expectation))
    }
    return send(host, index, request, completion.handler)
}

/// A completion that receives the client state, with its context.
///
/// `@unchecked Sendable`: see ``Completion``.
private struct StateCompletion: @unchecked Sendable {
    let function: searchlight_state_completion
    let context: UnsafeMutableRawPointer?

    func report(_ outcome: HostSession.Outcome) {
        switch outcome {
        case .failed(let status, let message):
            message.withCString { function(context, status.rawValue, $0, nil, 0) }
        case .done(let values):
            var arguments = BusArguments(values, of: "ClientState")
            do throws(BusError) {
                guard let state = try ClientStateReply(&arguments).state else {
                    return function(context, SEARCHLIGHT_OK, nil, nil, 0)
                }
                // One more byte, since an empty array may have no address, and NULL would mean that
                // there is no state.
                (state + [0]).withUnsafeBytes { function(context, SEARCHLIGHT_OK, nil, $0.baseAddress, state.count) }
            } catch {
                error.description.withCString { function(context, SEARCHLIGHT_FAILED, $0, nil, 0) }
            }
        }
    }
}

let batchTable = StaticTable(
    searchlight_host_batch(
        size: UInt32(MemoryLayout<searchlight_host_batch>.size), reserved: 0,
        create: { host in
            let session = session(host)
            return keep(BatchBuilder.all, BatchBuilder(session: session), session)
        },
        index_items: { batch, items, count in
            use(BatchBuilder.all, batch, batchName) { builder in
                let (records, status) = records(items, count, builder.session)
                guard status == SEARCHLIGHT_OK, !records.isEmpty else { return status }
                return builder.append(.put(records))
            }
        },
        delete_items: { batch, names, count in append(batch, names, count) { .deleteItems($0) } },
        delete_domains: { batch, names, count in append(batch, names, count) { .deleteDomains($0) } },
        delete_all: { batch in
            use(BatchBuilder.all, batch, batchName) { $0.append(.deleteAll) }
        },
        release: { batch in release(BatchBuilder.all, batch, batchName) },
        commit: { host, index, batch, bytes, length, kind, expected, expectedLength, completion, context in
            let arguments: StateArguments
            do throws(RefusedArgument) {
                arguments = try StateArguments(bytes, length, kind, expected, expectedLength)
            } catch {
                return error.status
            }
            var changes = ChangeList()
            let status = use(BatchBuilder.all, batch, batchName) { builder in
                changes = builder.changes
                return SEARCHLIGHT_OK
            }
            guard status == SEARCHLIGHT_OK else { return status }
            return send(host, index, changes, arguments, Completion(function: completion, context: context))
        },
        commit_changes: {
            host, index, changes, count, bytes, length, kind, expected, expectedLength, completion, context in
            let arguments: StateArguments
            do throws(RefusedArgument) {
                arguments = try StateArguments(bytes, length, kind, expected, expectedLength)
            } catch {
                return error.status
            }
            guard count >= 0, changes != nil || count == 0 else { return SEARCHLIGHT_INVALID_ARGUMENT }
            guard count <= ChangeList.maximumBatchBytes else { return SEARCHLIGHT_TOO_LARGE }
            guard let changes = try? ChangeList(decoding: Array(UnsafeBufferPointer(start: changes, count: count)))
            else {
                return SEARCHLIGHT_INVALID_ARGUMENT
            }
            return send(host, index, changes, arguments, Completion(function: completion, context: context))
        },
        read_state: { host, index, completion, context in
            guard let completion else { return SEARCHLIGHT_INVALID_ARGUMENT }
            let waiting = StateCompletion(function: completion, context: context)
            return send(host, index, IndexRequest.clientState) { waiting.report($0) }
        }))
