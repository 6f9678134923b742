import Vivarium

/// How rows are put into sections: by a property, by what lies at the end of a path over links, or by code that says what it
/// reads.
///
/// Rows of one section stand together, so sections follow the first sort key of the request.
public struct Sectioning<T: Model> {
  /// The paths the key is made from. The first sort key of the request must be one of them.
  let inputs: [PropertyPath]
  /// nil: the value at the end of the only path.
  let compute: ((T) -> Value)?
  /// Sections that stay when they have no rows, in the order of the rows.
  var kept: [Value] = []
  /// What is to be observed beside the rows' own properties: what code reads, and what lies at the end of a path, which may
  /// lead over inverses.
  var read: [String] {
    if compute != nil { return inputs.map(\.description) }
    return inputs.filter { path in
      path.components.count > 1 && !path.components.contains { $0.hasPrefix("@") || $0.hasPrefix("[") }
    }.map(\.description)
  }

  /// By the value of a property: `.by(\.projectID)`.
  public static func by(_ path: PartialKeyPath<T>) -> Self {
    Sectioning(inputs: SortKey(path).path.components.isEmpty ? [] : [SortKey(path).path], compute: nil)
  }

  /// By what lies at the end of a path of names: `.by(keyPath: "project.name")`. Null where a link leads nowhere. An inverse
  /// leads to the first object that points here.
  public static func by(keyPath: String) -> Self { Sectioning(inputs: [PropertyPath(keyPath)], compute: nil) }

  /// By code: `.by(["name"]) { $0.name.first.map(String.init) ?? "" }`. `inputs` are the paths that `key` reads, also over
  /// inverses; a change of one is a change of the section.
  public static func by<Key: Scalar>(_ inputs: [String], key: @escaping (T) -> Key) -> Self {
    Sectioning(inputs: inputs.map { PropertyPath($0) }, compute: { key($0).persistedValue })
  }

  /// The same with sections that stay when they are empty; give them in the order of the rows.
  public func keeping<Key: Scalar>(_ keys: [Key]) -> Self {
    var copy = self
    copy.kept = keys.map(\.persistedValue)
    return copy
  }
}
