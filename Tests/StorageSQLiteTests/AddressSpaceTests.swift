#if os(Linux)
import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A process with little address space left: a value for which SQLite has no memory is an error, and the store goes on.
@Suite struct AddressSpaceTests {
  /// Of one value, which SQLite has in one piece. More than the limit leaves, which is enough for everything else: only this demand fails,
  /// and none of the process's own, over which it would end.
  static let bytes = 128 << 20
  static let spare = 100 << 20

  @Test func aValueThatDoesNotFitIntoMemoryIsAnErrorAndTheStoreGoesOn() async throws {
    let place = Place()
    let large = [UInt8](repeating: 7, count: AddressSpaceTests.bytes)
    do {
      let engine = try place.open()
      defer { engine.close() }
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write(.full) { write in
        for id in 1...2 { try write.insert(table, ["id": .int(Int64(id)), "name": .string("thing \(id)")]) }
        try large.withUnsafeBytes { bytes in _ = try write.set(table.column(named: "blob"), ObjectKey(1), bytes: bytes) }
      }
    }
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      // Before there is a limit.
      let large = [UInt8](repeating: 8, count: AddressSpaceTests.bytes)
      try limitAddressSpace(toFurther: AddressSpaceTests.spare)
      let engine = try SQLiteBackend(path: path).open(OpenOptions())
      let table = try #require(try engine.beginRead().catalog["Thing"])
      let (name, blob) = (table.column(named: "name"), table.column(named: "blob"))

      let read = try engine.beginRead()
      let unread = #expect(throws: StorageError.self) { try read.bytes(blob, ObjectKey(1)) { _ in } }
      #expect(unread?.code == .sqlite)
      read.end()
      #expect(try engine.beginRead().value(name, ObjectKey(1)) == .string("thing 1"))

      let write = try engine.beginWrite(.never)
      let unwritten = #expect(throws: StorageError.self) {
        try large.withUnsafeBytes { bytes in _ = try write.set(blob, ObjectKey(2), bytes: bytes) }
      }
      #expect(unwritten?.code == .sqlite)
      write.end()
      try engine.write(.full) { write in try write.insert(table, ["id": .int(3), "name": .string("thing 3")]) }

      try liftAddressSpaceLimit()
      try engine.write(.full) { write in
        try large.withUnsafeBytes { bytes in _ = try write.set(blob, ObjectKey(2), bytes: bytes) }
      }
      engine.close()
    }
    let engine = try place.open()
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    let table = try #require(read.catalog["Thing"])
    #expect(try read.count(table.id) == 3)
    #expect(try read.value(table.column(named: "name"), ObjectKey(3)) == .string("thing 3"))
    for (key, byte) in [(1, 7), (2, 8)] {
      var isWhole = false
      try read.bytes(table.column(named: "blob"), ObjectKey(Int64(key))) { bytes in
        isWhole = bytes?.count == AddressSpaceTests.bytes && bytes?.first == UInt8(byte) && bytes?.last == UInt8(byte)
      }
      #expect(isWhole, "object \(key)")
    }
  }
}

private let addressSpace = __rlimit_resource_t(RLIMIT_AS.rawValue)

/// Lets the process have so many bytes of address space beside what it has.
private func limitAddressSpace(toFurther spare: Int) throws {
  let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  let pages = try #require(sizes.split(separator: " ").first.flatMap { Int($0) })
  var limit = rlimit()
  try #require(getrlimit(addressSpace, &limit) == 0)
  limit.rlim_cur = rlim_t(pages * sysconf(Int32(_SC_PAGESIZE)) + spare)
  try #require(setrlimit(addressSpace, &limit) == 0)
}

private func liftAddressSpaceLimit() throws {
  var limit = rlimit()
  try #require(getrlimit(addressSpace, &limit) == 0)
  limit.rlim_cur = limit.rlim_max
  try #require(setrlimit(addressSpace, &limit) == 0)
}
#endif
