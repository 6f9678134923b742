import Dispatch
import Foundation
import Notifications

/// A source line of the program.
struct SourcePlace: Sendable, CustomStringConvertible {
  let fileID: StaticString
  let line: UInt

  var description: String { "\(fileID):\(line)" }

  init(fileID: StaticString, line: UInt) { (self.fileID, self.line) = (fileID, line) }
  init(_ fileID: StaticString, _ line: UInt) { self.init(fileID: fileID, line: line) }
}

/// Where a store writes: its context, the requesting thread and task, and the source line.
///
/// `@unchecked` for the thread only; everything else here is Sendable. Proof: every property is a `let`, so nothing is written
/// after initialization; and of the thread only its identity (`===`) and its reference count, which is atomic, are used. It is
/// retained so that no later thread can have its address meanwhile.
struct WriteSite: WritingSite, @unchecked Sendable {
  private let home: DeliveryContext
  private let thread = Thread.current
  private let task = withUnsafeCurrentTask { $0?.hashValue }

  /// The source line that began the write.
  let place: any CustomStringConvertible & Sendable

  init(_ home: DeliveryContext, _ place: any CustomStringConvertible & Sendable) { (self.home, self.place) = (home, place) }

  func isSameThread(as other: Self) -> Bool { thread === other.thread }
  func isSameContext(as other: Self) -> Bool { home.isSame(as: other.home) }

  /// `waiting` is the caller's site.
  func holdsUp(_ waiting: Self) -> Bool {
    if isSameContext(as: waiting) { return true }
    switch home {
    case .queue(let queue): return Store.isOn(queue)
    case .runLoop(let loop): return Store.isOn(loop)
    // Tasks change threads, and threads run several tasks.
    case .manual: return isSameThread(as: waiting) && task == waiting.task
    case .actor: return false
    }
  }
}

extension DeliveryContext {
  /// Whether code on one context can never run concurrently with code on the other.
  fileprivate func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.actor(let a), .actor(let b)): a.actor != nil && a.actor === b.actor
    case (.queue(let a), .queue(let b)): a === b || Store.identity(of: a) == Store.identity(of: b)
    case (.runLoop(let a), .runLoop(let b)): Store.isOn(a) && Store.isOn(b)
    default: false
    }
  }
}
