// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Foundation
import Glibc

/// Runs the real service with clients and extensions of all kinds, injects faults, and checks the
/// guarantees. Part of the tests:
///
///     ServiceTorture run FOLDER PRODUCTS SECONDS REPLACEMENTS SEED
///     ServiceTorture client FOLDER KIND NUMBER EPOCH SEED
///
/// `run` conducts the torture (``Conductor``) in a FOLDER that ServiceTortureTests has prepared
/// (``TorturePlace``), and starts the `client` processes. It exits with status 1 on a violation. It
/// should have permission to mount and be the first process of its own PID namespace, so that no
/// process outlives it.
@main
enum ServiceTorture {
    static func main() async {
        let arguments = CommandLine.arguments
        signal(SIGPIPE, SIG_IGN)
        if arguments.count == 7, arguments[1] == "client", let kind = ClientKind(rawValue: arguments[3]),
            let number = Int(arguments[4]), let epoch = Int(arguments[5]), let seed = UInt64(arguments[6])
        {
            let place = TorturePlace(folder: arguments[2], products: "")
            await Client(place: place, kind: kind, number: number, epoch: epoch, seed: seed).run()
            return
        }
        guard arguments.count == 7, arguments[1] == "run", let seconds = Int(arguments[4]), seconds > 0,
            let replacements = Int(arguments[5]), let seed = UInt64(arguments[6])
        else {
            print("ServiceTorture run FOLDER PRODUCTS SECONDS REPLACEMENTS SEED")
            exit(64)
        }
        guard ctestsupport_adopt_orphans() == 0 else {
            print("Workers of a killed service cannot be identified.")
            exit(64)
        }
        let place = TorturePlace(folder: arguments[2], products: arguments[3])
        let conductor = Conductor(
            place, settings: .init(seconds: seconds, replacements: replacements), seed: seed)
        exit(await conductor.run() ? 0 : 1)
    }
}
