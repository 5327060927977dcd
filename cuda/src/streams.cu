#include "streams.hpp"

namespace ut::cuda {

Streams::~Streams() {
  for (State &state : streams_) {
    if (state.tip != nullptr) (void)cudaEventDestroy(state.tip);
    if (state.stream != nullptr) (void)cudaStreamDestroy(state.stream);
  }
  (void)cudaGetLastError();
}

Status Streams::make() {
  for (State &state : streams_) {
    UT_TRY(UT_CUDA(cudaStreamCreateWithFlags(&state.stream, cudaStreamNonBlocking)));
    UT_TRY(UT_CUDA(cudaEventCreateWithFlags(&state.tip, cudaEventDisableTiming)));
  }
  return UT_OK;
}

Status Streams::follow(uint32_t target, uint32_t source) {
  State &to = streams_[target];
  State &from = streams_[source];
  if (to.seen[source] == from.queued) return UT_OK;
  if (from.tip_at != from.queued) {
    UT_TRY(UT_CUDA(cudaEventRecord(from.tip, from.stream)));
    from.tip_at = from.queued;
  }
  UT_TRY(UT_CUDA(cudaStreamWaitEvent(to.stream, from.tip, 0)));
  to.seen[source] = from.queued;
  to.queued++;
  return UT_OK;
}

Status Streams::wait(uint32_t target, cudaEvent_t event) {
  UT_TRY(UT_CUDA(cudaStreamWaitEvent(streams_[target].stream, event, 0)));
  streams_[target].queued++;
  return UT_OK;
}

Status Streams::settle(uint32_t index) {
  State &state = streams_[index];
  if (state.settled_at == state.queued) return UT_OK;
  UT_TRY(UT_CUDA(cudaStreamSynchronize(state.stream)));
  state.settled_at = state.queued;
  return UT_OK;
}

Status Streams::settle_all() {
  for (uint32_t index = 0; index < kStreamCount; index++) UT_TRY(settle(index));
  return UT_OK;
}

} // namespace ut::cuda
