/// The properties read during a computation. Confined to the store's context.
final class ReadTrace {
  private(set) var places: [PathPlace] = []
  private var known: Set<PathPlace.ID> = []

  func note(_ place: PathPlace) { if known.insert(place.id).inserted { places.append(place) } }
}

extension Store {
  /// The result of `body`, and the properties that it read, each once.
  func tracing<T>(_ body: () -> T) -> (T, [PathPlace]) {
    let (outer, trace) = (observing.readTrace, ReadTrace())
    report(to: trace)
    defer { report(to: outer) }
    return (body(), trace.places)
  }

  private func report(to trace: ReadTrace?) {
    observing.readTrace = trace
    for context in allContexts { reportReads(of: context) }
  }

  /// Sets to whom reads of a type are reported: to the trace, if there is one, else to Observation or nobody.
  func reportReads(of context: ModelContext) {
    context.raw.pointee.isTraced = observing.readTrace != nil
    context.raw.pointee.tracksReads = observing.tracksReads || observing.readTrace != nil
  }
}
