import Notifications
import StorageInterface
import StoreValues

extension Model {
  /// Several properties in one observer, inside the setter, as `observe(_:options:)` of one: each by its path, which
  /// may lead over links. The handler is given which one it is; `change` has the value, nil for null.
  ///
  /// ```swift
  /// token = try person.observe([\.name, \.best?.name]) { person, path, change in
  ///   print(path == \.name ? "name" : "dog", change.oldValue ?? "-", change.newValue ?? "-")
  /// }
  /// ```
  ///
  /// With `.initial` there is a call for each, in their order, and none where one is refused. `.objectDeleted`;
  /// `.unknownProperty` for a path that reads no persisted property, or what cannot be compared; `.notManaged` for a
  /// path over links from an object in no store: say it by names.
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

  /// The same by names, joined by dots over links to one object: `["name", "best.name"]`. Also from an object that is
  /// in no store, and over such objects, which take their observers with them into one.
  ///
  /// A call comes when the property at the end has another value, and when a link on the way is another or an object
  /// on the way is deleted, if that makes the value at the end another: null where the way ends early. A path may end
  /// in a list, set or map, whose edits are reported as ever.
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
    // None is called before all are known to lead somewhere.
    for notifier in notifiers { notifier.begin(self) }
    return NotificationToken(fileID: fileID, line: line) { end.stop() }
  }

  /// Has a notifier follow what lies at the end of a path from now on. It has yet to begin.
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
