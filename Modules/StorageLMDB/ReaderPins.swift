import CVivariumLMDB
import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import Synchronization

/// The versions that readers outside of LMDB's table hold: those who may not write its lock file, or find none.
///
/// Such a reader locks, shared, the byte of its version in the data file, far behind the data: who may read a file may do that.
/// Writers look there before each commit (`LMDBEnvironment.lowerFloor`), and the kernel releases the locks of the dead. Not on Apple
/// systems.
final class ReaderPins: Sendable {
  /// Behind the claims on the file (`FileClaim`). The byte of LMDB's transaction n is at `start` + n.
  static let start: Int64 = (1 << 61) + (1 << 41)
  private static let count: Int64 = 1 << 60
  #if canImport(Darwin)
  static let areUsed = false
  #else
  static let areUsed = true
  #endif

  /// Of the data file, for reading.
  let descriptor: Int32
  private let path: String
  private let counts = Mutex<[UInt64: Int]>([:])

  /// For the file that LMDB has open. Nil if the system has no such locks, or none for this file.
  init?(_ files: LMDBFiles, of handle: OpaquePointer) throws(StorageError) {
    guard ReaderPins.areUsed else { return nil }
    var number: Int32 = 0
    let file = cs_open(files.data, false, false, 0, &number)
    guard file >= 0 else { throw LMDBFiles.openError(number, files.data) }
    var opened: Int32 = -1
    mdb_env_get_fd(handle, &opened)
    guard let identity = FileIdentity(descriptor: file), identity == FileIdentity(descriptor: opened) else {
      close(file)
      throw .replaced(files.data)
    }
    // A byte that means nothing.
    guard cs_lock_shared(file, ReaderPins.start - 1, 1) == 0 else {
      close(file)
      return nil
    }
    _ = cs_unlock(file, ReaderPins.start - 1, 1)
    (descriptor, path) = (file, files.data)
  }

  deinit { close(descriptor) }

  /// Locks the byte of a version, given by LMDB's number. It is held only if it is still the newest one after this.
  func hold(_ number: UInt64) throws(StorageError) {
    guard number < ReaderPins.count else {
      throw StorageError(
        .corrupt, .engine, "'\(path)' is damaged: \(number) cannot be the number of a transaction.", remedy: "Restore it from a copy.")
    }
    try counts.withLock { counts throws(StorageError) in
      if counts[number] == nil {
        let code = cs_lock_shared(descriptor, ReaderPins.start + Int64(number), 1)
        guard code == 0 else { throw .system(code, .statement, doing: "hold a version of", path: path) }
      }
      counts[number, default: 0] += 1
    }
    // So that a writer sees the lock, or who comes from here the writer's commit.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// Ends one `hold`. Unlocks by itself: a process that another thread is just starting has a copy of the descriptor.
  func letGo(_ number: UInt64) {
    counts.withLock { counts in
      guard let count = counts[number] else { return }
      counts[number] = count > 1 ? count - 1 : nil
      if count == 1 { _ = cs_unlock(descriptor, ReaderPins.start + Int64(number), 1) }
    }
  }

  /// The versions that this process holds, one for each reader.
  var own: [UInt64] {
    counts.withLock { counts in counts.flatMap { [UInt64](repeating: $0.key, count: $0.value) } }
  }

  /// The oldest version that others hold, by LMDB's number. `file`: a descriptor of the data file.
  static func oldest(_ file: Int32) -> UInt64? { first(file, from: 0) }

  /// Whether somebody holds a version from `number` on.
  static func isHeld(_ file: Int32, from number: UInt64) -> Bool {
    areUsed && number < UInt64(count) && cs_locked_at(file, start + Int64(number), count - Int64(number)) >= 0
  }

  /// The versions that others hold, the oldest first and each once; up to 64, for display.
  static func held(_ file: Int32) -> [UInt64] {
    var found: [UInt64] = []
    while found.count < 64, let next = first(file, from: found.last.map { $0 + 1 } ?? 0) { found.append(next) }
    return found
  }

  private static func first(_ file: Int32, from number: UInt64) -> UInt64? {
    guard areUsed, number < UInt64(count) else { return nil }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let from = start + Int64(number)
    var (end, found) = (start + count, Int64(-1))
    // The system reports any lock in the range: search below it until there is none.
    while end > from, case let place = cs_locked_at(file, from, end - from), place >= 0 { (found, end) = (place, place) }
    return found < 0 ? nil : UInt64(found - start)
  }
}
