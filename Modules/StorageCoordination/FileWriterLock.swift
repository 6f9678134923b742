import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import Synchronization

/// The writer's lock of a store in a file: first come, first served across threads and processes.
///
/// A writer draws ticket n and locks byte n of the coordination file; it owns the store once it has all bytes up to n. The
/// kernel releases the bytes of a process that ends, however it ends, so neither dead holders nor dead waiters block anybody. A
/// release wakes the oldest waiter through a word in the shared mapping; if the releaser dies before that, the next waiter
/// notices within 20 ms. Each waiting thread has its own descriptor, because such locks belong to the open file description.
///
/// Drawing the ticket and locking the byte are two steps: two requests within the same microsecond can swap. There are never
/// two holders. A child made by `fork` without `exec` keeps its parent's locks while it lives.
public final class FileWriterLock: WriterLock {
  /// How long the next waiter may not notice the death of a holder.
  private static let recheckNanoseconds: UInt64 = 20_000_000
  /// Above every ticket.
  private static let end: Int64 = (1 << 60) + 1
  /// Descriptors kept for reuse. Few, because each store of a process has its own.
  private static let idleDescriptorsMax = 2

  private let file: CoordinationFile
  private let mark = ForkMark()
  private let idle = Mutex<[Int32]>([])

  /// Opens `path` ("<store>.coord"), and creates it if missing.
  ///
  /// Throws `.permissionDenied`, `.outOfDiskSpace`, `.foreignFile`, `.fileNotFound` (no such directory) or `.io`.
  public init(path: String, mode: UInt32 = 0o664) throws(StorageError) {
    file = try CoordinationFile(path: path, mode: mode)
  }

  deinit {
    for descriptor in idle.withLock({ $0 }) { close(descriptor) }
  }

  public func acquire(_ deadline: Deadline) throws(StorageError) -> WriterHold {
    try mark.check()
    let descriptor: Int32
    if let free = idle.withLock({ $0.popLast() }) { descriptor = free } else { descriptor = try file.openAgain() }
    do {
      let ticket = try waitForTurn(descriptor, deadline)
      let followsDeath = file.holder != 0
      file.holder = UInt64(ticket)
      return WriterHold(followsDeath: followsDeath) { [self] isWhole in release(descriptor, ticket, isWhole: isWhole) }
    } catch {
      keep(descriptor)
      throw error
    }
  }

  /// Whether the path still leads to the opened file: whoever opens another one waits in another queue.
  public var isInPlace: Bool { FileIdentity(path: file.path) == file.identity }

  /// Notes the last durable commit of the store with this data file. The caller holds the lock.
  package func note(_ note: DurableNote, for data: FileIdentity) { file.note(note, for: data) }

  /// How many tickets were drawn after the holder's: the queue length across all processes, including waiters that gave up or
  /// died. For tests and tools; the answer may be outdated on arrival.
  package var waiterCount: Int {
    let holder = heldTicket
    return holder == 0 ? 0 : Int(max(0, file.lastTicket &- holder))
  }

  /// The holder's ticket, masked to a valid file offset whatever the file contains.
  private var heldTicket: Int64 { Int64(file.holder & UInt64(FileWriterLock.end - 2)) }

  /// How many wait, in all processes: those whose byte the kernel has locked. For tests.
  package var standingCount: Int {
    guard let descriptor = try? file.openAgain() else { return 0 }
    defer { close(descriptor) }
    var count = 0
    // Above the holder, which has everything up to its ticket; if the next waiter dies, that shows like the death of a holder.
    var from = heldTicket + 1
    while case let found = cs_locked_at(descriptor, from, FileWriterLock.end - from), found >= 0 {
      // The system reports any lock in the range, so those below it must be counted as well.
      count += lockedBytes(descriptor, from...found)
      from = found + 1
    }
    return count
  }

  /// The number of locked bytes in a range whose last byte is locked, each by a different owner.
  private func lockedBytes(_ descriptor: Int32, _ range: ClosedRange<Int64>) -> Int {
    range.count { cs_locked_at(descriptor, $0, 1) >= 0 }
  }

  // MARK: Waiting

  /// Waits until we own all bytes up to the ticket; after an error we own none.
  private func waitForTurn(_ descriptor: Int32, _ deadline: Deadline) throws(StorageError) -> Int64 {
    var ticket = file.takeTicket()
    if try lock(descriptor, 0...ticket) { return ticket }
    ticket = try standInLine(descriptor, ticket, deadline)
    while true {
      let seen = file.turn(ticket)
      if try lock(descriptor, 0...ticket) { return ticket }
      let remaining = deadline.remaining?.nanosecondCount ?? .max
      guard remaining > 0 else {
        unlock(descriptor)
        passOn(descriptor, after: ticket)
        throw .writeTimeout
      }
      file.sleep(ticket, seen: seen, nanoseconds: min(remaining, FileWriterLock.recheckNanoseconds))
    }
  }

  /// Locks the byte of the ticket. If it is taken, a younger ticket got in between and holds everything up to itself: then only
  /// a new ticket gives a place in the queue.
  private func standInLine(
    _ descriptor: Int32, _ first: Int64, _ deadline: Deadline
  ) throws(StorageError) -> Int64 {
    var ticket = first
    var attempts = 0
    while !(try lock(descriptor, ticket...ticket)) {
      attempts += 1
      // Many attempts in a row mean that the counter is behind the holder, as after damage: then pause between attempts.
      if attempts > 16 {
        if deadline.remaining == .zero { throw .writeTimeout }
        file.sleep(ticket, seen: file.turn(ticket), nanoseconds: 1_000_000)
        if try lock(descriptor, 0...ticket) { break }
      }
      ticket = file.takeTicket()
    }
    return ticket
  }

  // MARK: Letting go

  private func release(_ descriptor: Int32, _ ticket: Int64, isWhole: Bool) {
    // In a forked child the descriptor is the parent's: unlocking would take the store from it.
    if mark.isStale { return }
    // The ticket of a holder that is not there any more: a death.
    if isWhole { file.holder = 0 }
    unlock(descriptor)
    passOn(descriptor, after: ticket)
    keep(descriptor)
  }

  /// Wakes the oldest waiter after `ticket`, skipping those that gave up or died.
  private func passOn(_ descriptor: Int32, after ticket: Int64) {
    guard file.lastTicket != ticket else { return }
    var oldest = ticket + 1
    var end = FileWriterLock.end
    // The system reports any lock in the range, mostly the oldest: search below it until there is none.
    while end > ticket + 1 {
      let found = cs_locked_at(descriptor, ticket + 1, end - ticket - 1)
      if found < 0 { break }
      oldest = found
      end = found
    }
    file.wake(oldest)
  }

  private func lock(_ descriptor: Int32, _ bytes: ClosedRange<Int64>) throws(StorageError) -> Bool {
    let number = cs_lock_exclusive(descriptor, bytes.lowerBound, bytes.upperBound - bytes.lowerBound + 1)
    if number == 0 { return true }
    if number == EAGAIN || number == EACCES { return false }
    unlock(descriptor)
    throw .system(number, .statement, doing: "lock the coordination file", path: file.path)
  }

  private func unlock(_ descriptor: Int32) { _ = cs_unlock(descriptor, 0, 0) }

  private func keep(_ descriptor: Int32) {
    let isKept = idle.withLock { idle in
      guard idle.count < FileWriterLock.idleDescriptorsMax else { return false }
      idle.append(descriptor)
      return true
    }
    if !isKept { close(descriptor) }
  }
}
