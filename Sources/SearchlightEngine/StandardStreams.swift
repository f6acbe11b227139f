// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Standard input, output and error of a program that may have been started without one of them (`>&-`).
public enum StandardStreams {
    /// Takes the numbers of those that are closed, so that no file or socket gets one and what is printed goes into it. What
    /// is done with such a stream fails as it would have (`EBADF`): it is the null device, open for the other direction.
    /// To be called before anything else is opened.
    ///
    /// - Returns: Whether all three are open now.
    public static func hold() -> Bool {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one: those below are open.
            guard open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) == number else { return false }
        }
        return true
    }
}
