// Words that several streams may touch at the same time. A caller that forgets a wait must see old or mixed bytes, never a
// broken process, so every access is a relaxed atomic: a race of the caller's is a defect of its data, not of this programme.
#pragma once
#include <atomic>
#include <cstdint>

namespace ut::host {

#if defined(__cpp_lib_atomic_ref)

template <class Word> Word load(const Word &place) noexcept {
  // atomic_ref asks for a place that is not const, though it only reads here
  return std::atomic_ref<Word>(const_cast<Word &>(place)).load(std::memory_order_relaxed);
}

template <class Word> void store(Word &place, Word value) noexcept {
  std::atomic_ref<Word>(place).store(value, std::memory_order_relaxed);
}

#else // a library that has no atomic_ref yet comes with a compiler that has these

template <class Word> Word load(const Word &place) noexcept { return __atomic_load_n(&place, __ATOMIC_RELAXED); }

template <class Word> void store(Word &place, Word value) noexcept { __atomic_store_n(&place, value, __ATOMIC_RELAXED); }

#endif

// `words` 32-bit words, two at a time where both ends lie on 8 bytes. The ranges are the same or do not meet.
void copy_words(std::uint32_t *to, const std::uint32_t *from, std::uint64_t words) noexcept;
void zero_words(std::uint32_t *to, std::uint64_t words) noexcept;

} // namespace ut::host
