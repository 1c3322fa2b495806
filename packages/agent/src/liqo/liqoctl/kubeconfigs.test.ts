import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { accessTo } from "../requester/testing/samples.ts";
import { foreignText } from "./foreign-kubeconfig.ts";
import { isLiqoId, kubeconfigFolder, privateFiles } from "./kubeconfigs.ts";

const ACCESS = accessTo("paris:6443");
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
    const path = join(folder, `${id}.kubeconfig`);
    const origin = `context "provider" of ${path}`;
    const access = { ...ACCESS, origin };
    expect(await kubeconfigFolder(folder).of(id)).toEqual({ kind: "found", path, access });
  });

  test("tells a file that was replaced from the one before, and from none", async () => {
    const { fingerprintOf } = kubeconfigFolder(folder);
    expect(await fingerprintOf("replaced")).toBe("");
    await writeFile(join(folder, "replaced.kubeconfig"), foreignText(ACCESS));
    const first = await fingerprintOf("replaced");
    expect(await fingerprintOf("replaced")).toBe(first);
    await writeFile(join(folder, "new"), foreignText(accessTo("paris", "another")));
    await rename(join(folder, "new"), join(folder, "replaced.kubeconfig"));
    expect(await fingerprintOf("replaced")).not.toBe(first);
    expect(await fingerprintOf("../secret")).toBe("");
  });

  test("says which file is missing, and how to come by it", async () => {
    const found = await kubeconfigFolder(folder).of("oslo");
    expect(found).toMatchObject({
      reason: "KubeconfigMissing",
      message: expect.stringMatching(/oslo\.kubeconfig: .* liqoctl generate peering-user$/),
    });
  });

  test.each([
    ["a link that leads out of it", "linked", "leads out of"],
    ["a link to a folder whose name begins as its own", "sibling", "leads out of"],
    ["a folder", "folder", "is not a file"],
    ["a huge file", "huge", "larger than"],
    ["a file that is nested too deep", "deep", "YAML"],
    ["a file that runs a program", "exec", "exec.kubeconfig: users[0].user.exec is refused"],
  ])("does not give out %s", async (_, id, message) => {
    expect(await kubeconfigFolder(folder).of(id)).toEqual({
      kind: "refused",
      reason: "KubeconfigRefused",
      message: expect.stringContaining(message),
    });
  });

  test.each(HOSTILE)("is never left for %j", async (id) => {
    expect(await kubeconfigFolder(folder).of(id)).toMatchObject({
      kind: "refused",
      reason: "ClusterIDRefused",
    });
    expect(isLiqoId(id)).toBe(false);
  });
});

describe("a private file", () => {
  const temporary = mkdtempSync(join(tmpdir(), "private-"));
  const env = { TMPDIR: temporary };
  afterAll(() => rm(temporary, { recursive: true }));
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  test("a file is lent to its user alone, and is gone afterwards", async () => {
    const seen = await privateFiles(env).withFile("abc", async (path) => ({
      path,
      text: readFileSync(path, "utf8"),
      modes: [modeOf(path), modeOf(dirname(path))],
    }));
    expect(seen).toMatchObject({ text: "abc", modes: [0o600, 0o700] });
    expect(dirname(dirname(seen.path))).toBe(temporary);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("a file is gone when its use fails", async () => {
    const failing = privateFiles(env).withFile("abc", () => Promise.reject(new Error("it broke")));
    await expect(failing).rejects.toThrow("it broke");
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("a file that is still lent is gone when the agent stops", async () => {
    const files = privateFiles(env);
    await files.withFile("abc", async (path) => {
      files.stop();
      expect(existsSync(dirname(path))).toBe(false);
    });
  });

  test("a place where nothing can be written is named", async () => {
    const using = privateFiles({ TMPDIR: join(temporary, "not-there") }).withFile(
      "abc",
      async () => undefined,
    );
    await expect(using).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("not-there: make it writable"),
    });
  });
});
