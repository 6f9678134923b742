import Dispatch
import Foundation

/// Where observers run: the one place a store belongs to.
///
/// On Linux the main thread has three faces (`RunLoop.main.run()`, `dispatchMain()`, the main actor); deliver to
/// it by the main actor or the main queue, which work in all three.
public enum DeliveryContext: Sendable {
  /// An actor's turns. Held weakly: an actor owns its store, not the other way round.
  case actor(WeakActor)
  /// A serial queue.
  case queue(DispatchQueue)
  /// The run loop of a thread; it must run, in one of its common modes, for anything to be delivered.
  case runLoop(ThreadRunLoop)
  /// Nowhere by itself: blocks run inside `refresh()`.
  case manual

  /// An actor: turns are taken on it as long as it lives; this does not keep it.
  public static func actor(_ actor: any Actor) -> DeliveryContext { .actor(WeakActor(actor)) }
  /// The run loop of a thread, which must run for anything to be delivered.
  public static func runLoop(_ loop: RunLoop) -> DeliveryContext { .runLoop(ThreadRunLoop(loop)) }

  /// Runs `turn` on the context, soon, and never before this returns. Dropped when the actor is gone and for
  /// `.manual`.
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

/// A thread's run loop, as far as other threads may touch it.
public struct ThreadRunLoop: @unchecked Sendable {
  // Sound because other threads do with the loop only what its core locks for: performing a block, adding a timer, waking
  // it. `isCurrent` compares references alone.
  private let loop: RunLoop

  package init(_ loop: RunLoop) { self.loop = loop }

  /// Runs `turn` on the loop's thread, soon, also when the loop sleeps.
  package func perform(_ turn: @escaping @Sendable () -> Void) {
    loop.perform(inModes: [.common], block: turn)
    #if canImport(Darwin)
    CFRunLoopWakeUp(loop.getCFRunLoop())
    #else
    // What was performed does not wake a loop that sleeps, and its core cannot be had to wake it. A timer that is due
    // does.
    loop.add(Timer(fire: .distantPast, interval: 0, repeats: false) { _ in }, forMode: .common)
    #endif
  }

  /// Whether the calling thread is the loop's own.
  package var isCurrent: Bool { RunLoop.current === loop }
  /// Whether it is the main thread's.
  package var isMain: Bool { loop === RunLoop.main }
}
