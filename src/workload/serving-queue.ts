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
  readonly #grid: number; // tokens: every chunk but a prompt's last ends on it
  readonly #arrivals: Job[]; // those to come, latest first
  readonly #waiting: Job[] = []; // front last
  readonly #running: Job[] = []; // oldest first
  // Jobs that hold memory and a place in the batch but do not run: their pages are under way to or from a peer.
  readonly #apart = new Set<Job>();
  /** Its prompt goes on in the next chunk; always the newest of those running. */
  continuing: Job | null = null;
  /** A take was refused: nobody is admitted until somebody ends. */
  isFull = false;

  /**
   * @param arrivals - jobs in the order of their arrival
   * @param grid - tokens from the prompt's start, 1 to `chunk`: every chunk but a prompt's last ends on a multiple
   */
  constructor(arrivals: readonly Job[], batch: number, chunk: number, grid = 1) {
    this.#arrivals = [...arrivals].reverse();
    this.#batch = batch;
    this.#chunk = chunk;
    this.#grid = grid;
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
  /** Whether there is a place for the front of the queue. */
  get mayAdmit(): boolean {
    return !this.isFull && this.#waiting.length > 0 && this.#places > 0;
  }
  get #places(): number {
    return this.#batch - this.#running.length - this.#apart.size;
  }
  /** The newest of those running, who gives way first. */
  get newest(): Job | undefined {
    return this.#running.at(-1);
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
      const tokens = this.chunkOf(job, budget);
      if (tokens > 0) entries.push({ job, tokens });
      budget = tokens > 0 ? budget - tokens : 0;
    };
    if (this.continuing !== null) add(this.continuing);
    const places = this.#places;
    if (this.isFull || places <= 0) return entries;
    for (const job of this.#waiting.slice(-places).reverse()) {
      if (budget === 0 || job.copy !== null) break; // one with a backup is restored, not computed again
      add(job);
    }
    return entries;
  }

  /** Tokens of a job's next chunk, `budget` at most; 0 where the grid leaves none. */
  chunkOf(job: Job, budget: number): number {
    const rest = job.prompt - job.allocated;
    if (rest <= budget) return rest;
    const end = Math.floor((job.allocated + budget) / this.#grid) * this.#grid;
    return Math.max(0, end - job.allocated);
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
  /** Puts a job at the queue's back. */
  pushBack(job: Job): void {
    this.#waiting.unshift(job);
  }
  /** Takes a job out of the queue; false where it does not wait. */
  remove(job: Job): boolean {
    const place = this.#waiting.indexOf(job);
    if (place >= 0) this.#waiting.splice(place, 1);
    return place >= 0;
  }
  /** Whether jobs hold memory without running. */
  get hasApart(): boolean {
    return this.#apart.size > 0;
  }
  isApart(job: Job): boolean {
    return this.#apart.has(job);
  }
  /** A running job stops running but keeps its memory and its place. */
  setApart(job: Job): void {
    this.#running.splice(this.#running.indexOf(job), 1);
    this.#apart.add(job);
  }
  /** The front of the queue gets a place and memory, but does not run yet. */
  holdFront(): void {
    const job = this.#waiting.pop();
    if (job !== undefined) this.#apart.add(job);
  }
  /** A job that was apart runs from now on. */
  resume(job: Job): void {
    this.#apart.delete(job);
    this.#running.push(job);
  }
  /** A job that was apart has ended: there is room again. */
  endApart(job: Job): void {
    this.#apart.delete(job);
    this.isFull = false;
  }
  /** A running job has ended: there is room again. */
  end(job: Job): void {
    this.#running.splice(this.#running.indexOf(job), 1);
    this.isFull = false;
  }
}
