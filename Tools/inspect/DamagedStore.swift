import StorageCoordination
import StorageInterface
import StorageLMDB
import StoreInspection
import StoreValues

/// A store of which what is whole is to be taken out: as it is, or, where its first pages are so damaged that nothing opens it, a copy that
/// leads to the newest version that is found.
struct DamagedStore {
  /// A store of LMDB under a name that goes again.
  private struct Copy {
    let file: AsideFile
    let backend: LMDBBackend

    init(_ key: (any StoreKey)?, beside path: String) throws(StorageError) {
      file = try AsideFile(for: path, mode: 0o600)
      backend = LMDBBackend(path: file.path + ".found", key: key)
    }

    func remove() {
      file.letGo()
      // What could not be removed is found as long as this file is there.
      if (try? backend.remove()) != nil { file.remove() }
    }
  }

  let engine: any StorageEngine
  /// The version that the copy leads to; nil: the store is open as it is.
  let found: Version?
  private let path: String
  private let copy: Copy?

  private init(_ engine: any StorageEngine, _ path: String, found: Version? = nil, _ copy: Copy? = nil) {
    (self.engine, self.path, self.found, self.copy) = (engine, path, found, copy)
  }

  /// The copy is made beside `target`, and is its maker's alone. Throws what stands in the way of opening the store, if nothing is found.
  static func open(_ path: String, _ key: (any StoreKey)?, beside target: String) throws(InspectionError) -> DamagedStore {
    do throws(InspectionError) {
      return DamagedStore(try StoreFinder.open(path, KeyOptions.backends(path, key)), path)
    } catch {
      guard error.status == .cannotOpen, let store = try rescued(path, key, beside: target) else { throw error }
      return store
    }
  }

  private static func rescued(
    _ path: String, _ key: (any StoreKey)?, beside target: String
  ) throws(InspectionError) -> DamagedStore? {
    let copy: Copy
    do throws(StorageError) { copy = try Copy(key, beside: target) } catch { throw InspectionError(error) }
    do throws(StorageError) {
      if let version = try LMDBBackend(path: path, key: key).rescue(to: copy.backend.location) {
        let engine = try copy.backend.open(OpenOptions(isReadOnly: true, createsIfMissing: false))
        return DamagedStore(engine, path, found: version, copy)
      }
      copy.remove()
      return nil
    } catch {
      copy.remove()
      var failure = InspectionError(error)
      failure.message = failure.message.replacing(copy.backend.location, with: path)
      throw failure
    }
  }

  /// What was said of the store, with the name that it was given by.
  func named(_ text: String) -> String { copy.map { text.replacing($0.backend.location, with: path) } ?? text }

  func close() {
    engine.close()
    copy?.remove()
  }
}
