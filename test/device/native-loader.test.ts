// The addon loader answers with a reason and never throws; devices by name.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EnvironmentError } from "../../src/base/errors.js";
import { loadNative, nativeReport } from "../../src/device/native-loader.js";
import { openDevice } from "../../src/device/open-device.js";
import { describeUnless } from "../skip-aloud.js";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "native-"));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function build(folder: string): string {
  const release = join(root, "build", folder, "Release");
  mkdirSync(release, { recursive: true });
  const path = join(release, "unified_trace.node");
  writeFileSync(path, "not a library");
  return path;
}

/** A library in form: a header, one segment over all of it, and a table of sections at its end. */
function libraryBytes(): Buffer {
  const bytes = Buffer.alloc(8192 + 64);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.set([2, 1, 1], 4); // 64 bits, little endian, version 1
  bytes.writeBigUInt64LE(64n, 32); // segments
  bytes.writeBigUInt64LE(8192n, 40); // sections
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt16LE(64, 58);
  bytes.writeUInt16LE(1, 60);
  bytes.writeBigUInt64LE(0n, 64 + 8);
  bytes.writeBigUInt64LE(8192n, 64 + 32);
  return bytes;
}

describe("the native loader", () => {
  test("says how to build what is not there", () => {
    const nothing = { available: false, path: null };
    expect(nativeReport(root)).toMatchObject(nothing);
    expect(nativeReport(root).reason).toMatch(/npm run build:native/);
    mkdirSync(join(root, "build", "native"), { recursive: true });
    expect(nativeReport(root)).toMatchObject(nothing);
  });

  test("gives the loader's reason in one line for a file that does not load", () => {
    const path = build("native");
    const { report, addon } = loadNative(root);
    expect(addon).toBeNull();
    expect(report).toMatchObject({ available: false, path });
    expect(report.reason).toMatch(/^the native addon does not load: ./);
    expect(report.reason).not.toContain("\n");
  });

  test("does not load a library that was cut short: the process would die in it", () => {
    const whole = libraryBytes();
    const path = build("native");
    for (const size of [whole.length - 1, 4096, 65]) {
      writeFileSync(path, whole.subarray(0, size));
      expect(nativeReport(root).reason).toBe(
        `the native addon does not load: the file is cut short: ${size} of at least ${whole.length} bytes`,
      );
    }
    writeFileSync(path, whole);
    expect(nativeReport(root).reason).not.toContain("cut short");
  });

  test("tries the plain build first, then the others by name", () => {
    const debug = build("native-debug");
    expect(nativeReport(root).path).toBe(debug);
    const cpu = build("native-cpu");
    expect(nativeReport(root).path).toBe(cpu);
    const plain = build("native");
    expect(nativeReport(root).path).toBe(plain);
  });
});

const own = nativeReport();
describeUnless(own.available ? undefined : String(own.reason), "the addon of this checkout", () => {
  test("loads and says its version", () => {
    const { report, addon } = loadNative();
    expect(report).toMatchObject({ available: true, reason: null });
    expect(addon?.version).toMatch(/^\d+\.\d+\.\d+/);
  });
});

describe("a device by name", () => {
  const options = { verify: "touched" } as const;

  test("model is there, none is none", () => {
    expect(openDevice("model", options).kind).toBe("model");
    expect(openDevice("none", options)).toBeNull();
  });

  // What is there depends on the machine: the addon makes the host device, a GPU and its library the CUDA one as well.
  test.each(["host", "cuda"] as const)("%s is there or refused in one clear line", (kind) => {
    let refusal: unknown = null;
    try {
      expect(openDevice(kind, options).kind).toBe(kind);
      expect(own.available).toBe(true);
    } catch (error) {
      refusal = error;
    }
    if (kind === "host" && own.available) expect(refusal).toBeNull();
    if (refusal === null) return;
    const code = own.available ? "device_unavailable" : "addon_missing";
    expect(refusal).toBeInstanceOf(EnvironmentError);
    expect(refusal).toMatchObject({ code, exitCode: 4 });
    expect((refusal as Error).message).toMatch(new RegExp(`^device ${kind}: [^\\n]+$`));
  });
});
