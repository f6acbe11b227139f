// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ItemRecord
import SearchlightExtension

extension FakeHost {
    static let batchTable = searchlight_host_batch(
        size: UInt32(MemoryLayout<searchlight_host_batch>.size), reserved: 0, create: nil, index_items: nil,
        delete_items: nil, delete_domains: nil, delete_all: nil, release: nil, commit: nil,
        commit_changes: {
            host, name, changes, count, state, length, kind, expected, expectedCount, completion, context in
            let expectation: ClientStateExpectation =
                switch kind {
                case SEARCHLIGHT_EXPECT_NONE: .exactly(nil)
                case SEARCHLIGHT_EXPECT_STATE:
                    .exactly(Array(UnsafeRawBufferPointer(start: expected, count: expectedCount)))
                default: .any
                }
            return FakeHost.of(host).record(
                .commit(
                    name.map { String(cString: $0) }, Array(UnsafeBufferPointer(start: changes, count: count)),
                    state: Array(UnsafeRawBufferPointer(start: state, count: length)), expectation),
                completion, context)
        },
        read_state: { host, name, completion, context in
            let host = FakeHost.of(host)
            let number = UInt(bitPattern: context)
            host.log.withLock { $0.append(.readState(name.map { String(cString: $0) })) }
            let state = host.clientState.withLock { $0 }
            DispatchQueue.global().async {
                let context = UnsafeMutableRawPointer(bitPattern: number)
                guard let state else { return completion!(context, SEARCHLIGHT_OK, nil, nil, 0) }
                (state + [0]).withUnsafeBytes { completion!(context, SEARCHLIGHT_OK, nil, $0.baseAddress, state.count) }
            }
            return SEARCHLIGHT_OK
        })
}
