#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// What an increment says of itself: which store it is of, and what it leads from and to.
package struct IncrementHead: Sendable {
  /// The store's; nil for an engine that is used without `Vivarium`.
  package var identity: StoreIdentity?
  /// The version that the copy before it has.
  package var from: Version
  /// The version after it.
  package var to: Version
  /// Of the commit record of `from`. A store that was restored from an older copy and went on has the same identity and reaches the
  /// same version numbers with other contents: only this tells them apart.
  var fingerprint: UInt64
  /// The catalog of all these versions.
  package var catalog: Catalog
}

extension IncrementHead {
  func encoded() throws(StorageError) -> [UInt8] {
    let json: Data
    do { json = try JSONEncoder().encode(catalog) } catch {
      throw StorageError(.misuse, .statement, "The catalog cannot be written: \(error).")
    }
    var out = VarintWriter()
    out.put(tag: .head)
    out.put(text: identity?.description ?? "")
    out.put(from.rawValue)
    out.put(to.rawValue)
    out.put(fingerprint)
    json.withUnsafeBytes { out.put(cell: $0) }
    return out.bytes
  }

  init(from input: inout VarintReader) throws(StorageError) {
    guard try input.tag() == .head else { throw VarintReader.damaged }
    let text = try input.text()
    identity = StoreIdentity(text)
    guard identity != nil || text.isEmpty else { throw VarintReader.damaged }
    from = Version(try input.next())
    to = Version(try input.next())
    fingerprint = try input.next()
    guard from <= to, let json = try input.cell() else { throw VarintReader.damaged }
    do { catalog = try Catalog(json: json) } catch { throw VarintReader.damaged }
  }
}

extension CommitRecord {
  /// The same for equal records of one version, whatever engine keeps them.
  var fingerprint: UInt64 {
    var key: [UInt8] = []
    key.put32(UInt32(truncatingIfNeeded: version.rawValue))
    key.put32(UInt32(truncatingIfNeeded: version.rawValue >> 32))
    let bytes = encoded()
    return UInt64(IncrementSeal.checksum(key, bytes)) << 32 | UInt64(IncrementSeal.checksum(IncrementFormat.magic + key, bytes))
  }
}
