import CVivariumLMDB
import Testing

/// Puts one entry into an LMDB file without the store's help.
func putEntry(_ path: String, _ key: [UInt8], _ value: [UInt8]) throws {
  var environment: OpaquePointer?
  mdb_env_create(&environment)
  let handle = try #require(environment)
  defer { mdb_env_close(handle) }
  try #require(mdb_env_open(handle, path, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o600) == 0)
  var transaction: OpaquePointer?
  try #require(mdb_txn_begin(handle, nil, 0, &transaction) == 0)
  var database: MDB_dbi = 0
  mdb_dbi_open(transaction, nil, 0, &database)
  var (key, value) = (key, value)
  let code = key.withUnsafeMutableBytes { key in
    value.withUnsafeMutableBytes { value in
      var k = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
      var v = MDB_val(mv_size: value.count, mv_data: value.baseAddress)
      return mdb_put(transaction, database, &k, &v, 0)
    }
  }
  try #require(code == 0)
  try #require(mdb_txn_commit(transaction) == 0)
}
