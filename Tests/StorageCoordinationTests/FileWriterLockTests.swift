import Foundation
import StorageCoordination
import StorageInterface
import Testing
import VivariumTestSupport

/// What only shows between processes. The children are this test program again.
struct FileWriterLockTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func processesExcludeEachOther() async throws {
    let path = scratch.path
    try Data("0".utf8).write(to: URL(fileURLWithPath: path + "/count"))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            let lock = try FileWriterLock(path: path + "/a.coord")
            let file = URL(fileURLWithPath: path + "/count")
            for _ in 0..<100 {
              let hold = try lock.acquire(.never)
              let count = Int(String(decoding: try Data(contentsOf: file), as: UTF8.self)) ?? -1_000_000
              try Data(String(count + 1).utf8).write(to: file)
              hold.release()
            }
          }
        }
      }
    }
    #expect(try String(contentsOfFile: path + "/count", encoding: .utf8) == "300")
  }

  @Test func theNextWriterPassesOverAKilledHolder() async throws {
    let path = scratch.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FileWriterLock(path: path + "/a.coord")
      let hold = try lock.acquire(.never)
      kill(getpid(), SIGKILL)
      hold.release()
    }
    let lock = try FileWriterLock(path: path + "/a.coord")
    let hold = try lock.acquire(.after(.zero))
    #expect(hold.followsDeath)
    hold.release()
    #expect(try !lock.acquire(.never).followsDeath)
  }

  @Test func aWaiterOutlivesTheHolderThatIsKilledBeforeItsEyes() async throws {
    let path = scratch.path
    let lock = try FileWriterLock(path: path + "/a.coord")
    let child = ExitingChild(output: path + "/output")
    let waiting = child.whenMade(path + "/held") {
      // Also where this fails, so that the child ends.
      defer { try? Data().write(to: URL(fileURLWithPath: path + "/over")) }
      let hold = try lock.acquire(.never)
      defer { hold.release() }
      return hold.followsDeath
    }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      ExitingChild.redirectOutput(to: path + "/output")
      let lock = try FileWriterLock(path: path + "/a.coord")
      let hold = try lock.acquire(.never)
      try Data().write(to: URL(fileURLWithPath: path + "/held"))
      while lock.waiterCount == 0, !FileManager.default.fileExists(atPath: path + "/over") { yieldThread() }
      kill(getpid(), SIGKILL)
      hold.release()
    }
    child.end()
    #expect(try await waiting.value)
  }

  @Test func aDamagedCounterCostsNoExclusion() throws {
    let path = scratch.file("a.coord")
    let lock = try FileWriterLock(path: path)
    for _ in 0..<5 { try lock.acquire(.never).release() }
    let hold = try lock.acquire(.never)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: 8)
    try file.write(contentsOf: Data(count: 8))
    let error = #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.milliseconds(5))) }
    #expect(error?.code == .writeTimeout)
    hold.release()
    try file.seek(toOffset: 8)
    try file.write(contentsOf: Data(repeating: 0xFF, count: 8))
    let next = try lock.acquire(.after(.zero))
    #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.zero)) }
    next.release()
  }

  @Test func aForeignFileIsRefused() throws {
    let text = Data("something else entirely".utf8)
    try text.write(to: URL(fileURLWithPath: scratch.file("a.coord")))
    let error = #expect(throws: StorageError.self) { _ = try FileWriterLock(path: scratch.file("a.coord")) }
    #expect(error?.code == .foreignFile)
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.coord"))) == text)
  }

  @Test func aMissingDirectoryIsATypedError() throws {
    let error = #expect(throws: StorageError.self) { _ = try FileWriterLock(path: scratch.file("no/a.coord")) }
    #expect(error?.code == .fileNotFound)
  }

  @Test func aReplacedFileIsNoticed() throws {
    let lock = try FileWriterLock(path: scratch.file("a.coord"))
    try FileManager.default.removeItem(atPath: scratch.file("a.coord"))
    let error = #expect(throws: StorageError.self) { _ = try lock.acquire(.never) }
    #expect(error?.code == .replaced && error?.scope == .engine)
  }
}

struct StorePresenceTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func removalIsRefusedWhileAnybodyIsPresent() throws {
    let path = scratch.file("a.coord")
    var presence: StorePresence? = try StorePresence(path: path, as: .writer)
    let reader = try StorePresence(path: path, as: .reader)
    #expect(throws: StorageError.self) { try StorePresence.whileAbsent(path: path) {} }
    presence = nil
    #expect(throws: StorageError.self) { try StorePresence.whileAbsent(path: path) {} }
    withExtendedLifetime(reader) {}
    _ = presence
  }

  @Test func removalRunsWhenNobodyIsPresentAndKeepsOthersOut() throws {
    let path = scratch.file("a.coord")
    do { _ = try StorePresence(path: path, as: .writer) }
    var inside: StorageError?
    try StorePresence.whileAbsent(path: path) {
      do throws(StorageError) {
        _ = try StorePresence(path: path, as: .writer)
      } catch {
        inside = error
      }
    }
    #expect(inside?.code == .alreadyOpen)
  }

  @Test("Who removes with a coordination file that was removed and made again meanwhile meets the one who opened the new store")
  func aLockOnAFileThatIsGoneIsWorthless() throws {
    let path = scratch.file("a.coord")
    do { _ = try StorePresence(path: path, as: .writer) }
    var presence: StorePresence?
    var ran = false
    let error = #expect(throws: StorageError.self) {
      let opened = {
        guard presence == nil else { return }
        unlink(path)
        presence = try? StorePresence(path: path, as: .writer)
      }
      try StorePresence.whileAbsent(path: path, opened: opened) { ran = true }
    }
    #expect(error?.code == .alreadyOpen && !ran && presence != nil)
  }

  @Test("A removal keeps others out also where there was no coordination file, and leaves none")
  func removalWithoutACoordinationFileKeepsOthersOut() throws {
    let path = scratch.file("a.coord")
    var inside: StorageError?
    try StorePresence.whileAbsent(path: path) {
      do throws(StorageError) { _ = try StorePresence(path: path, as: .writer) } catch { inside = error }
    }
    #expect(inside?.code == .alreadyOpen && access(path, F_OK) != 0)
    var ran = false
    try StorePresence.whileAbsent(path: scratch.file("no/a.coord")) { ran = true }
    #expect(ran)
  }

  @Test func unprotectedReadersAndWritersExcludeEachOther() throws {
    let path = scratch.file("a.coord")
    var writer: StorePresence? = try StorePresence(path: path, as: .writer)
    let refused = #expect(throws: StorageError.self) { _ = try StorePresence(path: path, as: .unprotectedReader) }
    #expect(refused?.code == .permissionDenied)
    _ = writer
    writer = nil
    let reader = try StorePresence(path: path, as: .unprotectedReader)
    let second = try StorePresence(path: path, as: .reader)
    let error = #expect(throws: StorageError.self) { _ = try StorePresence(path: path, as: .writer) }
    #expect(error?.code == .alreadyOpen)
    withExtendedLifetime((reader, second)) {}
  }

  @Test func readersOfADataFileAloneKeepNobodyOutAndAreKnownUntilTheyLeaveIt() throws {
    let path = scratch.file("a.coord")
    #expect(!StorePresence.isDataFileRead(path: path))
    let writer = try StorePresence(path: path, as: .writer)
    #expect(!StorePresence.isDataFileRead(path: path))
    let first = try StorePresence(path: path, as: .dataFileReader)
    var second: StorePresence? = try StorePresence(path: path, as: .dataFileReader)
    let another = try StorePresence(path: path, as: .writer)
    first.leaveDataFile()
    #expect(StorePresence.isDataFileRead(path: path))
    _ = second
    second = nil
    #expect(!StorePresence.isDataFileRead(path: path))
    // Who has left the data file is present all the same.
    withExtendedLifetime((writer, another)) {}
    #expect(throws: StorageError.self) { try StorePresence.whileAbsent(path: path) {} }
    first.leaveDataFile()
  }

  @Test func presenceEndsWithTheProcess() async throws {
    let path = scratch.file("a.coord")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let presence = try StorePresence(path: path, as: .writer)
      kill(getpid(), SIGKILL)
      withExtendedLifetime(presence) {}
    }
    var ran = false
    try StorePresence.whileAbsent(path: path) { ran = true }
    #expect(ran)
  }

  @Test func aChildThatIsBeingStartedKeepsNobodyPresent() async throws {
    let path = scratch.file("a.coord")
    await #expect(processExitsWith: .success) { [path = path as String] in
      var presence: StorePresence? = try StorePresence(path: path, as: .writer)
      let child = forkedProcess()
      // It has a copy of every descriptor, as each new process has until it runs its program.
      if child == 0 { while true { pause() } }
      try #require(child > 0)
      defer {
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
      }
      withExtendedLifetime(presence) {}
      presence = nil
      var ran = false
      try StorePresence.whileAbsent(path: path) { ran = true }
      #expect(ran)
      let reader = try StorePresence(path: path, as: .unprotectedReader)
      withExtendedLifetime(reader) {}
    }
  }
}
