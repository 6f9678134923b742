/// A power of engines: they look through what lies below the storage interface, whether anybody reads it or not.
public protocol StructureVerification: StorageEngine {
  /// Reads the whole of a snapshot's version, which is this engine's own, and reports each thing that is not as the
  /// engine writes it: pages, entries, headers. Damage never makes it throw, except where nothing can be read at all.
  /// Costs as much as reading the file.
  func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError)
}

/// Something in a store that is not as it must be.
public struct StoreFault: Sendable, Hashable, CustomStringConvertible {
  /// Where: "Person #12", "index of Person over name", "page 17".
  public var place: String
  /// What, as a sentence without its subject's end: "points to Dog #7, which is not there".
  public var message: String

  public init(_ place: String, _ message: String) {
    self.place = place
    self.message = message
  }

  public var description: String { "\(place): \(message)" }
}
