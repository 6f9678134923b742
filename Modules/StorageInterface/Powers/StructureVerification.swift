/// A power of engines: they verify everything below the storage interface, whether or not it is read.
public protocol StructureVerification: StorageEngine {
  /// Reads the whole version of a snapshot of this engine, and reports every deviation from what the engine writes: pages,
  /// entries, headers. Damage does not make it throw, unless nothing can be read at all. Costs as much as reading the file.
  func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError)
}

/// A fault in a store.
public struct StoreFault: Sendable, Hashable, CustomStringConvertible {
  /// Where: "Person #12", "index of Person over name", "page 17".
  public var place: String
  /// What, as the predicate of a sentence: "points to Dog #7, which is not there".
  public var message: String

  public init(_ place: String, _ message: String) {
    self.place = place
    self.message = message
  }

  public var description: String { "\(place): \(message)" }
}
