// Who is still to come, who waits and who runs. It decides the order of service; it takes no memory.
import type { Job } from "./serving-jobs.js";

/** A job's part of a prefill batch. @internal */
export interface PrefillEntry {
  readonly job: Job;
  readonly tokens: number;
}

/** @internal */
export class ServingQueue {
  readonly #batch: number; // requests that run at once at most
  readonly #chunk: number; // prefill tokens a step at most
  readonly #arrivals: Job[]; // those to come, latest first
  readonly #waiting: Job[] = []; // front last
  readonly #running: Job[] = []; // oldest first
  /** Its prompt goes on in the next chunk; always the newest of those running. */
  continuing: Job | null = null;
  /** A take was refused: nobody is admitted until somebody ends. */
  isFull = false;

  /** @param arrivals - jobs in the order of their arrival */
  constructor(arrivals: readonly Job[], batch: number, chunk: number) {
    this.#arrivals = [...arrivals].reverse();
    this.#batch = batch;
    this.#chunk = chunk;
  }

  /** Those that run, oldest first. */
  get running(): readonly Job[] {
    return this.#running;
  }
  /** Whether anybody runs. */
  get isRunning(): boolean {
    return this.#running.length > 0;
  }
  /** The front of the queue. */
  get front(): Job | undefined {
    return this.#waiting.at(-1);
  }
  /** The step of the next arrival, null where nobody is to come. */
  get nextArrival(): number | null {
    return this.#arrivals.at(-1)?.arrivalStep ?? null;
  }
  get mayAdmit(): boolean {
    return !this.isFull && this.#waiting.length > 0 && this.#running.length < this.#batch;
  }

  /** Puts those that have arrived by `step` at the queue's back. */
  arrive(step: number): void {
    for (let next = this.nextArrival; next !== null && next <= step; next = this.nextArrival) {
      const job = this.#arrivals.pop();
      if (job !== undefined) this.#waiting.unshift(job);
    }
  }

  /** The chunk that goes on, then those at the front of the queue, up to the chunk's tokens. */
  choosePrefill(): PrefillEntry[] {
    const entries: PrefillEntry[] = [];
    let budget = this.#chunk;
    const add = (job: Job): void => {
      const tokens = Math.min(budget, job.prompt - job.allocated);
      entries.push({ job, tokens });
      budget -= tokens;
    };
    if (this.continuing !== null) add(this.continuing);
    const places = this.#batch - this.#running.length;
    if (this.isFull || places <= 0) return entries;
    for (const job of this.#waiting.slice(-places).reverse()) if (budget > 0) add(job);
    return entries;
  }

  /** The front of the queue runs from now on. */
  admitFront(): void {
    const job = this.#waiting.pop();
    if (job !== undefined) this.#running.push(job);
  }
  /** Takes the front out of the queue. */
  dropFront(): void {
    this.#waiting.pop();
  }
  /** Takes the newest of those running out. */
  popNewest(): Job | undefined {
    const job = this.#running.pop();
    if (job === this.continuing) this.continuing = null;
    return job;
  }
  /** Puts a job at the queue's front. */
  pushFront(job: Job): void {
    this.#waiting.push(job);
  }
  /** A running job has ended: there is room again. */
  end(job: Job): void {
    this.#running.splice(this.#running.indexOf(job), 1);
    this.isFull = false;
  }
}
