// Work for several threads: each takes the next piece, answers it, and takes another one until nothing is left.
import { parentPort, Worker } from "node:worker_threads";
import { type ErrorCode, UnifiedTraceError } from "../base/errors.js";

/** @internal */
export interface ThreadWork<Piece, Answer> {
  readonly script: URL; // a module that calls `answerPieces`
  readonly data?: unknown; // what each thread is told once
  readonly threads: number;
  readonly signal: AbortSignal | undefined;
  /** The next piece; null: nothing is left. May throw, which ends the work. */
  readonly take: () => Piece | null;
  readonly done: (piece: Piece, answer: Answer) => void;
}

/** An error of ours keeps its code on the way between threads. */
type Message<Answer> =
  | { readonly answer: Answer }
  | { readonly failure: { readonly code: ErrorCode; readonly message: string } };

/** Ends when every piece is answered, with the first error, or when the signal says so; the threads are gone then. @internal */
export async function workInThreads<Piece, Answer>(work: ThreadWork<Piece, Answer>): Promise<void> {
  const workers = Array.from(
    { length: work.threads },
    () => new Worker(work.script, { workerData: work.data }),
  );
  try {
    await Promise.all(workers.map((worker) => feed(worker, work)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** What a thread's script does: answers the pieces that come, one after the other. @internal */
export function answerPieces<Piece, Answer>(
  answerOf: (piece: Piece) => Answer | Promise<Answer>,
): void {
  parentPort?.on("message", (piece: Piece) => {
    void messageOf(answerOf, piece).then((message) => parentPort?.postMessage(message));
  });
}

async function messageOf<Piece, Answer>(
  answerOf: (piece: Piece) => Answer | Promise<Answer>,
  piece: Piece,
): Promise<Message<Answer>> {
  try {
    return { answer: await answerOf(piece) };
  } catch (error) {
    if (!(error instanceof UnifiedTraceError)) throw error; // ends the thread, and is heard as its error
    return { failure: { code: error.code, message: error.message } };
  }
}

/** Feeds one worker until nothing is left. */
function feed<Piece, Answer>(
  worker: Worker,
  { take, done, signal }: ThreadWork<Piece, Answer>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let piece: Piece | null = null;
    const give = (): void => {
      piece = take();
      if (piece === null) resolve();
      else worker.postMessage(piece);
    };
    const guard = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    signal?.addEventListener("abort", () => {
      reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    });
    worker.on("message", (message: Message<Answer>) => {
      guard(() => {
        if ("failure" in message)
          throw new UnifiedTraceError(message.failure.code, message.failure.message);
        if (piece !== null) done(piece, message.answer);
        give();
      });
    });
    worker.on("error", reject);
    worker.on("exit", (code) => {
      reject(new Error(`a worker thread ended with code ${String(code)}`));
    });
    guard(give);
  });
}
