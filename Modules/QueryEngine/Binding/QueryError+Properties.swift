import StorageInterface
import StoreValues

extension QueryError {
  /// A name that no property of a type has. One that begins with a backslash is a key path of Swift's, of a property that is not stored.
  static func unknownProperty(_ name: String, of entry: TableEntry, in path: String) -> QueryError {
    let names = "It has \(entry.columns.map(\.schema.name).joined(separator: ", "))."
    if name.hasPrefix("\\") { return notPersisted(name, of: entry.name, remedy: "Use a stored property that is not @Transient. \(names)") }
    return QueryError(.unknownProperty, "'\(entry.name)' has no property '\(name)'.", remedy: names, path: path)
  }

  /// A key path that leads to no persisted property: a computed one, a static one, one that is `@Transient`.
  package static func notPersisted(_ keyPath: String, of type: String? = nil, remedy: String) -> QueryError {
    // Where its code lies in memory is of no use to anybody.
    let name = keyPath.replacing(#/ 0x[0-9a-f]+/#, with: "")
    return QueryError(
      .unknownProperty, "'\(name)' is no persisted property\(type.map { " of '\($0)'" } ?? "").", remedy: remedy, path: name)
  }
}
