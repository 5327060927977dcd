// Lists of 32-bit words on their way to a kernel: inside the launch's own parameters while they are short, else in
// pinned host memory that the kernel reads itself. Either way no copy is queued.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace ut::cuda {

constexpr uint32_t kShortWords = 240; // about 1 KiB of parameters
constexpr uint32_t kLongWords = 1000; // about 4 KiB

// A kernel parameter; declare it __grid_constant__ so that its address can be taken without a copy.
template <uint32_t Capacity> struct Words {
  const int32_t *outside; // null: the words are inside
  int32_t inside[Capacity];

  __device__ __forceinline__ const int32_t *begin() const { return outside != nullptr ? outside : inside; }
};

// A list on the host's side of a launch. `outside`: where kernels find it, or null while it goes over by value.
struct List {
  const int32_t *words; // host memory; not looked at with `outside`
  uint32_t count;       // at most kLongWords by value
  const int32_t *outside;
};

// Calls launch(words) with the smallest parameter that holds the list.
template <typename Launch> auto with_words(const List &list, Launch &&launch) {
  const auto by_value = [&](auto &words) {
    words.outside = nullptr;
    std::memcpy(words.inside, list.words, list.count * sizeof(int32_t));
    return launch(words);
  };
  if (list.outside != nullptr) {
    Words<2> words;
    words.outside = list.outside;
    return launch(words);
  }
  if (list.count <= kShortWords) {
    Words<kShortWords> words;
    return by_value(words);
  }
  Words<kLongWords> words;
  return by_value(words);
}

// Calls launch(words) with every size of parameter, so that every variant of a kernel is loaded; the list is empty.
template <typename Launch> cudaError_t with_each_words(Launch &&launch) {
  static const int32_t none[kLongWords] = {};
  for (const List &list : {List{none, 0, none}, List{none, kShortWords, nullptr}, List{none, kLongWords, nullptr}}) {
    if (const cudaError_t error = with_words(list, launch); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

} // namespace ut::cuda
