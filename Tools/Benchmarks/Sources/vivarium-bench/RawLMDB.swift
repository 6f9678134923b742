import CBenchLMDB
import Foundation

struct LMDBFailure: Error, CustomStringConvertible {
  let description: String
}

/// LMDB through its C API with a row per key, as a program without a layer over it would use it: big-endian
/// ids, a packed row, a DUPSORT index on project.
final class RawLMDB: Contestant {
  let data: Dataset
  private let path: String
  private var environment: OpaquePointer?
  private var tasks: MDB_dbi = 0
  private var projects: MDB_dbi = 0

  var note: String { "LMDB \(String(cString: mdb_version(nil, nil, nil))), a row per key, flags 0 (durable)" }

  init(path: String, data: Dataset) throws {
    self.data = data
    self.path = path
    try open(flags: 0)
  }

  deinit { mdb_env_close(environment) }

  private func check(_ code: Int32, _ what: String) throws {
    if code != 0 { throw LMDBFailure(description: "\(what): \(String(cString: mdb_strerror(code)))") }
  }

  private func open(flags: UInt32) throws {
    try check(mdb_env_create(&environment), "create")
    try check(mdb_env_set_mapsize(environment, 8 << 30), "map size")
    try check(mdb_env_set_maxdbs(environment, 4), "maxdbs")
    try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR) | flags, 0o644), "open")
    try write { transaction in
      try check(mdb_dbi_open(transaction, "task", UInt32(MDB_CREATE), &tasks), "dbi")
      let flags = UInt32(MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED)
      try check(mdb_dbi_open(transaction, "project", flags, &projects), "dbi")
    }
  }

  private func write(_ body: (OpaquePointer) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &transaction), "begin")
    guard let transaction else { return }
    do { try body(transaction) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction), "commit")
  }

  private func read<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction), "begin")
    defer { mdb_txn_abort(transaction) }
    guard let transaction else { throw LMDBFailure(description: "begin") }
    return try body(transaction)
  }

  // MARK: Rows: priority, due, project (8 bytes each), done (1), then the title.

  struct Row {
    let memory: UnsafeRawPointer
    let size: Int
    var priority: Int64 { memory.loadUnaligned(as: Int64.self) }
    var due: Double { memory.loadUnaligned(fromByteOffset: 8, as: Double.self) }
    var project: Int64 { memory.loadUnaligned(fromByteOffset: 16, as: Int64.self) }
    var done: Bool { memory.load(fromByteOffset: 24, as: UInt8.self) != 0 }
    var titleBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory + 25, count: size - 25) }
    var title: String { String(decoding: titleBytes, as: UTF8.self) }
  }

  private func withValue<R>(_ memory: UnsafeMutableRawPointer, _ size: Int, _ body: (inout MDB_val) throws -> R) rethrows -> R {
    var value = MDB_val(mv_size: size, mv_data: memory)
    return try body(&value)
  }

  private func put(_ id: Int, _ transaction: OpaquePointer) throws {
    let row = data.rows[id]
    var title = data.title(id)
    let size = 25 + title.utf8.count
    try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      guard let memory = buffer.baseAddress else { return }
      memory.storeBytes(of: row.priority, as: Int64.self)
      memory.storeBytes(of: row.due, toByteOffset: 8, as: Double.self)
      memory.storeBytes(of: row.project, toByteOffset: 16, as: Int64.self)
      memory.storeBytes(of: row.done ? 1 : 0, toByteOffset: 24, as: UInt8.self)
      title.withUTF8 { (memory + 25).copyMemory(from: $0.baseAddress ?? UnsafePointer(bitPattern: 1)!, byteCount: $0.count) }
      var key = UInt64(id).bigEndian
      var project = UInt64(row.project).bigEndian
      try withUnsafeMutableBytes(of: &key) { key in
        var k = MDB_val(mv_size: 8, mv_data: key.baseAddress)
        var v = MDB_val(mv_size: size, mv_data: memory)
        try check(mdb_put(transaction, tasks, &k, &v, UInt32(MDB_NOOVERWRITE)), "put")
        try withUnsafeMutableBytes(of: &project) { project in
          var p = MDB_val(mv_size: 8, mv_data: project.baseAddress)
          var k = MDB_val(mv_size: 8, mv_data: key.baseAddress)
          try check(mdb_put(transaction, projects, &p, &k, 0), "put index")
        }
      }
    }
  }

  private func row(_ id: UInt64, _ transaction: OpaquePointer) throws -> Row {
    var key = id.bigEndian
    return try withUnsafeMutableBytes(of: &key) { key in
      var k = MDB_val(mv_size: 8, mv_data: key.baseAddress)
      var v = MDB_val()
      try check(mdb_get(transaction, tasks, &k, &v), "get")
      return Row(memory: UnsafeRawPointer(v.mv_data), size: v.mv_size)
    }
  }

  private func scan(_ transaction: OpaquePointer, _ body: (UInt64, Row) -> Void) throws {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, tasks, &cursor), "cursor")
    defer { mdb_cursor_close(cursor) }
    var k = MDB_val()
    var v = MDB_val()
    while mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0 {
      body(
        UInt64(bigEndian: k.mv_data.loadUnaligned(as: UInt64.self)),
        Row(memory: UnsafeRawPointer(v.mv_data), size: v.mv_size))
    }
  }

  // MARK: Workloads

  func load() throws { try write { for id in data.order { try put(Int(id), $0) } } }

  func reopen() throws {
    mdb_env_close(environment)
    try open(flags: 0)
  }

  func first() throws -> Int64 {
    try read { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, tasks, &cursor), "cursor")
      defer { mdb_cursor_close(cursor) }
      var k = MDB_val()
      var v = MDB_val()
      try check(mdb_cursor_get(cursor, &k, &v, MDB_FIRST), "first")
      return Int64(UInt64(bigEndian: k.mv_data.loadUnaligned(as: UInt64.self)))
    }
  }

  func lookUps(_ ids: [Int]) throws -> Int64 {
    try read { transaction in try ids.reduce(0) { try $0 + row(UInt64($1), transaction).priority } }
  }

  private func sum(_ body: (Row) -> Int64) throws -> Int64 {
    try read { transaction in
      var sum: Int64 = 0
      try scan(transaction) { _, row in sum += body(row) }
      return sum
    }
  }

  func sumPriority() throws -> Int64 { try sum { $0.priority } }

  func maxDue() throws -> Double {
    try read { transaction in
      var best = -Double.infinity
      try scan(transaction) { _, row in best = max(best, row.due) }
      return best
    }
  }

  func averageDue() throws -> Double {
    try read { transaction in
      var total = 0.0
      try scan(transaction) { _, row in total += row.due }
      return total / Double(data.count)
    }
  }

  func readEverything() throws -> Int64 {
    var due = 0.0
    let result = try sum { row in
      due += row.due
      return Int64(row.title.utf8.count) + row.priority + (row.done ? 1 : 0)
    }
    return due > 0 ? result : 0
  }

  func countOpenUrgent() throws -> Int { Int(try sum { $0.priority >= 7 && !$0.done ? 1 : 0 }) }

  func countTitles(containing text: String) throws -> Int {
    let needle = Array(text.utf8)
    return Int(
      try sum { row in
        bench_contains(row.titleBytes.baseAddress, row.titleBytes.count, needle, needle.count) != 0 ? 1 : 0
      })
  }

  func countTitles(beginningWith text: String) throws -> Int {
    let prefix = Array(text.utf8)
    return Int(
      try sum { row in
        row.titleBytes.starts(with: prefix) ? 1 : 0
      })
  }

  private func ids(ofProject project: Int64, _ transaction: OpaquePointer) throws -> [UInt64] {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, projects, &cursor), "cursor")
    defer { mdb_cursor_close(cursor) }
    var key = UInt64(project).bigEndian
    return withUnsafeMutableBytes(of: &key) { key in
      var k = MDB_val(mv_size: 8, mv_data: key.baseAddress)
      var v = MDB_val()
      var result: [UInt64] = []
      var code = mdb_cursor_get(cursor, &k, &v, MDB_SET)
      while code == 0 {
        result.append(UInt64(bigEndian: v.mv_data.loadUnaligned(as: UInt64.self)))
        code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT_DUP)
      }
      return result
    }
  }

  func firstTitles(ofProject project: Int64) throws -> [String] {
    try read { transaction in
      var found: [(due: Double, id: UInt64)] = []
      for id in try ids(ofProject: project, transaction) {
        let row = try row(id, transaction)
        if !row.done { found.append((row.due, id)) }
      }
      found.sort { ($0.due, $0.id) < ($1.due, $1.id) }
      return try found.prefix(100).map { try row($0.id, transaction).title }
    }
  }

  func firstTitlesByPriority(limited: Bool) throws -> [String] {
    try read { transaction in
      var all: [(priority: Int64, due: Double, id: UInt64)] = []
      all.reserveCapacity(data.count)
      try scan(transaction) { id, row in all.append((-row.priority, row.due, id)) }
      all.sort { ($0.priority, $0.due, $0.id) < ($1.priority, $1.due, $1.id) }
      return try all.prefix(100).map { try row($0.id, transaction).title }
    }
  }

  func count(ofProject project: Int64) throws -> Int {
    try read { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, projects, &cursor), "cursor")
      defer { mdb_cursor_close(cursor) }
      var key = UInt64(project).bigEndian
      return try withUnsafeMutableBytes(of: &key) { key in
        var k = MDB_val(mv_size: 8, mv_data: key.baseAddress)
        var v = MDB_val()
        guard mdb_cursor_get(cursor, &k, &v, MDB_SET) == 0 else { return 0 }
        var count = 0
        try check(mdb_cursor_count(cursor, &count), "count")
        return count
      }
    }
  }

  func insertOne(_ id: Int, durable: Bool) throws {
    try check(mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), durable ? 0 : 1), "flags")
    try write { try put(id, $0) }
  }

  func updatePriorities(_ ids: [Int]) throws {
    try check(mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), 0), "flags")
    try write { transaction in
      for id in ids {
        let old = try row(UInt64(id), transaction)
        try withUnsafeTemporaryAllocation(byteCount: old.size, alignment: 8) { buffer in
          guard let memory = buffer.baseAddress else { return }
          memory.copyMemory(from: old.memory, byteCount: old.size)
          memory.storeBytes(of: (old.priority + 1) % 10, as: Int64.self)
          var key = UInt64(id).bigEndian
          try withUnsafeMutableBytes(of: &key) { key in
            var k = MDB_val(mv_size: 8, mv_data: key.baseAddress)
            var v = MDB_val(mv_size: old.size, mv_data: memory)
            try check(mdb_put(transaction, tasks, &k, &v, 0), "put")
          }
        }
      }
    }
  }

  func deleteDone() throws -> Int {
    var count = 0
    try write { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, tasks, &cursor), "cursor")
      defer { mdb_cursor_close(cursor) }
      var k = MDB_val()
      var v = MDB_val()
      while mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0 {
        let row = Row(memory: UnsafeRawPointer(v.mv_data), size: v.mv_size)
        guard row.done else { continue }
        var project = UInt64(row.project).bigEndian
        try withUnsafeMutableBytes(of: &project) { project in
          var p = MDB_val(mv_size: 8, mv_data: project.baseAddress)
          try check(mdb_del(transaction, projects, &p, &k), "delete index")
        }
        try check(mdb_cursor_del(cursor, 0), "delete")
        count += 1
      }
    }
    return count
  }
}
