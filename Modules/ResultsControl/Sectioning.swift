import Vivarium

/// How rows are grouped into sections: by a property, by the value at the end of a path over links, or by code that declares what
/// it reads.
///
/// The rows of one section are adjacent, so sections must follow the first sort key of the request.
public struct Sectioning<T: Model> {
  /// The paths that the key is computed from. The first sort key of the request must be one of them.
  let inputs: [PropertyPath]
  /// nil: the value at the end of the only path.
  let compute: ((T) -> Value)?
  /// Sections that stay when they have no rows, in the order of the rows.
  var kept: [Value] = []
  /// The paths to observe beside the rows' own properties: those that code reads, and a path over links, which may include
  /// inverses.
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

  /// By the value at the end of a path of names: `.by(keyPath: "project.name")`. Null if a link is null. An inverse leads to the
  /// first object that points here.
  public static func by(keyPath: String) -> Self { Sectioning(inputs: [PropertyPath(keyPath)], compute: nil) }

  /// By code: `.by(["name"]) { $0.name.first.map(String.init) ?? "" }`. `inputs` are the paths that `key` reads, including paths
  /// over inverses. A change of one of them changes the section.
  public static func by<Key: Scalar>(_ inputs: [String], key: @escaping (T) -> Key) -> Self {
    Sectioning(inputs: inputs.map { PropertyPath($0) }, compute: { key($0).persistedValue })
  }

  /// The same sectioning, with sections that stay when they are empty. List them in the order of the rows.
  public func keeping<Key: Scalar>(_ keys: [Key]) -> Self {
    var copy = self
    copy.kept = keys.map(\.persistedValue)
    return copy
  }
}
