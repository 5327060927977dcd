// The implementation under test: how to start it afresh, and what a run on it is made of.
import type { AdapterInfo, RunOpening } from "../../adapter/adapter.js";
import type { MakeTransport } from "../../adapter/open-transport.js";
import { CandidateError } from "../../base/errors.js";
import type {
  Answer,
  DigestDepth,
  DirectConfig,
  Domain,
  Operation,
  RunConfig,
} from "../../base/operations.js";
import { runWords } from "../../trace/run-words.js";
import type { RunWords } from "../../trace/run-words.js";
import { profileNamed } from "../../workload/seeded-profiles.js";
import { seededWorkload } from "../../workload/seeded.js";
import type { Workload } from "../../workload/workload.js";
import { Conversation, type Waits, WINDOW } from "./conversation.js";
import { Dialog } from "./dialog.js";

/** Starts conversations and counts what was sent in them. @internal */
export class Subject {
  readonly #make: MakeTransport;
  readonly #waits: Waits;
  readonly #toolVersion: string;
  runs = 0; // opened so far
  operations = 0; // asked so far
  #kept: { readonly dialog: Dialog; readonly conversation: Conversation } | null = null;

  constructor(make: MakeTransport, waits: Waits, toolVersion: string) {
    this.#make = make;
    this.#waits = waits;
    this.#toolVersion = toolVersion;
  }

  /** A fresh start, greeted, for as long as `use` takes. */
  async with<T>(use: (conversation: Conversation, info: AdapterInfo) => Promise<T>): Promise<T> {
    const dialog = new Dialog(this.#make());
    try {
      const conversation = new Conversation(dialog, this.#waits);
      return await use(conversation, await conversation.greet(this.#toolVersion));
    } finally {
      await dialog.kill();
    }
  }

  /** The start that is kept for runs which may follow others; one that fails is given up. */
  async withKept<T>(use: (conversation: Conversation) => Promise<T>): Promise<T> {
    if (this.#kept === null) {
      const dialog = new Dialog(this.#make());
      const conversation = new Conversation(dialog, this.#waits);
      this.#kept = { dialog, conversation };
      await this.#orGiveUp(conversation.greet(this.#toolVersion));
    }
    return this.#orGiveUp(use(this.#kept.conversation));
  }

  /** Ends what is kept. */
  async dispose(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    await kept?.dialog.kill();
  }

  async #orGiveUp<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      await this.dispose();
      throw error;
    }
  }
}

/** One run: what was asked, what was answered, and the digest at its end. @internal */
export interface Performed {
  readonly answers: readonly Answer[];
  readonly digest: string | null;
}

/** Runs of one domain on the subject. @internal */
export class Stage {
  readonly subject: Subject;
  readonly info: AdapterInfo;
  readonly domain: Domain;
  readonly config: DirectConfig;
  readonly ops: ReadonlySet<string>;
  readonly words: RunWords | null;
  /** Makes the operations of the base run from the answers; null: they are made without a look at answers. */
  readonly workload: Workload | null;
  /** What the first check of answers asked, and what was answered; later checks ask it again. */
  operations: readonly Operation[] = [];
  answers: readonly Answer[] = [];

  constructor(
    subject: Subject,
    info: AdapterInfo,
    domain: Domain,
    config: DirectConfig,
    workload: Workload | null = null,
  ) {
    this.subject = subject;
    this.workload = workload;
    this.info = info;
    this.domain = domain;
    this.config = config;
    this.ops = new Set(info.ops);
    this.words = runWords(domain, config);
  }

  opening(run: string, digestDepth: DigestDepth | null = null): RunOpening {
    return { run, domain: this.domain, config: this.config, digestDepth };
  }

  /** Opens a run on a conversation; its configuration was taken before. Throws `CandidateError`. */
  async open(conversation: Conversation, opening: RunOpening): Promise<void> {
    const refusal = await conversation.open(opening);
    if (refusal !== null) throw refused(opening.config, refusal);
    this.subject.runs += 1;
  }

  /** A whole run on the start that is kept. */
  perform(
    operations: readonly Operation[],
    digestDepth: DigestDepth | null = null,
    window: number = WINDOW,
  ): Promise<Performed> {
    return this.subject.withKept((conversation) =>
      this.#run(conversation, operations, digestDepth, window),
    );
  }

  /** A whole run on a fresh start, which nothing before it can have changed. */
  performAfresh(
    operations: readonly Operation[],
    digestDepth: DigestDepth | null = null,
  ): Promise<Performed> {
    return this.subject.with((conversation) =>
      this.#run(conversation, operations, digestDepth, WINDOW),
    );
  }

  async #run(
    conversation: Conversation,
    operations: readonly Operation[],
    digestDepth: DigestDepth | null,
    window: number,
  ): Promise<Performed> {
    await this.open(conversation, this.opening("conformance", digestDepth));
    const answers = await this.ask(conversation, operations, window);
    return { answers, digest: await conversation.close("conformance") };
  }

  /** Asks, and counts. */
  async ask(
    conversation: Conversation,
    operations: readonly Operation[],
    window: number = WINDOW,
  ): Promise<Answer[]> {
    const answers = await conversation.ask(operations, window);
    this.subject.operations += operations.length;
    return answers;
  }
}

const FULL = { name: "full", kind: "mha", unit_bytes: 64 } as const;
const WINDOWED = { name: "window_8", kind: "mha", window: 8, unit_bytes: 24 } as const;
const STATE = { name: "mamba", kind: "state", unit_bytes: 160 } as const;
const KV = { page_size: 4, arena_bytes: 65536, rows: 8, row_tokens: 128 };

/** Configurations that are tried in turn where none is given. */
const CONFIGS: Readonly<Record<Domain, readonly RunConfig[]>> = {
  kv: [
    { ...KV, sub_pools: [STATE, WINDOWED, FULL] },
    { ...KV, sub_pools: [WINDOWED, FULL] },
    { ...KV, sub_pools: [FULL] },
  ],
  // any object is a configuration of domain heap
  heap: [{ arena_bytes: 1048576 } as unknown as RunConfig],
};

/** Operations of a seeded run; more than a run asks of most implementations. */
export const BASE_OPERATIONS = 400;

// What a seeded run asks beside the kinds that its profile weighs.
const BESIDE = ["boot", "forward.record", "host.load_bind", "ask.plan", "ask.fits"];

/** The widest seeded workload whose every kind is answered. */
function workloadFor(ops: ReadonlySet<string>): Workload | null {
  for (const weights of ["transfers", "default"]) {
    const kinds = Object.keys(profileNamed(weights)?.weights ?? {});
    if (![...kinds, ...BESIDE].every((kind) => ops.has(kind))) continue;
    const layout = "full+window+state";
    return seededWorkload({ seed: 1, ops: BASE_OPERATIONS, layout, pageSize: 4, weights });
  }
  return null;
}

/** The first configuration that is taken. Throws `CandidateError` where none is. @internal */
export async function stageFor(
  subject: Subject,
  info: AdapterInfo,
  domain: Domain,
  given: RunConfig | null,
): Promise<Stage> {
  let last: CandidateError | null = null;
  const isSeeded = given === null && domain === "kv";
  const workload = isSeeded ? workloadFor(new Set(info.ops)) : null;
  const others = given === null ? CONFIGS[domain] : [given];
  for (const config of workload === null ? others : [workload.config, ...others]) {
    const own = config === workload?.config ? workload : null;
    // only the direct form is used, or what `heap` has in its place
    const stage = new Stage(subject, info, domain, config as DirectConfig, own);
    const refusal = await subject.with((conversation) =>
      conversation.open(stage.opening("conformance")),
    );
    if (refusal === null) return stage;
    last = refused(config, refusal);
  }
  throw last ?? new CandidateError("candidate_handshake", `no configuration for ${domain}`);
}

function refused(config: RunConfig, message: string): CandidateError {
  const shown = JSON.stringify(config);
  const hint = "--config FILE names one that it takes";
  return new CandidateError(
    "candidate_handshake",
    `it refuses the configuration ${shown}: ${message}; ${hint}`,
  );
}
