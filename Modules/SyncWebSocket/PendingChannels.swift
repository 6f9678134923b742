#if Sync
import NIOCore
import Synchronization

/// The connections that nobody serves yet: they have sent no request, or wait for the listener to take them. Nobody else would close
/// them when the listener ends. Any thread may call.
final class PendingChannels: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Adds a connection; closes it at once after `close`.
  func insert(_ channel: any Channel) {
    let isLate = state.withLock { state in
      if !state.isClosed { state.channels[ObjectIdentifier(channel)] = channel }
      return state.isClosed
    }
    if isLate { channel.close(promise: nil) }
  }

  func remove(_ channel: any Channel) { state.withLock { state in _ = state.channels.removeValue(forKey: ObjectIdentifier(channel)) } }

  /// Closes all of them.
  func close() {
    let channels = state.withLock { state in
      state.isClosed = true
      defer { state.channels = [:] }
      return Array(state.channels.values)
    }
    for channel in channels { channel.close(promise: nil) }
  }
}
#endif
