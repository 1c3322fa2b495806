import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { yamlReader } from "@resource-broker/runtime";
import { fakeClock } from "@resource-broker/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { LoadedPolicy } from "./loaded-policy.ts";
import { followPolicy, loadPolicy } from "./policy-file.ts";

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
