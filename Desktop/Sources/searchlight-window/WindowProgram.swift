// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Glibc

/// The program that shows the search window.
@main
@MainActor
enum WindowProgram {
    static func main() {
        Signals.prepare()
        do {
            let arguments = try WindowArguments.parse()
            exit(WindowApplication(arguments).run())
        } catch {
            exit(end(error))
        }
    }

    /// Prints the parser's help or version, or its usage error.
    private static func end(_ error: any Error) -> Int32 {
        let status = WindowArguments.exitCode(for: error)
        let message = WindowArguments.fullMessage(for: error)
        guard !status.isSuccess else {
            do { try Output.line("\(text: message)") } catch { return ExitStatus.inputOutput.rawValue }
            return status.rawValue
        }
        Output.complain("\(text: message)")
        return status.rawValue
    }
}
