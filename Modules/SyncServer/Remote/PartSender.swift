import SyncProtocol

/// Sends messages over a transport for several tasks: the parts of one right after the other, one message after the other.
package actor PartSender {
  private let transport: any SyncTransport
  private let taken: @Sendable () async -> Void
  /// What is sent last: the next waits for it.
  private var sending: Task<Void, Never>?

  /// - Parameter taken: called when the transport has taken a part.
  package init(_ transport: any SyncTransport, taken: @escaping @Sendable () async -> Void) {
    (self.transport, self.taken) = (transport, taken)
  }

  /// Returns when the transport has taken the parts, or was closed: whoever reads from it sees the end.
  package func send(_ parts: [[UInt8]]) async {
    let task = Task { [transport, taken, sending] in
      await sending?.value
      do throws(TransportError) {
        for part in parts {
          try await transport.send([part])
          await taken()
        }
      } catch { await transport.close() }
    }
    sending = task
    await task.value
  }

  /// Returns when everything was sent.
  package func finish() async { await sending?.value }
}
