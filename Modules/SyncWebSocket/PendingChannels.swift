#if Sync
import NIOCore
import Synchronization

/// Connections that have not said yet what they want. Any thread.
final class PendingChannels: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  /// One that comes after the end is closed at once.
  func insert(_ channel: any Channel) {
    let isLate = state.withLock { state in
      if !state.isClosed { state.channels[ObjectIdentifier(channel)] = channel }
      return state.isClosed
    }
    if isLate { channel.close(promise: nil) }
  }

  func remove(_ channel: any Channel) { state.withLock { state in _ = state.channels.removeValue(forKey: ObjectIdentifier(channel)) } }

  /// Closes them all.
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
