#if Sync
import NIOCore
import NIOWebSocket
import SyncProtocol
import Synchronization

/// One end of a WebSocket. Nothing stands between its tasks and the event loop: no task, and no queue but that of what waits, which is
/// bounded in both directions, so a slow reader slows down the writer.
///
/// **Threads.** As any `SyncTransport`. Its state has a lock, which the event loop takes too.
final class WebSocketTransport: SyncTransport {
  /// With as many bytes waiting in a direction, no further part is taken. Much less than what a slow connection carries while nothing
  /// moves without it being given up: what was taken counts as a sign that the other side is there.
  static let waitingBytes = 256 << 10
  /// What a part takes beside its bytes: parts without any count too.
  private static let partBytes = 64

  private struct State {
    /// What has come, and nobody has received yet.
    var received: [[UInt8]] = []
    var receivedBytes = 0
    /// Bytes that were sent, and that the system has not taken yet.
    var sentBytes = 0
    /// Nothing more comes, and nothing more can be sent.
    var isEnded = false
    /// Who waits for the next part.
    var receiver: CheckedContinuation<Void, Never>?
    /// Who waits for room.
    var sender: CheckedContinuation<Void, Never>?
  }

  let channel: any Channel
  /// Whether to mask frames, as clients must.
  private let masks: Bool
  /// How long the other side may take for what is left for it after `close`.
  private let timeToEnd: TimeAmount
  private let state = Mutex(State())

  private init(_ channel: any Channel, masks: Bool, timeToEnd: TimeAmount) {
    (self.channel, self.masks, self.timeToEnd) = (channel, masks, timeToEnd)
  }

  /// The end of a channel that has become a WebSocket, on its event loop. Joins fragmented messages.
  static func end(
    of channel: any Channel, masks: Bool, timeToEnd: TimeAmount = .seconds(10)
  ) throws -> WebSocketTransport {
    let transport = WebSocketTransport(channel, masks: masks, timeToEnd: timeToEnd)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(
      NIOWebSocketFrameAggregator(
        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: WebSocketNames.frameBytes))
    try pipeline.addHandler(WebSocketFrameHandler(transport))
    return transport
  }

  func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: opcode, maskKey: masks ? .random() : nil, data: data)
  }

  // MARK: Sending

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    for part in parts { guard await waitToWrite(part) else { throw TransportError(.closed, "The connection was closed.") } }
  }

  func offer(_ part: [UInt8]) -> Bool { write(part) == true }

  /// Waits until fewer bytes wait than may, and writes the part; returns false once the connection is closed.
  private func waitToWrite(_ part: [UInt8]) async -> Bool {
    while true {
      if let outcome = write(part) { return outcome }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.isEnded || state.sentBytes < WebSocketTransport.waitingBytes { return true }
          state.sender = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  /// Returns whether the part is on its way; false once the connection is closed, nil if too much waits.
  private func write(_ part: [UInt8]) -> Bool? {
    let bytes = part.count + WebSocketTransport.partBytes
    let outcome = state.withLock { state -> Bool? in
      if state.isEnded { return false }
      guard state.sentBytes < WebSocketTransport.waitingBytes else { return nil }
      state.sentBytes += bytes
      return true
    }
    if outcome == true {
      let written = channel.eventLoop.makePromise(of: Void.self)
      written.futureResult.whenComplete { [self] in took(bytes, $0) }
      channel.writeAndFlush(frame(.binary, ByteBuffer(bytes: part)), promise: written)
    }
    return outcome
  }

  /// The system has taken a part, or will take none.
  private func took(_ bytes: Int, _ outcome: Result<Void, any Error>) {
    if case .failure = outcome {
      end()
      // Whoever ends it later finds it ended, and leaves the channel alone.
      channel.close(promise: nil)
      return
    }
    let sender = state.withLock { state in
      state.sentBytes -= bytes
      guard state.sentBytes < WebSocketTransport.waitingBytes else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.sender = nil }
      return state.sender
    }
    sender?.resume()
  }

  // MARK: Receiving

  func receive() async throws(TransportError) -> [UInt8]? {
    while true {
      let (part, isEnd, wasFull) = state.withLock { state -> ([UInt8]?, Bool, Bool) in
        if state.received.isEmpty { return (nil, state.isEnded, false) }
        let wasFull = state.receivedBytes >= WebSocketTransport.waitingBytes
        let part = state.received.removeFirst()
        state.receivedBytes -= part.count + WebSocketTransport.partBytes
        return (part, false, wasFull && state.receivedBytes < WebSocketTransport.waitingBytes)
      }
      if wasFull { channel.read() }
      if part != nil || isEnd { return part }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.isEnded || !state.received.isEmpty { return true }
          state.receiver = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  /// Whether so much waits that no more is to be read.
  var isFull: Bool { state.withLock { !$0.isEnded && $0.receivedBytes >= WebSocketTransport.waitingBytes } }

  /// A part has come.
  func came(_ part: [UInt8]) {
    let receiver = state.withLock { state in
      if !state.isEnded {
        state.received.append(part)
        state.receivedBytes += part.count + WebSocketTransport.partBytes
      }
      defer { state.receiver = nil }
      return state.receiver
    }
    receiver?.resume()
  }

  // MARK: Ending

  /// Nothing more comes, and nothing more can be sent. Returns whether that is new.
  @discardableResult func end() -> Bool {
    let (isFirst, receiver, sender) = state.withLock { state in
      defer { (state.isEnded, state.receiver, state.sender) = (true, nil, nil) }
      return (!state.isEnded, state.receiver, state.sender)
    }
    receiver?.resume()
    sender?.resume()
    return isFirst
  }

  func close() async {
    guard end() else { return }
    leave(.normalClosure)
  }

  /// Says goodbye behind what was sent, and closes the channel when that is on its way, or after the time that the other side has for it.
  func leave(_ code: WebSocketErrorCode) {
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    let channel = channel
    let timer = channel.eventLoop.scheduleTask(in: timeToEnd) { channel.close(promise: nil) }
    channel.writeAndFlush(frame(.connectionClose, data)).whenComplete { _ in
      timer.cancel()
      channel.close(promise: nil)
    }
  }
}
#endif
