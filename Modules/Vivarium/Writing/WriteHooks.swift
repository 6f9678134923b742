import StoreValues

/// The actions to run when the open write ends. Confined like its store.
struct WriteHooks {
  private enum Hook {
    case committed((Version) -> Void)
    case rolledBack(() -> Void)
    /// From a part undone by a savepoint: runs however the write ends.
    case undone(() -> Void)
  }

  private var hooks: [Hook] = []

  /// A mark for `undo(from:)`.
  var count: Int { hooks.count }

  mutating func add(committed action: @escaping (Version) -> Void) { hooks.append(.committed(action)) }
  mutating func add(rolledBack action: @escaping () -> Void) { hooks.append(.rolledBack(action)) }

  /// Marks the hooks added since a mark as belonging to an undone part.
  mutating func undo(from mark: Int) {
    guard mark < hooks.count else { return }
    let undone = hooks[mark...].compactMap { hook -> Hook? in
      switch hook {
      case .committed: nil
      case .rolledBack(let action), .undone(let action): .undone(action)
      }
    }
    hooks.replaceSubrange(mark..., with: undone)
  }

  /// Removes and returns all hooks, to be run.
  mutating func take() -> WriteHooks {
    defer { hooks = [] }
    return self
  }

  func runAfterCommit(_ version: Version) {
    for hook in hooks {
      switch hook {
      case .committed(let action): action(version)
      case .undone(let action): action()
      case .rolledBack: break
      }
    }
  }

  func runAfterRollback() {
    for hook in hooks {
      switch hook {
      case .rolledBack(let action), .undone(let action): action()
      case .committed: break
      }
    }
  }
}
