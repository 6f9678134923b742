#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// An object's name on a command line: its primary key, or `#17` for its object key. A string key that begins with `#` is written
/// with a second `#`.
enum ObjectName: Hashable {
  case key(ObjectKey)
  case primaryKey(Value)

  /// Parses the name of an object of `table`. Throws status `.usage` if the text cannot name one.
  init(_ text: String, in table: TableEntry) throws(InspectionError) {
    // By bytes: behind the mark may stand one that is one character with it.
    let marks = text.utf8.prefix(2).prefix { $0 == UInt8(ascii: "#") }.count
    if marks == 1 {
      guard let number = Int64(String(decoding: text.utf8.dropFirst(), as: UTF8.self)) else {
        throw InspectionError(.usage, "'\(DisplayText.escaped(text))' is no object key: '#' and a number are wanted.")
      }
      self = .key(ObjectKey(number))
      return
    }
    guard let primaryKey = table.primaryKey, let type = primaryKey.schema.valueType else {
      throw InspectionError(
        .usage, "'\(table.name)' has no primary key: name its objects by object key, as '#1'.")
    }
    let plain = marks == 2 ? String(decoding: text.utf8.dropFirst(), as: UTF8.self) : text
    guard let value = ObjectName.value(plain, type) else {
      throw InspectionError(
        .usage,
        "'\(DisplayText.escaped(text))' is no \(type.rawValue), which the primary key '\(primaryKey.schema.name)' of '\(table.name)' is.")
    }
    self = .primaryKey(value)
  }

  private static func value(_ text: String, _ type: ValueType) -> Value? {
    switch type {
    case .string: return .string(text)
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .objectId: return ObjectId(text).map { .objectId($0) }
    default:
      guard let range = type.integerRange, let number = Int64(text), range.contains(number) else { return nil }
      return .int(number)
    }
  }
}
