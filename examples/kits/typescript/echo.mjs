// Answers the operations that a benchmark sends with an empty result.
import { granted, serve } from "./unified-trace-kit.mjs";

class EchoHeap {
  static domain = "heap";
  "heap.alloc"() {
    return granted();
  }
  "heap.free"() {
    return granted();
  }
}

class EchoKv {
  static domain = "kv";
  boot() {
    return granted();
  }
  "ask.fits"() {
    return granted();
  }
}

await serve([EchoHeap, EchoKv], { name: "echo", version: "1" });
