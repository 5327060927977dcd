// The example allocators behind the adapter protocol: --candidate 'cmd:node examples/kits/typescript/adapter.mjs'
// Domain `heap` is a first-fit heap. Domain `kv` knows request rows only: the least that one can begin with.
import { Heap } from "./heap.mjs";
import { Rows } from "./rows.mjs";
import { serve } from "./unified-trace-kit.mjs";

await serve([Heap, Rows], { name: "first-fit", version: "1" });
