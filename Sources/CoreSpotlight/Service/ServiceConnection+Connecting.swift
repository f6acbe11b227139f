// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
internal import ServiceMessages

// Establishing, losing and restoring the connection. All of this runs on the queue.
extension ServiceConnection {
    /// Starts connecting.
    func open() {
        epoch += 1
        phase = .opening
        let epoch = epoch
        openingQueue.async { [self] in
            let result: Result<any ServiceLink, BusError>
            do throws(BusError) {
                result = .success(
                    try opener.open(onCall: onCall) { [weak self] in
                        guard let self else { return }
                        queue.async { self.disconnected(epoch) }
                    })
            } catch {
                result = .failure(error)
            }
            queue.async { self.opened(result, epoch) }
        }
    }

    private func opened(_ result: Result<any ServiceLink, BusError>, _ epoch: Int) {
        guard epoch == self.epoch else {
            if case .success(let link) = result { link.close() }
            return
        }
        switch result {
        case .failure(let failure): failed(failure, isFinal: failure.isAbsence && !wasEverConnected)
        case .success(let link):
            phase = .greeting(link)
            setTimer(ServiceTiming.greeting) { connection in
                connection.failed(
                    BusError.unreachable(
                        "The service accepted the connection, but did not answer within \(ServiceTiming.greeting). "
                            + "Restart it: systemctl --user restart searchlightd, or end it and run searchlightd."),
                    isFinal: false)
            }
            link.call(Hello.member, identity.hello.arguments) { [weak self] result in
                guard let self else { return }
                queue.async { self.greeted(result, epoch) }
            }
        }
    }

    private func greeted(_ result: Result<[BusValue], BusError>, _ epoch: Int) {
        guard epoch == self.epoch, case .greeting(let link) = phase else { return }
        stopTimer()
        do throws(BusError) {
            var arguments = BusArguments(try result.get(), of: Hello.member.member)
            _ = try Welcome(&arguments)
        } catch .remote(let name, let message) {
            // The rejection is temporary if the service is shutting down, has too many clients, or
            // has granted exclusive access to its store.
            let isPassing = [ExtensionStatus.unavailable.errorName, BusErrorName.limitsExceeded].contains(name)
            return failed(
                identity.explain(BusError.remote(name: name, message: message)), isFinal: !isPassing)
        } catch .disconnected {
            return failed(BusError.disconnected, isFinal: false)
        } catch {
            return failed(error, isFinal: true)
        }
        wasEverConnected = true
        register(link)
        askWhatWasCarriedOut(link)
    }

    /// Reads the client states that show which requests do not have to be sent again. Then sends
    /// the waiting requests.
    private func askWhatWasCarriedOut(_ link: any ServiceLink) {
        let sent = waiting.sentChanges
        let questions = ResendPlan.questions(sent.map(\.request))
        guard !questions.isEmpty else {
            phase = .ready(link)
            return sendWaiting()
        }
        phase = .asking(link)
        let epoch = epoch
        let states = States(missing: questions.count)
        for index in questions {
            let request = IndexRequest.clientState(index: index)
            link.call(request.member, request.arguments) { [weak self] result in
                guard let self else { return }
                queue.async {
                    guard epoch == self.epoch else { return }
                    // The end of the connection is reported separately.
                    if case .failure(.disconnected) = result { return }
                    if let values = try? result.get() {
                        var arguments = BusArguments(values, of: request.member.member)
                        if let reply = try? ClientStateReply(&arguments) { states.known[index] = .some(reply.state) }
                    }
                    states.missing -= 1
                    if states.missing == 0 { self.resume(link, sent, states.known) }
                }
            }
        }
    }

    /// The client states that were read so far.
    private final class States: @unchecked Sendable {
        // Sendable: read and written only on the connection's queue.
        var missing: Int
        var known: [String?: [UInt8]?] = [:]

        init(missing: Int) { self.missing = missing }
    }

    private func resume(
        _ link: any ServiceLink, _ sent: [(number: UInt64, request: IndexRequest)], _ states: [String?: [UInt8]?]
    ) {
        for position in ResendPlan.carriedOut(sent.map(\.request), states: states).sorted() {
            waiting.remove(sent[position].number)?.reply(.success([]))
        }
        phase = .ready(link)
        sendWaiting()
    }

    // MARK: Failing

    private func disconnected(_ epoch: Int) {
        guard epoch == self.epoch, phase.link != nil else { return }
        failed(BusError.disconnected, isFinal: false)
    }

    /// Handles a failed attempt or a lost connection.
    ///
    /// - Parameter isFinal: `true` to fail all waiting requests at once, because another attempt
    ///   would fail in the same way.
    private func failed(_ failure: BusError, isFinal: Bool) {
        stopTimer()
        phase.link?.close()
        if case .ready = phase { lastLoss = timing.now() }
        if case .asking = phase { lastLoss = timing.now() }
        // Later events of this attempt are ignored.
        epoch += 1
        phase = .waiting
        (isRegistered, areActivitiesRegistered) = (false, false)
        lastFailure = failure
        failures += 1
        waiting.connectionWasLost()
        answerProbes(false)
        if isFinal {
            phase = .idle
            for request in waiting.removeAll(where: { _ in true }) { request.reply(.failure(failure)) }
            return
        }
        for request in waiting.removeSuspects(afterSends: Self.maximumSends) {
            request.reply(
                .failure(
                    BusError.unreachable(
                        "The connection to the service was lost \(Self.maximumSends) times during the "
                            + "request. See the service's log, journalctl --user -u searchlightd.")))
        }
        for request in waiting.removeAll(where: \.isUncertain) {
            request.reply(
                .failure(
                    BusError.unreachable(
                        "The connection to the service was lost during a rename, so the items may or may not have "
                            + "their new identifiers. Index the items again.")))
        }
        tryLater()
    }

    private func tryLater() {
        giveUpWhatWaitedTooLong()
        guard hasReason else {
            phase = .idle
            return
        }
        phase = .waiting
        setTimer(timing.delay(beforeAttempt: failures)) { connection in
            connection.giveUpWhatWaitedTooLong()
            if connection.hasReason { connection.open() } else { connection.phase = .idle }
        }
    }

    /// `true` if there is a reason to connect.
    private var hasReason: Bool {
        if !waiting.isEmpty || !probes.isEmpty { return true }
        guard isDelegateWanted || areActivitiesWanted, let lastLoss else { return false }
        return timing.now() - lastLoss < ServiceTiming.delegatePatience
    }

    private func giveUpWhatWaitedTooLong() {
        let now = timing.now()
        let overdue = waiting.removeAll { request in
            now - max(request.submitted, lastLoss ?? request.submitted) >= ServiceTiming.patience
        }
        for request in overdue {
            request.reply(
                .failure(
                    BusError.unreachable(
                        "No service answered within \(ServiceTiming.patience). \(lastFailure?.advice ?? "")")))
        }
    }

    // MARK: Timer

    private func setTimer(_ delay: Duration, _ body: @escaping @Sendable (ServiceConnection) -> Void) {
        stopTimer()
        let epoch = epoch
        cancelTimer = timing.after(delay) { [weak self] in
            guard let self else { return }
            queue.async {
                guard epoch == self.epoch else { return }
                self.cancelTimer = nil
                body(self)
            }
        }
    }

    private func stopTimer() {
        cancelTimer?()
        cancelTimer = nil
    }
}
