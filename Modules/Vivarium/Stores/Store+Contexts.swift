import Dispatch
import Foundation
import Notifications
import StorageInterface
import Synchronization

extension Store {
  /// Throws `.wrongContext` if the caller runs outside the store's context, as far as this can be determined: of actors other than the
  /// main one, the runtime only says it by a trap, which a debug build has.
  func checkContext(_ what: @autoclosure () -> String) throws(StoreError) {
    switch home {
    case .queue(let queue):
      if Store.isOn(queue) { return }
      let current = DispatchQueue.getSpecific(key: Store.currentQueue)
      throw .wrongContext(
        what(), expected: "queue '\(queue.label)'", actual: current == nil ? "no queue of a store" : "another queue")
    case .runLoop(let loop):
      if Store.isOn(loop) { return }
      throw .wrongContext(what(), expected: "the thread of the store's run loop", actual: "another thread")
    case .actor(let weak):
      guard let actor = weak.actor else { return }
      if actor !== MainActor.shared {
        // The compiler checks it too, but not in code of Swift 5.
        if configuration.misuse == .trapInDebug { actor.assertIsolated("'\(what())' outside the code of the store's actor.") }
        return
      }
      if Store.isOnMain { return }
      throw .wrongContext(what(), expected: "the main actor", actual: "another thread")
    case .manual: return
    }
  }

  /// Whether the caller runs on the main actor: on the main thread, or on the main queue if it no longer runs on the main thread
  /// (`dispatchMain()`).
  private static var isOnMain: Bool {
    let main = mainQueue
    return Thread.isMainThread || DispatchQueue.getSpecific(key: currentQueue) == main
  }

  private static let mainQueue = {
    // Not that of `DispatchQueue.main`, which on Linux is another object each time.
    let id = ObjectIdentifier(currentQueue)
    DispatchQueue.main.setSpecific(key: currentQueue, value: id)
    return id
  }()

  /// By what code on a serial queue is known: see `currentQueue`. Any thread.
  @discardableResult static func identity(of queue: DispatchQueue) -> ObjectIdentifier {
    // The main queue gets its own before it could be given another.
    _ = mainQueue
    if let known = queue.getSpecific(key: currentQueue) { return known }
    let id = ObjectIdentifier(queue)
    queue.setSpecific(key: currentQueue, value: id)
    return id
  }

  /// Whether it is the main queue, whichever object stands for it.
  static func isMain(_ queue: DispatchQueue) -> Bool { identity(of: queue) == mainQueue }

  /// Whether the caller runs on a serial queue.
  static func isOn(_ queue: DispatchQueue) -> Bool {
    let id = identity(of: queue)
    return id == mainQueue ? isOnMain : DispatchQueue.getSpecific(key: currentQueue) == id
  }

  /// Whether the caller runs on a run loop's thread, or on what serves the main thread in its place.
  static func isOn(_ loop: ThreadRunLoop) -> Bool { loop.isCurrent || loop.isMain && isOnMain }

  /// Reports a read outside the store's context, once if it is only logged. For `assert`: debug builds check every read, release
  /// builds none.
  /// - Returns: true.
  func reportsReadElsewhere() -> Bool {
    do throws(StoreError) { try checkContext("read") } catch {
      let isFirst = saidReadElsewhere.exchange(true, ordering: .relaxed) == false
      if isFirst || configuration.misuse == .trapInDebug { misuse(error) }
    }
    return true
  }

  /// The ended token of an observation that cannot begin because the caller runs outside the store's context. Reports the misuse,
  /// since `observe` cannot throw it. Nil in the right context.
  func tokenElsewhere(_ fileID: StaticString, _ line: UInt) -> NotificationToken? {
    do throws(StoreError) {
      try checkContext("observe")
      return nil
    } catch {
      misuse(error, at: SourcePlace(fileID: fileID, line: line))
      return .ended(fileID, line)
    }
  }
}

extension Store {
  /// The error if no context would ever notify an observer that begins here; otherwise nil. Logs it with its remedy.
  func muteness() -> StoreError? {
    guard case .manual = home, !configuration.manualDelivery, !isReadOnly else { return nil }
    let error = StoreError.noContext
    if configuration.misuse != .ignore { StoreLog.warning("\(error)") }
    return error
  }
}

extension DeliveryContext {
  /// Whether it is the main thread's context.
  var isMain: Bool {
    switch self {
    case .actor(let weak): weak.actor === MainActor.shared
    case .queue(let queue): Store.isMain(queue)
    case .runLoop(let loop): loop.isMain
    case .manual: false
    }
  }

  /// Runs `turn` on the context, or `other` on the calling thread if there is no context (any more). If a run loop's thread ends before
  /// it has run `turn`, `other` runs there.
  func schedule(_ turn: @escaping @Sendable () -> Void, otherwise other: @escaping @Sendable () -> Void) {
    switch self {
    case .manual: other()
    case .actor(let weak) where weak.actor == nil: other()
    case .runLoop(let loop): loop.perform(turn, otherwise: other)
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
