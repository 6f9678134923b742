extension Store {
  /// Runs `body` while the store keeps its version and accepts no write: `refresh()` does nothing, and writing operations throw
  /// `.readOnlyOperation`, setters `.notInWrite` by policy. Inside an open write, `body` reads that write's state and cannot add to
  /// it. Nests.
  package func readOnly<R>(_ body: () throws -> R) rethrows -> R {
    if isReadOnly { return try body() }
    // Setters and lists look for an open write.
    let phase = writer.phase
    writer.phase = .readOnly(writing)
    defer { writer.phase = phase }
    return try body()
  }
}
