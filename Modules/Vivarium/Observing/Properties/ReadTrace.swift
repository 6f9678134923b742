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
    observing.readTrace = trace
    for context in allContexts { context.raw.pointee.tracksReads = true }
    defer {
      observing.readTrace = outer
      for context in allContexts { context.raw.pointee.tracksReads = observing.tracksReads || outer != nil }
    }
    return (body(), trace.places)
  }
}
