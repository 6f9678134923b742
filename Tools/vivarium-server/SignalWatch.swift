#if Sync
import Dispatch
import Foundation

/// Does something when the process gets a signal, in place of what the system would do.
struct SignalWatch {
  private var sources: [any DispatchSourceSignal] = []

  /// Returns when a signal is heard: one that comes before is ignored.
  mutating func on(_ numbers: [Int32], _ body: @escaping @Sendable () async -> Void) async {
    for number in numbers {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { Task { await body() } }
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
      sources.append(source)
    }
  }

  func end() { sources.forEach { $0.cancel() } }
}
#endif
