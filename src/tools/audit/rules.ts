// The rules of the audit: a name, what it says, where it comes from. `docs/audit.md` shows this table; a test keeps the
// two equal.

/** All rules by name. @public */
export const AUDIT_RULES = {
  "boot.geometry": {
    says: "bands, grids and sink follow from the configuration",
    from: "trace format 2",
  },
  "bytes.disjoint": {
    says: "no byte belongs to two live pages",
    from: "allocator 1.27, byte conservation",
  },
  "page.range": {
    says: "a page lies between its band's first page and its last",
    from: "trace format 2",
  },
  "page.live": {
    says: "what is handed out, zeroed or moved to is free",
    from: "design, Allocation",
  },
  "page.order": {
    says: "holes are handed out before a band grows, new pages ascending",
    from: "allocator 1.6, 1.15",
  },
  "id.bound": { says: "an id is handed out while nothing is bound to it", from: "design, Ids" },
  "id.order": { says: "virtual ids and slots are handed out oldest first", from: "trace format 2" },
  "row.order": {
    says: "rows are handed out oldest first, each to one request",
    from: "trace format 4, row.alloc",
  },
  "row.holding": {
    says: "a row is freed when its request holds nothing else",
    from: "trace format 4, row.free",
  },
  "take.pages": {
    says: "a take gives exactly the pages that its positions need",
    from: "trace format 4",
  },
  "take.step": {
    says: "the step answered allows the moves made; only recovery waits a transfer",
    from: "design, Allocation",
  },
  "free.unbound": {
    says: "every free names what is bound",
    from: "design, band.free_of_bound_page",
  },
  "free.foreign": {
    says: "a free names nothing of somebody else",
    from: "design, Freeing is logical at once",
  },
  "free.missing": {
    says: "a free names all that is given back",
    from: "allocator 1.6, conservation",
  },
  "free.order": { says: "a free lists pages by token position", from: "trace format 4, a free" },
  "free.deferred": {
    says: "pages that a transfer touches are deferred, and no others",
    from: "trace format 4, a free",
  },
  "process.released": {
    says: "a processed forward releases what pends under it",
    from: "allocator 1.14",
  },
  "load.pages": {
    says: "binding and submitting name the pages that the load reserved",
    from: "trace format 4, load_bind",
  },
  "move.source": { says: "a move copies live pages", from: "design, Compaction" },
  "move.target": { says: "a move goes to free pages, each once", from: "design, Compaction" },
  "move.overlap": {
    says: "no destination is a source of the same effect",
    from: "trace format 3, effects",
  },
  "move.fixed": { says: "what a load reserved never moves", from: "trace details 5" },
  "move.held": {
    says: "a flush leaves a band with rows awaiting publication alone",
    from: "design, Compaction",
  },
  "move.direction": {
    says: "a flush packs ends towards their base and moves no float",
    from: "design, Compaction",
  },
  "move.cap": { says: "a flush moves at most move_cap pages a band", from: "allocator 1.12" },
  "move.answer": { says: "moves and counts answered are the moves made", from: "trace format 3" },
  "zero.missing": {
    says: "token pages are zeroed when they are handed out",
    from: "design, Zeroing",
  },
  "zero.extra": { says: "nothing else is zeroed", from: "trace details 19; allocator 1.16" },
  "wait.forward": {
    says: "who writes waits the forwards that may use the bytes",
    from: "CLEARANCE, FORWARD",
  },
  "wait.pending": {
    says: "pending pages are used again behind their forward",
    from: "design, Physical pages stay pending",
  },
  "wait.copy": {
    says: "who writes waits the host copies that use the bytes",
    from: "CLEARANCE, COPY_READ, COPY_WRITE",
  },
  "wait.network": {
    says: "who writes waits, on the host, the transfers that use the bytes",
    from: "CLEARANCE, NETWORK",
  },
  "wait.signal": {
    says: "a wait names a recorded forward, an open copy, an open transfer",
    from: "trace format 3, effects",
  },
  "wait.flush": {
    says: "a flush waits no running forward, no transfer, and reads nothing",
    from: "design, Compaction",
  },
  "order.host_read": {
    says: "host reads come before the first wait",
    from: "design, band.host_read_before_wait",
  },
  "order.effects": {
    says: "effects stand in the order of a take",
    from: "trace format 4, its effects",
  },
  "effect.missing": {
    says: "launch, record, barrier, copy and transfer have their effect",
    from: "trace format 3",
  },
  "effect.stray": { says: "an operation has only effects of its own", from: "trace format 3" },
  "effect.reset": {
    says: "marked rows are reset once, by the next forward",
    from: "design, Work after the shared-read end",
  },
  "effect.pages": {
    says: "copies and transfers name the pages where they lie now",
    from: "trace format 4",
  },
  "refusal.effects": { says: "a refusal has no effects", from: "trace format 3" },
  "refusal.digest": { says: "a refusal changes no digest", from: "trace format 3" },
  "refusal.reason": {
    says: "what a refusal counts and names is so",
    from: "trace format 3, errors",
  },
  "question.effects": { says: "a question has no effects", from: "trace format 3" },
  "question.digest": { says: "a question changes no digest", from: "trace format 3" },
  "question.answer": {
    says: "ids translate to where their pages lie",
    from: "trace format 3, ask.translate",
  },
  "capacity.truth": {
    says: "what fits is granted, what does not fit is refused",
    from: "allocator 1.10, truth",
  },
  "admit.verdict": {
    says: "a pass admits what room is left for, waits while memory comes back, gives up else",
    from: "allocator 1.13, 1.20",
  },
  "contract.name": { says: "what is granted names what is open", from: "trace format 3, rules" },
  "contract.length": {
    says: "rows grow at their end, within row_tokens",
    from: "trace format 3, rules",
  },
  "contract.launch": {
    says: "nothing is taken or freed between launch and record",
    from: "design, ForwardSteps",
  },
  "contract.order": {
    says: "forwards are processed in launch order",
    from: "design, ForwardSteps",
  },
  epoch: {
    says: "epochs count move effects, reread tells whether one came",
    from: "trace format 4, net.receive",
  },
  "retire.cursor": {
    says: "windows retire what fell out of them, above the floor",
    from: "allocator 1.22",
  },
  "tree.counts": {
    says: "an insertion counts its new, duplicate and rehomed pages",
    from: "trace format 4, tree.insert",
  },
  "tree.match": { says: "a match ends where every slot is cached", from: "allocator 1.21" },
  "tree.evict": {
    says: "an eviction takes unlocked pages of the tree, leaves first",
    from: "allocator 1.21",
  },
  "tree.state": {
    says: "a checkpoint goes to a node without a state",
    from: "trace format 4, state.donate",
  },
  "host.pages": {
    says: "host pages are as many as are copied, in range, not in use",
    from: "trace format 4, host.backup",
  },
  "transfer.end": {
    says: "transfers end as their writers do, and what they held back returns",
    from: "trace format 4, net.end",
  },
  "state.line": { says: "a full state binds what the operations bound", from: "trace format 5" },
  "idle.violation": { says: "check.idle finds nothing wrong", from: "trace format 4, check.idle" },
  leak: { says: "every live page has a holder", from: "allocator 1.27, leaks by identity" },
  "end.digest": { says: "the end folds the digests of the components", from: "trace format 5" },
} as const;

/** A rule's name. @public */
export type AuditRule = keyof typeof AUDIT_RULES;
