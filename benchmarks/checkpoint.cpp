// Checkpoints: saving and loading objects, beside what the disk and the link to the GPU give for the same bytes. Files
// are written to the current folder, or to the one that TMPDIR names.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dynasoar/checkpoint/checksum.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/host_buffer.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace checkpoint {

class Object;
using AllocatorT = dynasoar::SoaAllocator<Object>;
class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Object, (a_, std::uint64_t), (b_, std::uint64_t), (c_, float), (d_, float), (e_, float), (f_, float));
  __device__ explicit Object(std::size_t i)
      : a_(i * 0x9E3779B97F4A7C15u), b_(i), c_(1.0f * i), d_(2.0f * i), e_(3.0f * i), f_(4.0f * i) {}
};
using Handle = dynasoar::AllocatorHandle<AllocatorT>;

constexpr double kBytesPerObject = 32;

/// Writes bytes, and waits until the disk has them; nothing else.
void write_plainly(const std::string& path, const char* data, std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{32} << 20;
  dynasoar::detail::DurableFile file(path);
  for (std::size_t done = 0; done < bytes; done += kPart) file.write(data + done, std::min(kPart, bytes - done));
  file.commit();
}

/// Reads them again.
void read_plainly(const std::string& path, char* data, std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{32} << 20;
  const dynasoar::detail::InputFile file(path);
  for (std::size_t done = 0; done < bytes; done += kPart) {
    file.read_at(done, data + done, std::min(kPart, bytes - done));
  }
}

}  // namespace checkpoint

void run_checkpoint(Report& report, const Settings& settings) {
  using checkpoint::Object;
  const std::size_t objects = settings.small ? std::size_t{1} << 20 : std::size_t{1} << 26;
  const char* const folder = std::getenv("TMPDIR");
  const std::string path = std::string(folder != nullptr ? folder : ".") + "/dynasoar-benchmark.checkpoint";
  checkpoint::Handle handle({.heap_bytes = heap_bytes_with_room<Object>(objects)});
  handle.parallel_new<Object>(objects);
  handle.synchronize();
  const double bytes = static_cast<double>(objects) * checkpoint::kBytesPerObject;
  const auto add = [&](const std::string& variant, auto&& work) {
    report.add({"checkpoint",
                variant,
                {{"objects", static_cast<std::int64_t>(objects)}},
                "rate",
                "GB/s",
                rates(measure(handle.executor(), settings, work, [] {}), bytes, 1e-9)});
  };
  {
    const auto size = static_cast<std::size_t>(bytes);
    const dynasoar::detail::HostBuffer buffer(size);
    dynasoar::detail::copy_from_device(buffer.data(), handle.state().base, size);
    add("write and fsync by hand", [&] { checkpoint::write_plainly(path, buffer.data(), size); });
    add("read by hand", [&] { checkpoint::read_plainly(path, buffer.data(), size); });
    if (dynasoar::kCudaBackend) {
      add("copy to the host by hand",
          [&] { dynasoar::detail::submit_copy(handle.executor(), buffer.data(), handle.state().base, size); });
    }
    add("checksum by one thread", [&] {
      volatile std::uint64_t sum = dynasoar::detail::checksum(buffer.data(), size);
      static_cast<void>(sum);
    });
  }
  add("save", [&] { handle.save(path); });
  add("load", [&] { handle.load(path); });
  if (dynasoar::detail::kHasZstd) {
    add("save, compression level 1", [&] { handle.save(path, {.compression_level = 1}); });
    add("load, compression level 1", [&] { handle.load(path); });
  }
  std::remove(path.c_str());
}

}  // namespace benchmarks
