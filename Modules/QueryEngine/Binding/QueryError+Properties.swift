import StorageInterface
import StoreValues

extension QueryError {
  /// The error for a name that is no property of the type. A name with a leading backslash is a Swift key path of a property
  /// that is not stored.
  static func unknownProperty(_ name: String, of entry: TableEntry, in path: String) -> QueryError {
    let names = "It has \(entry.columns.map(\.schema.name).joined(separator: ", "))."
    if name.hasPrefix("\\") { return notPersisted(name, of: entry.name, remedy: "Use a stored property that is not @Transient. \(names)") }
    return QueryError(.unknownProperty, "'\(entry.name)' has no property '\(name)'.", remedy: names, path: path)
  }

  /// The error for a key path of a property that is not persisted: computed, static, or `@Transient`.
  package static func notPersisted(_ keyPath: String, of type: String? = nil, remedy: String) -> QueryError {
    // The address of its code helps nobody.
    let name = keyPath.replacing(#/ 0x[0-9a-f]+/#, with: "")
    return QueryError(
      .unknownProperty, "'\(name)' is no persisted property\(type.map { " of '\($0)'" } ?? "").", remedy: remedy, path: name)
  }
}
