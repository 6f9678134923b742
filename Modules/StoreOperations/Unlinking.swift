#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Releases steps in a loop, however deeply they are nested: the contents of a step go into a heap that the thread's outermost
/// `release` empties.
enum Unlinking {
  private final class Heap {
    var bodies: [OperationStep.Body] = []
  }

  /// The thread's heap during a release; nil if the process has no more thread-specific keys.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Empties `body` and releases its contents. Keeps no other reference to them: the last one must end in the loop below.
  static func release(_ body: inout OperationStep.Body) {
    guard let key else {
      body = .ended
      return
    }
    if let raw = pthread_getspecific(key) {
      // Sound: the pointer is that of the heap below, which lives until it is removed from the thread.
      take(&body, Unmanaged<Heap>.fromOpaque(raw).takeUnretainedValue())
      return
    }
    let heap = Heap()
    pthread_setspecific(key, Unmanaged.passUnretained(heap).toOpaque())
    take(&body, heap)
    while !heap.bodies.isEmpty { heap.bodies.removeLast() }
    pthread_setspecific(key, nil)
  }

  private static func take(_ body: inout OperationStep.Body, _ heap: Heap) {
    heap.bodies.append(body)
    body = .ended
  }
}
