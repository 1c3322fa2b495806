import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { isLiqoId, kubeconfigFolder } from "./kubeconfigs.ts";

const folder = await mkdtemp(join(tmpdir(), "kubeconfigs-"));
await writeFile(join(folder, "paris.kubeconfig"), "");
await writeFile(join(folder, "eu.paris.kubeconfig"), "");
afterAll(() => rm(folder, { recursive: true }));

const HOSTILE = [
  "",
  ".",
  "..",
  "a..b",
  "../paris",
  "..%2fparis",
  "paris/../../etc/passwd",
  "/etc/passwd",
  "paris/",
  "-paris",
  "--kubeconfig=/etc/passwd",
  "paris rome",
  "paris\n",
  "paris\0",
  "Paris",
  "paris.",
  ".paris",
  "paris;ls",
  "$(ls)",
  "päris",
  "p".repeat(64),
];

describe("the folder of kubeconfigs", () => {
  test.each(["paris", "eu.paris"])("has the file of %s", async (id) => {
    expect(await kubeconfigFolder(folder).of(id)).toEqual({
      kind: "found",
      path: join(folder, `${id}.kubeconfig`),
    });
  });

  test("says which file is missing, and how to come by it", async () => {
    const found = await kubeconfigFolder(folder).of("oslo");
    expect(found).toMatchObject({
      kind: "missing",
      problem: expect.stringContaining("generate peering-user"),
    });
    expect(found).toMatchObject({ problem: expect.stringContaining(join(folder, "oslo.kubeconfig")) });
  });

  test.each(HOSTILE)("is never left for %j", async (id) => {
    expect(await kubeconfigFolder(folder).of(id)).toMatchObject({ kind: "refused" });
    expect(isLiqoId(id)).toBe(false);
  });

  test("gives out nothing but files in it, whatever is asked for", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({
          unit: fc.constantFrom("a", "A", "0", "-", ".", "_", "/", "\\", " ", "%", "~", "$"),
          maxLength: 12,
        }),
        async (id) => {
          const found = await kubeconfigFolder(folder).of(id);
          if (found.kind === "refused") return;
          expect(id).toMatch(/^[a-z0-9]+(?:[-.][-a-z0-9]*[a-z0-9]+)*$/);
          expect(id).not.toContain("..");
        },
      ),
    );
  });
});
