// Reads the block of a report page, in the browser and in tests.
import { ChangesReader, type DecodedChanges } from "./changes-code.js";
import { PAIR_SIDES, type PackedHead, type SectionName, SECTIONS } from "./format.js";
import { ByteReader } from "./varint.js";

/** Arguments and answers of one frame as JSON. @internal */
export interface FrameDetails {
  readonly args: string;
  readonly base: string | null;
  readonly candidate: string | null;
}

/** The decoded data of a page. Columns are indexed by frame. @internal */
export interface Unpacked {
  readonly head: PackedHead;
  readonly n: Int32Array; // operation
  readonly op: Uint16Array; // index of `head.ops`
  readonly outcome: { readonly base: Uint16Array; readonly candidate: Uint16Array };
  readonly changes: {
    readonly base: readonly DecodedChanges[];
    readonly candidate: readonly DecodedChanges[]; // empty with one side; equal ones are the base's objects
  };
  readonly pairs: Pairs | null; // null: both sides have every operation, or there is one side
  readonly details: (frame: number) => FrameDetails | null;
}

/** Where the frames stand in two runs of which one has operations that the other lacks. @internal */
export interface Pairs {
  readonly m: Int32Array; // the candidate's operation
  readonly only: readonly ("base" | "candidate" | null)[];
}

/** @param block - inflated */
export function unpack(block: Uint8Array): Unpacked {
  const headBytes = new DataView(block.buffer, block.byteOffset).getUint32(0, true);
  const text = new TextDecoder();
  // The head was written by `pack`, in the same version of this project.
  const head = JSON.parse(text.decode(block.subarray(4, 4 + headBytes))) as PackedHead;
  const sections = sectionsOf(block, 4 + headBytes, head);
  const { frames } = head;
  const n = new Int32Array(frames);
  const op = new Uint16Array(frames);
  const outcome = { base: new Uint16Array(frames), candidate: new Uint16Array(frames) };
  const reader = new ByteReader(sections.frames);
  let last = 0;
  for (let frame = 0; frame < frames; frame++) {
    last += reader.unsigned();
    n[frame] = last;
    op[frame] = reader.unsigned();
    outcome.base[frame] = reader.unsigned();
    outcome.candidate[frame] = reader.unsigned();
  }
  return {
    head,
    n,
    op,
    outcome,
    changes: changesOf(head, sections),
    pairs: head.isPaired ? pairsOf(head, sections) : null,
    details: detailsOf(head, sections),
  };
}

function pairsOf({ frames }: PackedHead, { pairs }: Sections): Pairs {
  const m = new Int32Array(frames);
  const only: ("base" | "candidate" | null)[] = [];
  const reader = new ByteReader(pairs);
  let last = 0;
  for (let frame = 0; frame < frames; frame++) {
    last += reader.unsigned();
    m[frame] = last;
    only.push(PAIR_SIDES[reader.unsigned()] ?? null);
  }
  return { m, only };
}

type Sections = Readonly<Record<SectionName, Uint8Array>>;

function sectionsOf(block: Uint8Array, from: number, head: PackedHead): Sections {
  let at = from;
  const found = SECTIONS.map((name) => {
    const bytes = block.subarray(at, at + head.sections[name]);
    at += bytes.length;
    return [name, bytes] as const;
  });
  return Object.fromEntries(found) as Record<SectionName, Uint8Array>; // every name of SECTIONS
}

function changesOf(head: PackedHead, sections: Sections): Unpacked["changes"] {
  const base: DecodedChanges[] = [];
  const candidate: DecodedChanges[] = [];
  const here = new ChangesReader(sections.base);
  const there = new ChangesReader(sections.candidate);
  const none: DecodedChanges = { geometry: null, runs: [] };
  for (let frame = 0; frame < head.frames; frame++) {
    const own = here.next() ?? none;
    base.push(own);
    if (head.candidate !== null) candidate.push(there.next() ?? own);
  }
  return { base, candidate };
}

function detailsOf(head: PackedHead, sections: Sections): Unpacked["details"] {
  const { detailsFrom, detailsTo } = head;
  const count = detailsTo - detailsFrom;
  const starts = new Float64Array(3 * count + 1);
  const isSame = new Uint8Array(count); // the candidate's answer is the base's
  const reader = new ByteReader(sections.lengths);
  let at = 0;
  for (let index = 0; index < count; index++) {
    for (let part = 0; part < 3; part++) {
      starts[3 * index + part] = at;
      const length = reader.unsigned();
      if (part < 2) at += length;
      else if (length === 0) isSame[index] = 1;
      else at += length - 1;
    }
  }
  starts[3 * count] = at;
  const text = new TextDecoder();
  const part = (index: number): string =>
    text.decode(sections.texts.subarray(starts[index], starts[index + 1]));
  return (frame) => {
    if (frame < detailsFrom || frame >= detailsTo) return null;
    const index = frame - detailsFrom;
    const base = part(3 * index + 1);
    const own = isSame[index] === 1 ? base : part(3 * index + 2);
    const candidate = head.candidate === null || own === "" ? null : own;
    return { args: part(3 * index), base: base === "" ? null : base, candidate };
  };
}
