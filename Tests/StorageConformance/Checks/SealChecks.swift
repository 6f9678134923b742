import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// The last objects of a chunk of the column store, which has 976 with pages of 4 KiB, are its newest ones too: both
/// when the chunk is closed by the next object and when they are deleted. Every engine keeps the rules there.
extension StorageConformance {
  static let chunkEndChecks: [ConformanceCheck] = [
    ConformanceCheck("aSavepointBringsBackObjectsAtTheEndOfAChunk") { subject in
      let store = try ConformanceStore(subject)
      let last = try addAtChunkEnd(store)
      try store.write { write in
        try write.beginSavepoint()
        for key in last { try write.delete(store.pet.id, key) }
        for _ in 0..<50 { try write.insert(store.pet) }
        try write.rollbackToSavepoint()
        try expectEqual(try write.count(store.pet.id), 4)
        try write.insert(store.pet, ["name": .string("next")])
      }
      try store.read { read in
        try expectEqual(try read.count(store.pet.id), 5)
        for key in last { try expectEqual(try read.value(store.pet, "name", key), longName) }
        try expectNoFaults(store, read)
      }
    },
    ConformanceCheck("deletedObjectsAtTheEndOfAChunkLeaveNothing") { subject in
      let store = try ConformanceStore(subject)
      let last = try addAtChunkEnd(store)
      try store.write { write in
        for key in last { try write.delete(store.pet.id, key) }
        for _ in 0..<50 { try write.insert(store.pet) }
      }
      try store.read { read in
        try expectEqual(try read.count(store.pet.id), 50)
        try expectNoFaults(store, read)
      }
    },
    ConformanceCheck("objectsThatComeAndGoInOneWriteLeaveNothing") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        for _ in 0..<3_000 { try write.delete(store.pet.id, try write.insert(store.pet, ["name": longName])) }
        try write.beginSavepoint()
        for _ in 0..<2_000 { try write.delete(store.pet.id, try write.insert(store.pet, ["name": longName])) }
        try write.rollbackToSavepoint()
        try write.insert(store.pet)
      }
      try store.read { read in
        try expectEqual(try read.count(store.pet.id), 1)
        try expectNoFaults(store, read)
      }
    },
  ]

  private static let longName = Value.string(String(repeating: "long ", count: 600))

  /// Four objects with values that lie in entries of their own.
  private static func addAtChunkEnd(_ store: ConformanceStore) throws -> [ObjectKey] {
    try store.write { write in
      for _ in 0..<972 { try write.delete(store.pet.id, try write.insert(store.pet)) }
      return try (0..<4).map { _ in try write.insert(store.pet, ["name": longName]) }
    }
  }

  static func expectNoFaults(_ store: ConformanceStore, _ read: any ReadTransaction) throws {
    guard let engine = store.engine.powers.structure else { return }
    var faults: [StoreFault] = []
    try engine.verifyStructure(read) { faults.append($0) }
    try expect(faults.isEmpty, "faults: \(faults)")
  }
}
