import Foundation
import StorageCoordination
import StorageInterface
import Synchronization
import Testing

/// One line for the threads of several processes. The children are this test program again; their order is given by
/// how many stand in line already, so that no clock has a say.
struct FairnessTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func threadsOfTwoProcessesAreServedInOneOrder() async throws {
    let lock = try FileWriterLock(path: scratch.file("a.coord"))
    let hold = try lock.acquire(.never)
    try Data().write(to: URL(fileURLWithPath: scratch.file("log")))
    let path = scratch.path
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String] in
          try Writer.stand(path, places: [0, 2, 4, 6], late: 8)
        }
      }
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String] in
          try Writer.stand(path, places: [1, 3, 5, 7], late: nil)
        }
      }
      group.addTask {
        // On a thread of its own: the children's ends are waited for on the others.
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            // Whoever is late stood behind the other eight.
            while !FileManager.default.fileExists(atPath: path + "/late") { yieldThread() }
            hold.release()
            continuation.resume()
          }
        }
      }
    }
    let served = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
    #expect(served == "01234567")
  }

  @Test func aWaiterThatIsKilledInLineIsPassedOver() async throws {
    let lock = try FileWriterLock(path: scratch.file("a.coord"))
    let hold = try lock.acquire(.never)
    let path = scratch.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FileWriterLock(path: path + "/a.coord")
      Thread.detachNewThread { try? lock.acquire(.never).release() }
      while lock.standingCount == 0 { yieldThread() }
      kill(getpid(), SIGKILL)
    }
    let next = Thread.start { () throws -> Bool in
      let hold = try lock.acquire(.after(.seconds(600)))
      defer { hold.release() }
      return hold.followsDeath
    }
    while lock.standingCount == 0 { yieldThread() }
    hold.release()
    #expect(try next.value() == false)
    try lock.acquire(.after(.zero)).release()
  }

  @Test func nobodyStarvesBesideAGreedyProcess() async throws {
    let path = scratch.path
    try Data().write(to: URL(fileURLWithPath: scratch.file("log")))
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String] in
          // Four threads that ask again at once, until the other process has had all its turns.
          try Writer.repeatedly(path, "g", threads: 4)
        }
      }
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String] in
          while try Data(contentsOf: URL(fileURLWithPath: path + "/log")).isEmpty { yieldThread() }
          try Writer.repeatedly(path, "m", threads: 1, count: 40)
          try Data().write(to: URL(fileURLWithPath: path + "/enough"))
        }
      }
    }
    // It got all its turns though four stood in line again and again beside it.
    let served = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
    #expect(served.count { $0 == "m" } == 40)
  }
}

/// What the children do.
private enum Writer {
  /// A thread for each place, which asks when so many stand in line before it, and writes its place when it is served.
  /// With `late` one more thread asks behind everybody, gives up at its deadline, and says so.
  static func stand(_ path: String, places: [Int], late: Int?) throws {
    let lock = try FileWriterLock(path: path + "/a.coord")
    let group = DispatchGroup()
    func start(_ count: Int, _ body: @escaping @Sendable () -> Void) {
      group.enter()
      Thread.detachNewThread {
        while lock.standingCount != count { yieldThread() }
        body()
        group.leave()
      }
    }
    for place in places { start(place) { serve(lock, path, "\(place)") } }
    if let late { start(late) { giveUp(lock, path) } }
    group.wait()
  }

  private static func giveUp(_ lock: FileWriterLock, _ path: String) {
    do throws(StorageError) { try lock.acquire(.after(.milliseconds(1))).release() } catch {
      if error.code == .writeTimeout { try? Data().write(to: URL(fileURLWithPath: path + "/late")) }
    }
  }

  /// Asks again and again; so many times, or until somebody has had enough.
  static func repeatedly(_ path: String, _ name: String, threads: Int, count: Int = .max) throws {
    let lock = try FileWriterLock(path: path + "/a.coord")
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      var turns = 0
      while turns < count, !FileManager.default.fileExists(atPath: path + "/enough") {
        serve(lock, path, name)
        turns += 1
      }
    }
  }

  /// Holds the lock and notes it. A failure ends the child, which the parent sees.
  private static func serve(_ lock: FileWriterLock, _ path: String, _ note: String) {
    do {
      let hold = try lock.acquire(.after(.seconds(600)))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/log"))
      try file.seekToEnd()
      try file.write(contentsOf: Data(note.utf8))
      try file.close()
      hold.release()
    } catch { exit(1) }
  }
}

/// What a thread came to.
private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let done = DispatchSemaphore(value: 0)

  func set(_ value: Result<Value, any Error>) {
    result.withLock { $0 = value }
    done.signal()
  }

  func value() throws -> Value? {
    done.wait()
    return try result.withLock { $0 }?.get()
  }
}

extension Thread {
  fileprivate static func start<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Outcome<Value> {
    let outcome = Outcome<Value>()
    detachNewThread { outcome.set(Result { try body() }) }
    return outcome
  }
}
