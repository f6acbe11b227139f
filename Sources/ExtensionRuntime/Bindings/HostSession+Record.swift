// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import ItemRecord
import ServiceMessages
import Synchronization

extension HostSession {
    /// Requests one of the extension's items from the host and waits for it. Must not be called on
    /// the connection's thread.
    func record(of item: String) throws(BindingFailure) -> (record: ItemRecord, types: [String]) {
        let answer = Mutex<Result<RecordReply, BindingFailure>>(.failure(BindingFailure(.unavailable, "no answer")))
        let arrived = DispatchSemaphore(value: 0)
        send(.record(item)) { outcome in
            let reply: Result<RecordReply, BindingFailure> =
                switch outcome {
                case .failed(let status, let message): .failure(BindingFailure(status, message))
                case .done(let values):
                    Result { () throws(BindingFailure) in
                        var arguments = BusArguments(values, of: "Record")
                        do throws(BusError) { return try RecordReply(&arguments) } catch {
                            throw BindingFailure(.failed, error.description)
                        }
                    }
                }
            answer.withLock { $0 = reply }
            arrived.signal()
        }
        arrived.wait()
        let reply = try answer.withLock { $0 }.get()
        guard let bytes = reply.record else { throw BindingFailure(.notFound, "there is no item \(item)") }
        do throws(ItemRecordError) { return (try ItemRecord(decoding: bytes), reply.types) } catch {
            throw BindingFailure(.failed, "\(error)")
        }
    }
}
