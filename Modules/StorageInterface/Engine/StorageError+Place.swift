extension StorageError {
  private static let placeMark = " It was met looking for "

  /// An error of damage (`.corrupt`), with the place where it was met and the file added to its message, as far as that does not name
  /// them yet. Any other error as it is.
  ///
  /// - Parameters:
  ///   - place: as it follows "looking for": "chunk 3 of 'Person.name'"; nil if nothing more is known than the message says.
  ///   - path: the path of the store's file; nil for a store without one.
  package func placed(_ place: @autoclosure () -> String?, inFile path: String?) -> StorageError {
    guard code == .corrupt else { return self }
    var error = self
    if !message.contains(StorageError.placeMark), let place = place() { error.message += "\(StorageError.placeMark)\(place)." }
    if let path, !message.contains(path) { error.message += " The file is '\(path)'." }
    return error
  }
}
