import Dispatch
import Foundation
import Notifications

/// A line of the program.
struct SourcePlace: Sendable, CustomStringConvertible {
  let fileID: StaticString
  let line: UInt

  var description: String { "\(fileID):\(line)" }
}

/// Where a store writes: its context, the thread and the task that asked, and the line of the program.
///
/// `@unchecked` for the thread alone, as all else here is Sendable. Proof: every property is a `let`, so nothing is written
/// once it is made; and of the thread nothing is used but its identity (`===`) and its count of references, which is atomic.
/// It is kept so that no later thread can have its address meanwhile.
struct WriteSite: WritingSite, @unchecked Sendable {
  private let home: DeliveryContext
  private let thread = Thread.current
  private let task = withUnsafeCurrentTask { $0?.hashValue }

  /// Where the write was begun.
  let place: any CustomStringConvertible & Sendable

  init(_ home: DeliveryContext, _ place: any CustomStringConvertible & Sendable) { (self.home, self.place) = (home, place) }

  func isSameThread(as other: Self) -> Bool { thread === other.thread }
  func isSameContext(as other: Self) -> Bool { home.isSame(as: other.home) }

  /// `waiting` is where the caller stands.
  func holdsUp(_ waiting: Self) -> Bool {
    if isSameContext(as: waiting) { return true }
    switch home {
    case .queue(let queue): return DispatchQueue.getSpecific(key: Store.currentQueue) == ObjectIdentifier(queue)
    case .runLoop(let loop): return loop.isCurrent
    // Tasks change threads, and threads tasks.
    case .manual: return isSameThread(as: waiting) && task == waiting.task
    case .actor: return false
    }
  }
}

extension DeliveryContext {
  /// Whether what runs on one can never run beside what runs on the other.
  fileprivate func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.actor(let a), .actor(let b)): a.actor != nil && a.actor === b.actor
    case (.queue(let a), .queue(let b)): a === b
    case (.runLoop(let a), .runLoop(let b)): a.isCurrent && b.isCurrent
    default: false
    }
  }
}
