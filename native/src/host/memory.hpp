// Memory of the machine, and zeroed blocks of it.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace ut::host {

struct MachineMemory {
  std::uint64_t total_bytes; // of the machine, or of the container that this runs in
  std::uint64_t free_bytes; // what programmes can still get without swapping, where the system tells; else total_bytes
};

MachineMemory machine_memory() noexcept;

// Words that start as zeros. Large ones take memory only as they are written. Empty: no memory, or none wanted.
template <class Word> class Block {
public:
  Block() = default;
  explicit Block(std::uint64_t count)
      : words_(count == 0 || count > SIZE_MAX / sizeof(Word)
                   ? nullptr
                   : static_cast<Word *>(std::calloc(static_cast<std::size_t>(count), sizeof(Word)))) {}
  Word *get() const noexcept { return words_.get(); }
  Word &operator[](std::uint64_t i) const noexcept { return words_.get()[i]; }

private:
  struct Free {
    void operator()(Word *words) const noexcept { std::free(words); }
  };
  std::unique_ptr<Word, Free> words_;
};

} // namespace ut::host
