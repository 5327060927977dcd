// Packs what a page shows: numbers as bytes, equal changes once, all of it deflated.
import { deflateRawSync } from "node:zlib";
import {
  RUN_NUMBERS,
  type SideChanges,
  type ViewData,
  type ViewFrame,
} from "../../tools/view/view-data.js";
import { ChangesWriter } from "./shared/changes-code.js";
import {
  PAIR_SIDES,
  type PackedHead,
  type PackedMark,
  type SectionName,
  SECTIONS,
} from "./shared/format.js";
import { ByteWriter } from "./shared/varint.js";

/** What base64 text of the data a page may hold at most, where leaving out details can do it. */
const BASE64_MAX = 4_500_000;

/** @internal */
export interface Packed {
  readonly base64: string;
  readonly bytes: number; // inflated
  readonly details: readonly [from: number, to: number]; // frames whose arguments and answers are in it
}

/**
 * Packs the data. Arguments and answers far from what matters are left out where the whole would be too large.
 * @param base64Max - characters, default 4.5 million
 * @internal
 */
export function pack(
  data: ViewData,
  marks: readonly PackedMark[],
  base64Max: number = BASE64_MAX,
): Packed {
  const center = centerOf(data, marks);
  let from = 0;
  let to = data.frames.length;
  for (;;) {
    const block = blockOf(data, marks, [from, to]);
    const base64 = deflateRawSync(block, { level: 9 }).toString("base64");
    if (base64.length <= base64Max || to - from <= 1)
      return { base64, bytes: block.length, details: [from, to] };
    const half = Math.floor((to - from) / 4);
    from = Math.max(from, Math.min(center - half, to - 2 * half));
    to = Math.min(to, Math.max(from + 2 * half, 1));
  }
}

/** The frame around which details are kept. */
function centerOf({ frames }: ViewData, marks: readonly PackedMark[]): number {
  const n = marks[0]?.n ?? 0;
  const found = frames.findIndex((frame) => frame.n >= n);
  return Math.max(0, found);
}

function blockOf(
  data: ViewData,
  marks: readonly PackedMark[],
  details: readonly [number, number],
): Buffer {
  const ops = new Words([]);
  const outcomes = new Words(["no answer", "granted"]);
  const sections: Record<SectionName, Uint8Array> = {
    frames: frameBytes(data, ops, outcomes),
    ...detailBytes(data.frames.slice(...details)),
    ...changeBytes(data.frames, data.candidate !== null),
    pairs: pairBytes(data.frames),
  };
  const lengths = Object.fromEntries(SECTIONS.map((name) => [name, sections[name].length]));
  const {
    frames,
    placements: _placements,
    placementsLeft: _left,
    alone: _alone,
    labels,
    ...rest
  } = data;
  const head: PackedHead = {
    ...rest,
    labels: labels.map(({ text, owner }) => [text, owner]),
    ops: ops.list,
    outcomes: outcomes.list,
    frames: frames.length,
    focus: marks.map(({ n }) => n),
    detailsFrom: details[0],
    detailsTo: details[1],
    isPaired: data.frames.some(({ pair }) => pair !== undefined),
    marks,
    sections: lengths as Record<SectionName, number>, // of every name
  };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, ...SECTIONS.map((name) => sections[name])]);
}

/** Words by number. */
class Words {
  readonly list: string[];
  readonly #numbers: Map<string, number>;

  constructor(first: readonly string[]) {
    this.list = [...first];
    this.#numbers = new Map(first.map((word, index) => [word, index]));
  }

  of(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    this.list.push(word);
    this.#numbers.set(word, this.list.length - 1);
    return this.list.length - 1;
  }
}

function frameBytes({ frames }: ViewData, ops: Words, outcomes: Words): Uint8Array {
  const writer = new ByteWriter();
  let last = 0;
  for (const { n, op, base, candidate } of frames) {
    writer.unsigned(n - last);
    last = n;
    writer.unsigned(ops.of(op));
    writer.unsigned(outcomes.of(outcomeOf(base.answer)));
    writer.unsigned(candidate === null ? 0 : outcomes.of(outcomeOf(candidate.answer)));
  }
  return writer.bytes();
}

function outcomeOf(answer: string | null): string {
  if (answer === null) return "no answer";
  if (!answer.startsWith('{"err":')) return "granted"; // as the collection writes it
  const { err } = JSON.parse(answer) as { readonly err: { readonly code: string } };
  return err.code;
}

function detailBytes(frames: readonly ViewFrame[]): { lengths: Uint8Array; texts: Uint8Array } {
  const lengths = new ByteWriter();
  const texts: Buffer[] = [];
  const put = (text: string, more: number): void => {
    const bytes = Buffer.from(text);
    lengths.unsigned(bytes.length + more);
    texts.push(bytes);
  };
  for (const { args, base, candidate } of frames) {
    put(args, 0);
    put(base.answer ?? "", 0);
    const answer = candidate?.answer ?? null;
    if (candidate === null || answer === base.answer) lengths.unsigned(0);
    else put(answer ?? "", 1);
  }
  return { lengths: lengths.bytes(), texts: Buffer.concat(texts) };
}

function changeBytes(
  frames: readonly ViewFrame[],
  hasCandidate: boolean,
): { base: Uint8Array; candidate: Uint8Array } {
  const base = new ChangesWriter();
  const candidate = new ChangesWriter();
  for (const frame of frames) {
    base.changes(frame.base.changes);
    if (!hasCandidate) continue;
    const changes = frame.candidate?.changes ?? null;
    if (areSame(frame.base.changes, changes)) candidate.same();
    else candidate.changes(changes);
  }
  return { base: base.bytes(), candidate: candidate.bytes() };
}

function pairBytes(frames: readonly ViewFrame[]): Uint8Array {
  const writer = new ByteWriter();
  let last = 0;
  for (const { pair } of frames) {
    if (pair === undefined) continue; // frames have one each or none at all
    writer.unsigned(pair.m - last);
    last = pair.m;
    writer.unsigned(PAIR_SIDES.indexOf(pair.only));
  }
  return writer.bytes();
}

function areSame(left: SideChanges | null, right: SideChanges | null): boolean {
  if (left === right) return true;
  if (left === null || right === null) return false;
  if (left.geometry !== right.geometry || left.runs.length !== right.runs.length) return false;
  for (let at = 0; at < left.runs.length; at += RUN_NUMBERS)
    for (let part = at; part < at + RUN_NUMBERS; part++)
      if (left.runs[part] !== right.runs[part]) return false;
  return true;
}
