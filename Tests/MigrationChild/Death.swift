import Foundation
import Synchronization

/// When the process is to die.
final class Death: Sendable {
  private let step: Int
  private let turns: Int
  private let steps = Atomic(0)

  init(step: Int, turns: Int) {
    self.step = step
    self.turns = turns
  }

  var count: Int { steps.load(ordering: .relaxed) }

  /// Before each call to the engine, and after the commit.
  func next() {
    if steps.add(1, ordering: .relaxed).newValue == step { Death.die() }
  }

  /// The commit begins.
  func willCommit() {
    if turns == 0 { return }
    let turns = turns
    Thread.detachNewThread {
      // Through memory, so that no compiler takes the loop away.
      let turned = Atomic(0)
      while turned.add(1, ordering: .relaxed).newValue < turns {}
      Death.die()
    }
  }

  private static func die() {
    kill(getpid(), SIGKILL)
  }
}
