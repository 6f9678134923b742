import ChangeTracker
import Foundation
import StorageInterface
import StoreValues

/// A store in which each commit adds an object with the next number, takes an old one away, and notes the number in the first object:
/// with records that say so, as a store writes them.
public enum CountedStore {
  private static let schema = Schema([
    ObjectSchema(
      name: "Count",
      properties: [
        PropertySchema(name: "number", kind: .scalar(.int64), isIndexed: true, isUnique: true),
        PropertySchema(name: "text", kind: .scalar(.string)),
        PropertySchema(name: "last", kind: .scalar(.link), isOptional: true, target: "Count"),
      ])
  ])

  /// Makes the type, unless it is there.
  public static func prepare(_ engine: any StorageEngine) throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 3)
    defer { write.end() }
    let (catalog, steps) = try write.transaction.catalog.adopting(schema)
    if steps.isEmpty { return }
    try write.setCatalog(catalog)
    _ = try write.commit(author: nil, timeMilliseconds: 0, .full)
  }

  public static func commit(_ engine: any StorageEngine) throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 3)
    defer { write.end() }
    guard let table = write.transaction.catalog["Count"], let number = table["number"], let text = table["text"], let last = table["last"],
      let slot = table.slot(of: number.id), let textSlot = table.slot(of: text.id)
    else { throw StorageError(.misuse, .engine, "There is no type 'Count'.") }
    let next = Int64(write.transaction.version.rawValue)
    let row = RowBuffer(table)
    row.set(slot, word: next)
    row.set(textSlot, .string(String(repeating: "\(next) ", count: 2_000)))
    let key = try write.insert(row)
    _ = try write.set(table.column(last.id), ObjectKey(1), .link(key))
    _ = try write.set(table.column(text.id), ObjectKey(1), .string("\(next)"))
    let old = ObjectKey(key.rawValue - 10)
    if old.rawValue > 1, try write.transaction.contains(table.id, old) { try write.delete(table.id, old) }
    _ = try write.commit(author: nil, timeMilliseconds: 0, .full)
  }

  /// The number in the first object; nil if something is not as its commit left it.
  public static func number(_ read: any ReadTransaction) throws -> Int64? {
    guard let table = read.catalog["Count"], let number = table["number"], let text = table["text"], let last = table["last"],
      case .string(let shown) = try read.value(table.column(text.id), ObjectKey(1)), let found = Int64(shown),
      case .link(let key) = try read.value(table.column(last.id), ObjectKey(1)),
      case .int(let named) = try read.value(table.column(number.id), key), named == found,
      found == Int64(read.version.rawValue) - 1, try read.count(table.id) == min(Int(key.rawValue), 11)
    else { return nil }
    return found
  }

  /// The paths of the increments in a folder, in their order.
  public static func increments(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
      name.hasPrefix("increment-") ? Int64(name.dropFirst(10)) : nil
    }.sorted().map { "\(folder)/increment-\($0)" }
  }
}
