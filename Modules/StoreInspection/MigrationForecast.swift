import StorageInterface
import StoreValues

/// What opening a store with another schema would do to it, as far as the file and that schema determine it. The effects of the
/// program's migration block are unknown.
public struct MigrationForecast: Sendable {
  /// One change, or one reason why opening would fail.
  public struct Line: Sendable, Hashable {
    /// The kind of change: "new property", "converted property", …
    public var change: String
    public var type: String
    /// The property, or the properties of an index.
    public var property: String?
    /// The number of objects concerned; nil if it cannot be known in advance.
    public var objects: Int?
    public var note: String?
    /// Whether this makes opening fail.
    public var isFault: Bool
  }

  /// The schema version of the file, and that of the program that would open it.
  public var versions: (old: UInt64, new: UInt64)
  public var lines: [Line] = []
  /// Whether the change needs a higher schema version, and therefore a migration.
  public var needsMigration = false
  public var faults: [Line] { lines.filter(\.isFault) }

  /// Compares the catalog and the objects of a version with a schema. Reads only the types whose objects matter, a column at a
  /// time; writes nothing.
  public init(
    _ read: any ReadTransaction, to schema: Schema, version: UInt64, renamedTypes: [String: String] = [:]
  ) throws(InspectionError) {
    versions = (read.catalog.schemaVersion, version)
    if versions.old > version {
      lines = [.fault("", nil, "the file has schema version \(versions.old), and the program \(version)")]
      return
    }
    let faults = schema.faults()
    if !faults.isEmpty {
      lines = faults.map { .fault($0.type, $0.property, $0.message) }
      return
    }
    if versions.old == version, renamedTypes.isEmpty {
      let adopted: (catalog: Catalog, steps: [CatalogStep])
      do throws(CatalogConflict) { adopted = try read.catalog.adopting(schema) } catch {
        needsMigration = true
        lines = error.faults.map { .fault($0.type, $0.property, $0.message) }
        return
      }
      do throws(StorageError) {
        let looks = ForecastReader(read, adopted.catalog)
        for step in adopted.steps { lines += try looks.lines(of: step, after: nil) }
        lines += try looks.forgotten(adopted.steps, schema)
        lines += try looks.strays(after: nil)
      } catch { throw InspectionError(error) }
      return
    }
    needsMigration = true
    let plan: CatalogMigration
    do throws(CatalogConflict) {
      plan = try read.catalog.migrating(to: schema, renamedTypes: renamedTypes)
    } catch {
      lines += error.faults.map { .fault($0.type, $0.property, $0.message) }
      return
    }
    do throws(StorageError) {
      let looks = ForecastReader(read, plan.finished)
      for step in plan.steps { lines += try looks.lines(of: step, after: plan) }
      for type in plan.embedded { lines += try looks.embedding(of: type) }
      lines += try looks.strays(after: plan)
    } catch { throw InspectionError(error) }
  }
}

extension MigrationForecast.Line {
  init(_ change: String, _ type: String, _ property: String? = nil, objects: Int? = nil, note: String? = nil) {
    self.init(change: change, type: type, property: property, objects: objects, note: note, isFault: false)
  }

  static func fault(_ type: String, _ property: String?, _ note: String, objects: Int? = nil) -> Self {
    Self(change: "would fail", type: type, property: property, objects: objects, note: note, isFault: true)
  }
}
