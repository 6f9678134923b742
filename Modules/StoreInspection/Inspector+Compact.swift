import StorageInterface

extension Inspector {
  /// Returns the space that no version needs any more to the system, and prints how much that was. The only command that needs a
  /// store opened for writing; it leaves the data unchanged.
  ///
  /// - Parameter deadline: how long to wait for other writers.
  public func compact(_ deadline: Deadline) throws(InspectionError) {
    var bytes = 0
    if let space = engine.powers.space {
      do throws(StorageError) { bytes = try space.reclaimSpace(deadline) } catch { throw InspectionError(error) }
    }
    let left: Int
    do throws(StorageError) { left = try engine.statistics().fileBytes } catch { throw InspectionError(error) }
    switch format {
    case .table: try print(Array("\(bytes) bytes given back; \(left) on disk\n".utf8))
    case .json: try print(.object([("givenBack", .number(bytes)), ("fileBytes", .number(left))]))
    case .ndjson: try printLines([.object([("givenBack", .number(bytes)), ("fileBytes", .number(left))])])
    case .csv: try printCSV(["name", "value"], [[.text("givenBack"), .number(bytes)], [.text("fileBytes"), .number(left)]])
    }
  }
}
