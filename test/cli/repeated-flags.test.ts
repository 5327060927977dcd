// A flag given twice is wrong usage: the last value would win in silence.
import type { Command, Option } from "commander";
import { expect, test } from "vitest";
import { UsageError } from "../../src/base/errors.js";
import { buildProgram, COMMAND_NAMES } from "../../src/cli/program.js";
import { Session } from "../../src/cli/session.js";
import { start } from "./command-line.js";

const WORDS = [
  "1/2",
  "1",
  "0:1",
  "1m",
  "every=2",
  "light",
  "default",
  "exact",
  "16",
  "full+window",
  "touched",
  "move_cap=1:2",
  "move_cap=1:4:1",
  "buddy",
  "op=boot",
  "config:rows=2",
  "x",
];

/** A value that the flag takes: one of the usual ones, or one that its refusal names. */
function goodValue(option: Option): string {
  const words = [...WORDS];
  for (const word of words) {
    try {
      option.parseArg?.(word, undefined as never);
      return word;
    } catch (error) {
      const named = /one of ([\w, -]+)/.exec(String(error))?.[1] ?? "";
      for (const other of named.split(", ")) if (!words.includes(other)) words.push(other);
    }
  }
  return expect.fail(`no value for ${option.flags}: add one to WORDS`);
}

/** Parses words; what was thrown. The commands do nothing. */
async function thrownBy(words: readonly string[]): Promise<unknown> {
  const session = await Session.start([]);
  const program = await buildProgram(words, session, { exitCode: 0 }, []);
  for (const command of program.commands) command.action(() => undefined);
  try {
    await program.parseAsync([...words], { from: "user" });
    return null;
  } catch (error) {
    return error;
  } finally {
    await session.close();
  }
}

async function commandsOf(): Promise<readonly Command[]> {
  const session = await Session.start([]);
  const program = await buildProgram(COMMAND_NAMES, session, { exitCode: 0 }, []);
  await session.close();
  return program.commands;
}

// every scenario; the commands of a build, one after the other; every breakpoint; the parts of an edit
const ADDING_UP = ["--scenario", "--build", "--break", "--filter", "--substitute", "--merge"];

test("every flag of every command that takes a value takes it once, but for those that add up", async () => {
  let refused = 0;
  for (const command of await commandsOf()) {
    const operands = command.registeredArguments.flatMap(({ required }) =>
      required ? ["file"] : [],
    );
    for (const option of command.options) {
      if (!option.required && !option.optional) continue;
      const value = goodValue(option);
      const flag = option.long!;
      const once = [command.name(), ...operands, flag, value];
      expect(await thrownBy(once), once.join(" ")).toBeNull();
      const thrown = await thrownBy([...once, `${flag}=${value}`]);
      if (ADDING_UP.includes(flag)) {
        expect(thrown).toBeNull();
        continue;
      }
      expect(thrown, once.join(" ")).toBeInstanceOf(UsageError);
      expect((thrown as UsageError).message).toBe(`${flag} is given twice: expected one value`);
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(30);
});

test("a flag without a value may be repeated: it says the same", async () => {
  expect(await thrownBy(["validate", "file", "--json", "--verbose", "--json"])).toBeNull();
});

test("on the command line: exit 2, one line, nothing done", async () => {
  const words = ["record", "--out", "a.jsonl", "--seeds", "0:1", "--out", "b.jsonl"];
  const { code, stdout, stderr } = await start(words);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toBe("unified-trace: --out is given twice: expected one value\n");
});
