extension Store {
  /// Runs `body` while the store keeps the version it is at and takes no write: `refresh()` does nothing, and
  /// what would write throws `.readOnlyOperation`, setters `.notInWrite` by policy. Inside an open write `body` reads that
  /// write's state and cannot add to it. Nests.
  package func readOnly<R>(_ body: () throws -> R) rethrows -> R {
    if isReadOnly { return try body() }
    // Setters and lists look for a write that is open to them.
    let phase = writer.phase
    writer.phase = .readOnly(writing)
    defer { writer.phase = phase }
    return try body()
  }
}
