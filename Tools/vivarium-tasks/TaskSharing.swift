import SyncClient
import SyncProtocol

/// Where the list stands with other devices, in words for a person.
@MainActor final class TaskSharing {
  private let replicator: Replicator
  private(set) var words = "connecting"
  private var listening: Task<Void, Never>?

  /// - Parameter onChange: called whenever the words are others.
  init(_ replicator: Replicator, onChange: @escaping @MainActor () -> Void) {
    self.replicator = replicator
    listening = Task { [weak self] in
      for await notice in await replicator.notices() {
        guard let self else { return }
        self.hear(notice)
        onChange()
      }
    }
  }

  deinit { listening?.cancel() }

  private func hear(_ notice: SyncNotice) {
    switch notice {
    case .state(let state): words = TaskSharing.words(state)
    case .problem(let error): words = "\(error.message) \(error.remedy)"
    case .file(let error): words = "\(error)"
    // The state that follows says that it is tried again.
    case .unreachable: break
    // Tasks are done again by themselves.
    case .resetNeeded: break
    }
  }

  private static func words(_ state: SyncState) -> String {
    switch state {
    case .off: "not shared"
    case .elsewhere: "shared by another terminal"
    case .waitingForNetwork, .waiting: "offline, tried again by itself"
    case .connecting: "connecting"
    case .downloading: "downloading"
    case .live: "online"
    case .beginningAnew: "beginning anew"
    case .untrusted(let error): "offline: \(error.message) \(error.remedy)"
    case .fileUnavailable(let error): "offline: \(error.message) \(error.remedy)"
    case .suspended(let error): "stopped: \(error.message) \(error.remedy)"
    }
  }

  /// Returns when the server has all that was done here before, and the list all that the server has. Tries at once.
  func settle() async throws {
    await replicator.retry()
    try await replicator.uploaded()
    try await replicator.downloaded()
  }
}
