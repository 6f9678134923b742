// Descriptions for logs and debuggers: positions and versions, not the internal states they are computed from.

extension ChangedRows: CustomStringConvertible {
  /// The positions; if they differ, those in the old collection and those in the new one: `[1, 4] → [0, 3]`.
  public var description: String { old == new ? "\(old)" : "\(old) → \(new)" }
}

extension ChangeDetails: CustomStringConvertible {
  /// The versions and who wrote: `v7 to v9 by import`.
  public var description: String {
    "\(fromVersion) to \(toVersion)" + (authors.isEmpty ? "" : " by " + authors.joined(separator: ", "))
  }
}

extension BoundResults: CustomStringConvertible {
  public var description: String { results.description }
}
