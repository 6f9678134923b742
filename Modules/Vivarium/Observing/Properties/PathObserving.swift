import Notifications
import StorageInterface
import StoreValues

extension Model {
  /// Observes several properties in one observer, inside the setter, as `observe(_:options:)` does for one. Paths may lead over
  /// links. The handler receives the changed path; `change` has the value, nil for null.
  ///
  /// ```swift
  /// token = try person.observe([\.name, \.best?.name]) { person, path, change in
  ///   print(path == \.name ? "name" : "dog", change.oldValue ?? "-", change.newValue ?? "-")
  /// }
  /// ```
  ///
  /// With `.initial` there is one call for each path, in their order, and none if a path is rejected. `.objectDeleted`;
  /// `.unknownProperty` for a path that reads no persisted property, or a value that cannot be compared; `.notManaged` for a path
  /// over links from an unmanaged object: use names instead.
  public func observe(
    _ paths: [PartialKeyPath<Self>], options: PropertyObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping (Self, PartialKeyPath<Self>, ObservedChange<Any>) -> Void
  ) throws(StoreError) -> NotificationToken {
    let followed = paths.map { path -> (PartialKeyPath<Self>, ObservedPath<Self>) in
      (path, Self.ordinal(of: path).map { .properties([$0]) } ?? .reads(path))
    }
    return try observe(followed, options, fileID, line, handler)
  }

  /// The same by names, joined by dots over to-one links: `["name", "best.name"]`. Also works from and over unmanaged objects,
  /// which keep their observers when they are added to a store.
  ///
  /// The handler is called when the property at the end changes its value, and when a link on the way changes or an object on the
  /// way is deleted, if that changes the value at the end; the value is null if the path ends early. A path may end in a list, set
  /// or map, whose edits are reported as usual.
  ///
  /// `.unknownProperty`; `.notToOne` for a path over a list, set or map; `.objectDeleted`.
  public func observe(
    paths: [String], options: PropertyObservingOptions = [.old, .new], fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping (Self, String, ObservedChange<Any>) -> Void
  ) throws(StoreError) -> NotificationToken {
    var followed: [(String, ObservedPath<Self>)] = []
    for path in paths { followed.append((path, .properties(try Self.ordinals(ofPath: path)))) }
    return try observe(followed, options, fileID, line, handler)
  }

  private func observe<Path>(
    _ paths: [(Path, ObservedPath<Self>)], _ options: PropertyObservingOptions, _ fileID: StaticString, _ line: UInt,
    _ handler: @escaping (Self, Path, ObservedChange<Any>) -> Void
  ) throws(StoreError) -> NotificationToken {
    try store?.checkContext("observe")
    let end = ObserverEnd()
    let notifiers = paths.map { name, path in
      PropertyNotifier<Self, Any>(nil, options, end, read: { path.value(of: $0) }) { handler($0, name, $1) }
    }
    do throws(StoreError) {
      for (path, notifier) in zip(paths, notifiers) { try follow(path.1, notifier, end) }
    } catch {
      end.stop()
      throw error
    }
    // No handler is called before all paths are known to be valid.
    for notifier in notifiers { notifier.begin(self) }
    return NotificationToken(fileID: fileID, line: line) { end.stop() }
  }

  /// Has a notifier follow the value at the end of a path from now on. The caller must still begin the notifier.
  func follow<Property>(
    _ path: ObservedPath<Self>, _ notifier: PropertyNotifier<Self, Property>, _ end: ObserverEnd
  ) throws(StoreError) {
    try context?.check(_$key)
    if case .reads(let path) = path {
      guard isManaged else {
        throw StoreError(
          .notManaged, "'\(path)' leads farther than a property of a \(Self._$name) that is in no store.",
          remedy: "Observe it by names, or add the object first.")
      }
    }
    let observer = PathObserver(ObservedRoot(self), path, notifier, end)
    if !observer.begin(), case .reads(let path) = path {
      end.stop()
      throw .notAProperty(path, Self._$name)
    }
  }
}
