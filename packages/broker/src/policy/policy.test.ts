import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { policySchema } from "@resource-broker/contract/testing";
import { DEFAULT_POLICY } from "@resource-broker/domain";
import { yamlReader } from "@resource-broker/runtime";
import { fakeClock } from "@resource-broker/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import {
  BUILT_IN_POLICY,
  followPolicy,
  type LoadedPolicy,
  loadPolicy,
  policyInForce,
  readPolicy,
  type SourcedPolicy,
} from "./policy.ts";

const readYaml = yamlReader();
/** Only a guard: a busy machine takes its time. */
const GUARD = { timeout: 20_000 };
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function policyFile(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "policy-"));
  folders.push(folder);
  const path = join(folder, "policy.yaml");
  await writeFile(path, content);
  return path;
}

describe("a policy file", () => {
  test("is read from YAML, named after its content", async () => {
    const path = await policyFile("weights:\n  resources: 1\nstaleness: 5m\nmaxTTL: 24h\n");
    const { policy } = await loadPolicy(path, readYaml);
    expect(policy).toMatchObject({ weights: { resources: 1 }, stalenessMs: 300_000, maxTtlMs: 86_400_000 });
    expect(policy.version).toMatch(/^[0-9a-f]{8}$/);
  });

  const wrong = [
    { name: "a typo", content: "wieghts: {}", problem: "weights" },
    { name: "no YAML", content: "a: [", problem: "is not YAML" },
    { name: "too much in it", content: `a: ${"x".repeat(200_000)}`, problem: "larger than 128 KiB" },
    { name: "a wrong duration", content: "staleness: soon", problem: "staleness" },
  ];
  test.each(wrong)("with $name is refused, naming file and fault", async ({ content, problem }) => {
    const path = await policyFile(content);
    await expect(loadPolicy(path, readYaml)).rejects.toThrow(problem);
    await expect(loadPolicy(path, readYaml)).rejects.toThrow(path);
  });

  test("that does not exist is named", async () => {
    await expect(loadPolicy("/nowhere/policy.yaml", readYaml)).rejects.toThrow(
      "cannot read /nowhere/policy.yaml",
    );
  });

  test("is followed: a new policy comes into force, a broken one is reported and the old one stays", async () => {
    const path = await policyFile("staleness: 1m");
    const time = fakeClock();
    const changes: LoadedPolicy[] = [];
    const warnings: unknown[] = [];
    const log = {
      info: () => undefined,
      warn: (fields: unknown) => warnings.push(fields),
      error: () => undefined,
    };
    const inForce = await loadPolicy(path, readYaml);
    const reported: (string | undefined)[] = [];
    const report = (problem: string | undefined) => void reported.push(problem);
    const deps = { read: readYaml, clock: time, log, report };
    const stop = followPolicy({ path, inForce }, deps, (loaded) => changes.push(loaded));
    const replace = async (content: string) => {
      await writeFile(`${path}.new`, content);
      await rename(`${path}.new`, path);
    };
    await replace("staleness: nonsense");
    await vi.waitFor(async () => {
      await time.advance(10_000);
      expect(warnings).toHaveLength(1);
    }, GUARD);
    expect(reported.at(-1)).toContain("staleness");
    await replace("staleness: 3m");
    await vi.waitFor(async () => {
      await time.advance(10_000);
      expect(changes.map(({ policy }) => policy.stalenessMs)).toEqual([180_000]);
    }, GUARD);
    expect(reported.at(-1)).toBeUndefined();
    stop();
  });
});

function named(version: string, source: string): SourcedPolicy {
  return { ...BUILT_IN_POLICY, policy: { ...DEFAULT_POLICY, version }, source };
}

test("the policy in force is the object's, then the file's, then the built-in one; people hear when there are both", () => {
  const used: string[] = [];
  const warnings: string[] = [];
  const log = {
    info: () => undefined,
    warn: (_: unknown, message: string) => void warnings.push(message),
    error: () => undefined,
  };
  const force = policyInForce({ use: ({ policy }) => void used.push(policy.version), log });
  expect(force.now()).toMatchObject({ source: "built in", policy: { version: "default" } });
  force.fromFile(named("file-1", "/policy.yaml"));
  force.fromObject(named("object-1", "BrokerPolicy broker/default"));
  force.fromFile(named("file-2", "/policy.yaml"));
  force.fromObject(named("object-2", "BrokerPolicy broker/default"));
  expect(force.now().source).toBe("BrokerPolicy broker/default");
  force.fromObject(undefined);
  expect(used).toEqual(["file-1", "object-1", "object-2", "file-2"]);
  expect(warnings).toEqual([
    "there are a policy file and a BrokerPolicy object: the object is in force, the file is not",
  ]);
});

test("a policy that does not name itself has the same name whatever the order of its fields", () => {
  const version = (content: unknown) => {
    const reading = readPolicy(content);
    return reading.ok ? reading.loaded.policy.version : reading.problem;
  };
  expect(version({ staleness: "1m", maxTTL: "2h" })).toBe(version({ maxTTL: "2h", staleness: "1m" }));
  expect(version({ staleness: "1m" })).not.toBe(version({ staleness: "2m" }));
});

const PAGE = new URL("../../../../docs/policy.md", import.meta.url);

/** Fields that hold others are described by what they hold. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  prices: ["prices.currency", "prices.rates", "prices.clusters"],
  lending: ["lending.default", "lending.clusters"],
  queue: [
    "queue.max",
    "queue.perTenant",
    "queue.maxWait",
    "queue.turnaround",
    "queue.holdAfter",
    "queue.backfill",
  ],
  preemption: [
    "preemption.victims",
    "preemption.minPriorityGap",
    "preemption.grace",
    "preemption.minRun",
    "preemption.maxUnderNotice",
  ],
  sliceDefaults: ["sliceDefaults.pods", "sliceDefaults.ephemeralStorage"],
};

describe("docs/policy.md", () => {
  test("has an example that is a good policy and uses what it describes", async () => {
    const page = await readFile(PAGE, "utf8");
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const { spec } = parse(example) as { spec: unknown };
    expect(readPolicy(spec)).toMatchObject({ ok: true, loaded: { policy: { version: "2026-07" } } });
  });

  test("describes every field there is, and no other", async () => {
    const page = await readFile(PAGE, "utf8");
    const table = page.slice(page.indexOf("## Every field"), page.indexOf("A price has"));
    const described = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
    const { properties = {} } = policySchema;
    expect(new Set(described)).toEqual(
      new Set(Object.keys(properties).flatMap((name) => GROUPS[name] ?? [name])),
    );
  });
});
