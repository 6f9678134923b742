#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Lets go of steps one after the other, however deep they are nested in each other: what a step held is put
/// into a heap that the outermost `release` of the thread empties.
enum Unlinking {
  private final class Heap {
    var bodies: [OperationStep.Body] = []
  }

  /// The thread's heap while it releases something; nil when the process has used up its keys.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Empties `body` and lets go of what it held. Keeps no other reference to it: the last one must end in the loop below.
  static func release(_ body: inout OperationStep.Body) {
    guard let key else {
      body = .ended
      return
    }
    if let raw = pthread_getspecific(key) {
      // Sound: the pointer is that of the heap below, which lives until it is taken out again.
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
