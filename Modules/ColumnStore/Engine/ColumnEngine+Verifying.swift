import StorageInterface
import StoreValues

extension ColumnEngine: StructureVerification {
  public func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let reading = read as? ColumnRead, reading.engine === self else {
      throw .misuse("The snapshot is of another engine.")
    }
    try reading.checkOpen()
    try store.upkeep?.verifyPages(reading.snapshot, report)
    // What lies in the file is looked at, not what was read of it before.
    reading.isImageRead = false
    withoutActuallyEscaping(report) { report in ColumnVerifier(reading, report).run() }
  }
}
