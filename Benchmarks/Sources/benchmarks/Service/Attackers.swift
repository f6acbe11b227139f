// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import SystemSupport

/// Clients that send garbage, truncated messages and oversized messages over successive connections
/// until they are stopped. Each client has its own thread.
final class Attackers {
    private let threads: [Thread]

    /// The delay between two attacks, in seconds. Without a delay the attackers would saturate the
    /// processors.
    private static let pause = 0.01

    init(_ count: Int, store: String) {
        threads = (0..<count).map { number in
            Thread {
                var round = number
                while !Thread.current.isCancelled {
                    Self.attack(store, round)
                    round += 1
                    Thread.sleep(forTimeInterval: Self.pause)
                }
            }
        }
        for thread in threads { thread.start() }
    }

    func stop() { for thread in threads { thread.cancel() } }

    private static func attack(_ store: String, _ round: Int) {
        guard let socket = try? ServiceSocket.connect(inFolder: store) else { return }
        let user = String(getuid()).utf8.map { String(format: "%02x", $0) }.joined()
        let authentication = [0] + Array("AUTH EXTERNAL \(user)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)
        // A message with a body of 4 GiB. A prefix of it ends within the header.
        let large: [UInt8] = [0x6C, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 16, 0, 0, 0]
        let bytes: [UInt8] =
            switch round % 4 {
            case 0: (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 167) }
            case 1: authentication + large
            case 2: authentication + large.prefix(9)
            default: authentication + [UInt8](repeating: 0x6C, count: 65_536)
            }
        _ = bytes.withUnsafeBytes { send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
        // Half of the attackers keep their connection open for 50 ms.
        if round % 2 == 0 { Thread.sleep(forTimeInterval: 0.05) }
    }
}
