import SyncModel
import SyncProtocol
import Vivarium

/// Somebody who waits until the server has what was written.
struct WaitingUpload: Sendable {
  /// The last changeset that counts, and the replica whose number that is; nil for that of an earlier one.
  var upTo: UInt64
  var replica: ReplicaID?
  let continuation: CheckedContinuation<Void, any Error>
}

extension Replicator {
  /// Everything that happens from now on, beginning with the present state. Ends with the replicator. Unread notices are kept, oldest
  /// first.
  public func notices() -> AsyncStream<SyncNotice> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncNotice.self)
    lastNumber += 1
    let number = lastNumber
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    continuation.yield(.state(state))
    return stream
  }

  private func forget(_ number: UInt64) { listeners[number] = nil }

  /// Returns when everything that the server has now is in the file, however long there is no connection. Throws `CancellationError` if
  /// the task is cancelled, or the replicator is not started or is stopped.
  public func downloaded() async throws {
    lastNumber += 1
    let number = lastNumber
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        if Task.isCancelled || !isAtWork { return continuation.resume(throwing: CancellationError()) }
        marks[number] = continuation
        handle(.mark(number))
      }
    } onCancel: {
      Task { await self.giveUp(number) }
    }
  }

  /// Returns when the server has everything that was written before the call, however long there is no connection. Throws
  /// `CancellationError` if the task is cancelled, or the replicator is not started or is stopped, and errors of reading the file.
  public func uploaded() async throws {
    lastNumber += 1
    let number = lastNumber
    let (last, _, replica) = try file.waiting()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        if Task.isCancelled || !isAtWork { return continuation.resume(throwing: CancellationError()) }
        uploads[number] = WaitingUpload(upTo: last, replica: replica, continuation: continuation)
        checkUploads()
      }
    } onCancel: {
      Task { await self.giveUp(number) }
    }
  }

  private func giveUp(_ number: UInt64) {
    if let waiting = marks.removeValue(forKey: number) {
      handle(.unmark(number))
      waiting.resume(throwing: CancellationError())
    }
    uploads.removeValue(forKey: number)?.continuation.resume(throwing: CancellationError())
  }

  /// Resumes uploads that are done, after an answer of the server.
  func checkUploads() {
    if uploads.isEmpty { return }
    do {
      let (last, oldest, replica) = try file.waiting()
      for (number, var upload) in uploads {
        // What was pending has other numbers since the file goes on as another replica: they begin with 1.
        if let replica, upload.replica != replica { (upload.upTo, upload.replica) = (last, replica) }
        let isDone = oldest.map { $0 > upload.upTo } ?? true
        uploads[number] = isDone ? nil : upload
        if isDone { upload.continuation.resume() }
      }
    } catch {
      for (_, upload) in uploads { upload.continuation.resume(throwing: error) }
      uploads = [:]
    }
  }
}
