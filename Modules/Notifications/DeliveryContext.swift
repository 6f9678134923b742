import Dispatch
import Foundation

/// Where observers run: the one context a store belongs to.
///
/// On Linux the main thread can be served in three ways: by `RunLoop.main.run()`, by `dispatchMain()`, or by an asynchronous `main`.
/// The main actor, the main queue and the main run loop are delivered to in all three.
public enum DeliveryContext: Sendable {
  /// The turns of an actor. Held weakly: an actor owns its store, not vice versa.
  case actor(WeakActor)
  /// A serial queue.
  case queue(DispatchQueue)
  /// The run loop of a thread, which must run in one of its common modes for anything to be delivered.
  case runLoop(ThreadRunLoop)
  /// No automatic delivery: blocks run inside `refresh()`.
  case manual

  /// An actor: turns run on it as long as it lives; this does not retain it.
  public static func actor(_ actor: any Actor) -> DeliveryContext { .actor(WeakActor(actor)) }
  /// The run loop of a thread, which must run for anything to be delivered.
  public static func runLoop(_ loop: RunLoop) -> DeliveryContext { .runLoop(ThreadRunLoop(loop)) }

  /// Runs `turn` on the context soon, never before this returns. Dropped if the actor is gone or the run loop's thread
  /// ends before, and for `.manual`.
  package func schedule(_ turn: @escaping @Sendable () -> Void) {
    switch self {
    case .actor(let weak):
      guard let actor = weak.actor else { return }
      Task { await DeliveryContext.run(turn, on: actor) }
    case .queue(let queue): queue.async(execute: turn)
    case .runLoop(let loop): loop.perform(turn)
    case .manual: break
    }
  }

  private static func run(_ turn: @Sendable () -> Void, on actor: isolated any Actor) { turn() }
}

/// An actor, held weakly.
public struct WeakActor: Sendable {
  package weak let actor: (any Actor)?

  package init(_ actor: any Actor) { self.actor = actor }
}

/// A thread's run loop, restricted to operations that other threads may use.
public struct ThreadRunLoop: @unchecked Sendable {
  // Sound because other threads only use operations that the loop's core locks for: performing a block, adding a timer, waking
  // it. `isCurrent` only compares references.
  private let loop: RunLoop
  /// Of the thread that made this, if the loop is its own; nil: nothing is known of the loop's thread, or it is the main one.
  private let life: ThreadLife?

  package init(_ loop: RunLoop) {
    self.loop = loop
    // The main thread ends in `dispatchMain()`, and what serves it goes on.
    life = loop !== RunLoop.main && RunLoop.current === loop ? ThreadLife.current : nil
  }

  /// Runs `turn` on the loop's thread soon, even if the loop sleeps. If the thread ends before, which is known only of the thread that
  /// made this, it drops `turn` and runs `other` as its last; if it has ended, the caller does.
  package func perform(_ turn: @escaping @Sendable () -> Void, otherwise other: @escaping @Sendable () -> Void = {}) {
    guard let life else { return perform(inLoop: turn) }
    // The loop keeps what it never runs.
    if let number = life.keep(turn, otherwise: other) { perform(inLoop: { life.take(number) }) }
  }

  /// Runs `other` if the thread ends before its loop takes a turn, and at once if it has ended; as far as this is known.
  package func unlessTurnComes(_ other: @escaping @Sendable () -> Void) { if life != nil { perform({}, otherwise: other) } }

  private func perform(inLoop turn: @escaping @Sendable () -> Void) {
    #if canImport(Darwin)
    loop.perform(inModes: [.common], block: turn)
    CFRunLoopWakeUp(loop.getCFRunLoop())
    #else
    // The main loop may never run: `dispatchMain()` and an asynchronous `main` serve the main queue alone. A loop that runs serves
    // that queue too.
    if isMain { return DispatchQueue.main.async(execute: turn) }
    loop.perform(inModes: [.common], block: turn)
    // Performing a block does not wake a sleeping loop here, and its core is not accessible to wake it. A timer that is due
    // does.
    loop.add(Timer(fire: .distantPast, interval: 0, repeats: false) { _ in }, forMode: .common)
    #endif
  }

  /// Whether the calling thread is the loop's own.
  package var isCurrent: Bool { RunLoop.current === loop }
  /// Whether it is the main thread's loop.
  package var isMain: Bool { loop === RunLoop.main }
}
