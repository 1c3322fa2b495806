import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { foreignText } from "./foreign-access.ts";
import { isLiqoId, kubeconfigFolder } from "./kubeconfigs.ts";

const ACCESS = { server: "https://paris:6443", token: "abc" };
const folder = await mkdtemp(join(tmpdir(), "kubeconfigs-"));
await writeFile(join(folder, "paris.kubeconfig"), foreignText(ACCESS));
await writeFile(join(folder, "eu.paris.kubeconfig"), foreignText(ACCESS));
await writeFile(join(folder, "huge.kubeconfig"), `# ${"x".repeat(300_000)}\n${foreignText(ACCESS)}`);
await writeFile(join(folder, "deep.kubeconfig"), "[".repeat(200_000));
await writeFile(
  join(folder, "exec.kubeconfig"),
  "clusters: []\nusers: [{name: u, user: {exec: {command: sh}}}]\n",
);
const outside = await mkdtemp(join(tmpdir(), "elsewhere-"));
await writeFile(join(outside, "secret"), "");
await symlink(join(outside, "secret"), join(folder, "linked.kubeconfig"));
const beside = `${folder}-beside`;
await mkdir(beside);
await writeFile(join(beside, "paris.kubeconfig"), foreignText(ACCESS));
await symlink(join(beside, "paris.kubeconfig"), join(folder, "sibling.kubeconfig"));
// As the kubelet mounts a Secret.
await mkdir(join(folder, "..2026_07_01"));
await writeFile(join(folder, "..2026_07_01", "mounted.kubeconfig"), foreignText(ACCESS));
await symlink("..2026_07_01", join(folder, "..data"));
await symlink("..data/mounted.kubeconfig", join(folder, "mounted.kubeconfig"));
await mkdir(join(folder, "folder.kubeconfig"));
afterAll(async () => {
  for (const each of [folder, outside, beside]) await rm(each, { recursive: true });
});

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
  test.each(["paris", "eu.paris", "mounted"])("has the file of %s", async (id) => {
    expect(await kubeconfigFolder(folder).of(id)).toEqual({
      kind: "found",
      path: join(folder, `${id}.kubeconfig`),
      access: ACCESS,
    });
  });

  test("tells a file that was replaced from the one before, and from none", async () => {
    const { fingerprintOf } = kubeconfigFolder(folder);
    expect(await fingerprintOf("replaced")).toBe("");
    await writeFile(join(folder, "replaced.kubeconfig"), foreignText(ACCESS));
    const first = await fingerprintOf("replaced");
    expect(await fingerprintOf("replaced")).toBe(first);
    await writeFile(join(folder, "new"), foreignText({ ...ACCESS, token: "another" }));
    await rename(join(folder, "new"), join(folder, "replaced.kubeconfig"));
    expect(await fingerprintOf("replaced")).not.toBe(first);
    expect(await fingerprintOf("../secret")).toBe("");
  });

  test("says which file is missing, and how to come by it", async () => {
    const found = await kubeconfigFolder(folder).of("oslo");
    expect(found).toMatchObject({
      kind: "missing",
      problem: expect.stringContaining("generate peering-user"),
    });
    expect(found).toMatchObject({ problem: expect.stringContaining(join(folder, "oslo.kubeconfig")) });
  });

  test.each([
    ["a link that leads out of it", "linked", "leads out of"],
    ["a link to a folder whose name begins as its own", "sibling", "leads out of"],
    ["a folder", "folder", "is not a file"],
    ["a huge file", "huge", "larger than"],
    ["a file that is nested too deep", "deep", "YAML"],
    ["a file that runs a program", "exec", "exec.kubeconfig: users[0].user.exec is refused"],
  ])("does not give out %s", async (_, id, problem) => {
    expect(await kubeconfigFolder(folder).of(id)).toEqual({
      kind: "refused",
      reason: "KubeconfigRefused",
      problem: expect.stringContaining(problem),
    });
  });

  test.each(HOSTILE)("is never left for %j", async (id) => {
    expect(await kubeconfigFolder(folder).of(id)).toMatchObject({
      kind: "refused",
      reason: "ClusterIDRefused",
    });
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
