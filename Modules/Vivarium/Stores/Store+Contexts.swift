import Dispatch
import Foundation
import Notifications
import StorageInterface
import Synchronization

extension Store {
  /// Throws `.wrongContext` when the calling code runs elsewhere than the store's context, as far as that can be known: of actors other
  /// than the main one, the compiler has seen to it.
  func checkContext(_ what: @autoclosure () -> String) throws(StoreError) {
    switch home {
    case .queue(let queue):
      let current = DispatchQueue.getSpecific(key: Store.currentQueue)
      if current == ObjectIdentifier(queue) { return }
      throw .wrongContext(
        what(), expected: "queue '\(queue.label)'", actual: current == nil ? "no queue of a store" : "another queue")
    case .runLoop(let loop):
      if loop.isCurrent { return }
      throw .wrongContext(what(), expected: "the thread of the store's run loop", actual: "another thread")
    case .actor(let weak):
      if weak.actor !== MainActor.shared || Store.isOnMain { return }
      throw .wrongContext(what(), expected: "the main actor", actual: "another thread")
    case .manual: return
    }
  }

  /// Whether the calling code is the main actor's: on the main thread, or on the main queue where no thread is the main one's any more
  /// (`dispatchMain()`).
  private static var isOnMain: Bool {
    let main = mainQueue
    return Thread.isMainThread || DispatchQueue.getSpecific(key: currentQueue) == main
  }

  private static let mainQueue = {
    let id = ObjectIdentifier(DispatchQueue.main)
    DispatchQueue.main.setSpecific(key: currentQueue, value: id)
    return id
  }()

  /// Reports a read elsewhere than in the store's context, once where it is only logged. For `assert`: debug builds look at every read,
  /// and release builds at none.
  /// - Returns: true.
  func reportsReadElsewhere() -> Bool {
    do throws(StoreError) { try checkContext("read") } catch {
      let isFirst = saidReadElsewhere.exchange(true, ordering: .relaxed) == false
      if isFirst || configuration.misuse == .trapInDebug { misuse(error) }
    }
    return true
  }

  /// The token of an observation that does not begin, because the caller is elsewhere than the store's context: reported like
  /// every mistake that cannot be thrown. Nil in the right place.
  func tokenElsewhere(_ fileID: StaticString, _ line: UInt) -> NotificationToken? {
    do throws(StoreError) {
      try checkContext("observe")
      return nil
    } catch {
      misuse(error)
      return .ended(fileID, line)
    }
  }
}

extension Store {
  /// Why nobody would ever notify an observer that begins here; nil where somebody does. It is logged with the remedy.
  func muteness() -> StoreError? {
    guard case .manual = home, !configuration.manualDelivery, !isReadOnly else { return nil }
    let error = StoreError.noContext
    if configuration.misuse != .ignore { StoreLog.warning("\(error)") }
    return error
  }
}

extension DeliveryContext {
  /// Whether it is the main thread's, where interfaces are drawn.
  var isMain: Bool {
    switch self {
    case .actor(let weak): weak.actor === MainActor.shared
    case .queue(let queue): queue === DispatchQueue.main
    case .runLoop(let loop): loop.isMain
    case .manual: false
    }
  }

  /// Runs `turn` on the context, or `other` where it is when there is no context any more, or never was one.
  func schedule(_ turn: @escaping @Sendable () -> Void, otherwise other: @Sendable () -> Void) {
    switch self {
    case .manual: other()
    case .actor(let weak) where weak.actor == nil: other()
    default: schedule(turn)
    }
  }
}

extension StoreError {
  static func wrongContext(_ what: String, expected: String, actual: String) -> StoreError {
    StoreError(
      .wrongContext, "'\(what)' was called on \(actual), and the store belongs to \(expected).",
      remedy: "Open a store in each context, and pass an ObjectReference between them.",
      details: ["expected": expected, "actual": actual])
  }
}
