import Foundation

/// One line of the result: an engine, a workload and what it took.
struct Measurement: Codable {
  var engine: String
  var workload: String
  var count: Int
  /// Wall time; for W3, W6, W7 a single look-up or query, for sizes 0.
  var seconds: Double
  var cpuSeconds: Double
  /// For W12 and peak memory.
  var bytes: Int?
  /// What the workload computed, to be equal over all engines.
  var check: String?
  var note: String
}

enum Clock {
  static func wall() -> Double { read(CLOCK_MONOTONIC) }
  static func cpu() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }
  /// CPU time of the calling thread.
  static func ownCPU() -> Double { read(CLOCK_THREAD_CPUTIME_ID) }

  private static func read(_ id: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(id, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Runs `body` a number of times and gives the median of wall and CPU time with the last result.
  static func median<R>(of runs: Int, _ body: () throws -> R) rethrows -> (wall: Double, cpu: Double, result: R) {
    var walls: [Double] = []
    var cpus: [Double] = []
    var result: R
    repeat {
      let (wall, cpu) = (Clock.wall(), Clock.cpu())
      result = try body()
      walls.append(Clock.wall() - wall)
      cpus.append(Clock.cpu() - cpu)
    } while walls.count < runs
    return (walls.sorted()[runs / 2], cpus.sorted()[runs / 2], result)
  }
}

enum Resources {
  /// The most memory this process ever had resident, in bytes.
  static func peakMemory() -> Int { status("VmHWM") }

  /// Memory of this process that is no file's, resident now, in bytes; what is mapped from a file does not count.
  static func ownMemory() -> Int { status("RssAnon") }

  private static func status(_ name: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
      return (Int(line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]) ?? 0) * 1_024
    }
    return 0
  }

  /// Bytes in allocated blocks of every file whose name begins with the path's.
  static func allocatedBytes(_ path: String) -> Int {
    let folder = (path as NSString).deletingLastPathComponent
    let name = (path as NSString).lastPathComponent
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.filter { $0.hasPrefix(name) }.reduce(0) { sum, file in
      var info = stat()
      return stat(folder + "/" + file, &info) == 0 ? sum + Int(info.st_blocks) * 512 : sum
    }
  }
}
