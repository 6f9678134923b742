#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// The catalog entry: the version that wrote it u64, then the catalog as JSON.
extension ColumnReading {
  static func catalog(
    _ snapshot: any KeyValueSnapshot, _ cache: StructureCache
  ) throws(StorageError) -> CatalogMap {
    let bytes = try EntryKey.catalog.withBytes { key throws(StorageError) in try snapshot.value(for: key) }
    guard let bytes else { return emptyCatalog }
    guard let start = bytes.baseAddress, bytes.count >= 8 else { throw .corrupt("the catalog is cut off") }
    return try cache.catalog(version: start.number(0)) { () throws(StorageError) in
      guard let catalog = try? Catalog(json: UnsafeRawBufferPointer(rebasing: bytes[8...])) else {
        throw .corrupt("the catalog cannot be read")
      }
      let header = try EntryKey.header.withBytes { key throws(StorageError) in try snapshot.value(for: key) }
      if let header { try catalog.check(format: FileHeader(header).format) }
      return CatalogMap(catalog)
    }
  }

  private static let emptyCatalog = CatalogMap(Catalog())

  static func encode(_ catalog: Catalog, version: Version) throws(StorageError) -> ValueBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let json = try? encoder.encode(catalog) else {
      throw StorageError(.io, .transaction, "The catalog could not be encoded.")
    }
    return ValueBuffer(withUnsafeBytes(of: version.rawValue.littleEndian) { Array($0) } + Array(json))
  }
}
