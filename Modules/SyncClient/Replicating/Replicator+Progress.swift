extension Replicator {
  /// The progress of uploads or downloads: the present one at once, then each change. A slow reader gets the newest.
  ///
  /// ```swift
  /// for await progress in try await replicator.progress(.upload, of: .outstanding) {
  ///   bar.fraction = Double(progress.transferred) / Double(max(progress.transferable, 1))
  /// }
  /// // Everything that had been written is at the server.
  /// ```
  ///
  /// With `.outstanding`, the stream ends as soon as everything outstanding is done, with a last value whose two numbers are equal. Every
  /// stream ends when the replicator is stopped. Throws errors of reading the file. Each change of an upload costs O(pending changesets).
  public func progress(
    _ direction: SyncProgress.Direction, of scope: SyncProgress.Scope = .everything
  ) throws -> AsyncStream<SyncProgress> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncProgress.self, bufferingPolicy: .bufferingNewest(1))
    lastNumber += 1
    let number = lastNumber
    let (waiting, _, last) = try file.waitingBytes(after: 0, through: [])
    transfers.begin(waiting: waiting, last: last)
    let end = direction == .upload ? last : number
    transfers.observe(number, direction, scope, end: end, outstanding: waiting, continuation)
    continuation.onTermination = { [weak self] _ in Task { await self?.forgetProgress(number) } }
    if direction == .download, scope == .outstanding { handle(.mark(number)) }
    return stream
  }

  private func forgetProgress(_ number: UInt64) {
    transfers.forget(number)
    handle(.unmark(number))
  }

  /// Updates uploads after a write, or an answer of the server.
  func lookAtOutbox() {
    guard transfers.watchesUploads else { return }
    let (after, ends) = transfers.questions
    let numbers = ends.keys.sorted()
    do {
      let new = try file.waitingBytes(after: after, through: [.max] + numbers.map { ends[$0] ?? 0 })
      let upTo = Dictionary(uniqueKeysWithValues: zip(numbers, new.upTo.dropFirst()))
      transfers.count(all: new.upTo.first ?? 0, new: new.new, upTo: upTo, last: new.last)
    } catch { tell(.file(error)) }
  }
}
