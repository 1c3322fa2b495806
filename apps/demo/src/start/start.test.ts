import { appendFile, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "@resource-broker/base";
import type { CallSender } from "@resource-broker/client";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DemoUpdate } from "../updates/update.ts";
import { buildPages, describeStart } from "./preconditions.ts";
import { commandsFor } from "./write-tools.ts";
import { followLog, logEvent } from "./start-agents.ts";
import { dashboardLinks, startPolling } from "./start-fleet.ts";

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "demo-start-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("the commands to try", () => {
  const placesIn = (folder: string) => ({
    kubeconfigOf: (cluster: string) => `${folder}/${cluster}/kubeconfig`,
    requestFile: `${folder}/request.yaml`,
    brokerctl: `${folder}/brokerctl`,
    requester: "rome",
    provider: "paris",
    hasGpus: true,
    hub: undefined,
  });
  const commandsIn = (places: Parameters<typeof commandsFor>[0]) =>
    commandsFor(places).map(({ command }) => command);

  test("are five, for the cluster that asks, the one that lends and the broker", () => {
    expect(commandsIn(placesIn("/tmp/demo"))).toEqual([
      "kubectl --kubeconfig /tmp/demo/rome/kubeconfig apply -f /tmp/demo/request.yaml",
      "kubectl --kubeconfig /tmp/demo/rome/kubeconfig get resourcerequests,reservationinstructions",
      "kubectl --kubeconfig /tmp/demo/paris/kubeconfig get providerinstructions",
      "/tmp/demo/brokerctl quote --context rome --cpu 2 --memory 8Gi --gpu 1",
      "kubectl --kubeconfig /tmp/demo/rome/kubeconfig delete resourcerequest more-room",
    ]);
  });

  test("ask the broker where nobody knows who will lend, and its own cluster where it has one", () => {
    const places = { ...placesIn("/tmp/my friend's $HOME"), provider: undefined, hasGpus: false };
    const [first, , third, quote] = commandsIn(places);
    // Quoted, because a shell would take this folder apart.
    expect(first).toContain(String.raw`apply -f '/tmp/my friend'\''s $HOME/request.yaml'`);
    expect(third).toBe(String.raw`'/tmp/my friend'\''s $HOME/brokerctl' get reservations`);
    expect(quote).toMatch(/ quote --context rome --cpu 2 --memory 8Gi$/u);
    expect(commandsIn({ ...places, hub: "hub" })[2]).toContain(" get clusteradvertisements,reservations");
  });
});

describe("what keeps a demo from starting is reported with the remedy", () => {
  const systemError = (code: string) => Object.assign(new Error(`${code}: write`), { code });
  const FULL =
    "the disk with /kept is full: free some space there, or name a folder on another disk with --keep";
  const ELSEWHERE = "; name another folder with --keep";

  test.each([
    { error: systemError("ENOSPC"), says: FULL },
    { error: new Error("the broker is not ready:\nledger.db: the disk is full; free some"), says: FULL },
    { error: new Error("Error: ENOSPC: no space left on device"), says: FULL },
    { error: systemError("EACCES"), says: `/kept may not be written by this account${ELSEWHERE}` },
    { error: systemError("EROFS"), says: `/kept is on a disk that cannot be written${ELSEWHERE}` },
    { error: systemError("ENOTDIR"), says: `/kept cannot be made: a part of its path is a file${ELSEWHERE}` },
    { error: systemError("EEXIST"), says: `/kept is a file, not a folder${ELSEWHERE}` },
  ])("$error.message", ({ error, says }) => {
    expect(describeStart(error, "/kept")).toMatchObject({ message: says, cause: error });
  });

  test("but anything else as it is", () => {
    const errors = [new Error("torn"), new Fault("conflict", "in use")];
    expect(errors.map((error) => describeStart(error, "/kept"))).toEqual(errors);
  });
});

describe("the dashboard's pages", () => {
  const MESSAGE = "builds the dashboard's pages, which takes some seconds and is done once";
  const BUILT = [MESSAGE, "built"];

  /** Files with the second at which each was changed. */
  test.each<{
    name: string;
    files: Record<string, number>;
    failure?: Error;
    problem?: string;
    done: string[];
  }>([
    { name: "are built where missing", files: { "src/main.tsx": 5 }, done: BUILT },
    {
      name: "are built where older than one of their sources",
      files: { "src/main.tsx": 5, "src/fleet/page.tsx": 9, "dist/index.html": 8 },
      done: BUILT,
    },
    { name: "are left alone where newer", files: { "src/main.tsx": 5, "dist/index.html": 8 }, done: [] },
    { name: "are missed in a copy without them", files: {}, problem: "this copy has no dashboard", done: [] },
    {
      name: "that cannot be built are reported with the remedy",
      files: { "src/main.tsx": 5 },
      failure: new Error("no vite"),
      problem: "its pages cannot be built (npm run dashboard:build says why): no vite",
      done: BUILT,
    },
  ])("$name", async ({ files, failure, problem, done }) => {
    const folder = await emptyFolder();
    for (const [name, second] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), "");
      await utimes(join(folder, name), second, second);
    }
    const did: string[] = [];
    const build = async (): Promise<void> => {
      did.push("built");
      if (failure !== undefined) throw failure;
    };
    expect(await buildPages((text) => void did.push(text), { folder, build })).toBe(problem);
    expect(did).toEqual(done);
  });
});

describe("a log", () => {
  const line = (level: number, msg: string, more: object = {}) =>
    JSON.stringify({ level, time: Date.UTC(2026, 6, 1, 10), ...more, msg });

  test.each([
    { text: line(30, "the agent is running"), shows: { level: "info", text: "the agent is running" } },
    { text: line(40, "not advertised"), shows: { level: "warn", text: "not advertised" } },
    {
      text: line(50, "a commit failed", { error: "the disk is full" }),
      shows: { level: "error", text: "a commit failed: the disk is full" },
    },
    { text: line(30, "Liqo is not installed"), shows: undefined },
    { text: "    at main (file:///x.ts:1:1)", shows: undefined },
    { text: '{"msg":"hello"}', shows: undefined },
    { text: "null", shows: undefined },
  ])("with $text shows $shows", ({ text, shows }) => {
    const at = { at: "2026-07-01T10:00:00.000Z", source: "rome" };
    expect(logEvent("rome", text)).toEqual(shows && { ...at, ...shows });
  });

  test("is followed line by line from its place on, whole lines only", async () => {
    const file = join(await emptyFolder(), "agent.log");
    const lines = followLog(file, 4);
    expect(await lines()).toEqual([]);
    await writeFile(file, "old\none\ntw");
    expect(await lines()).toEqual(["one"]);
    expect(await lines()).toEqual([]);
    await appendFile(file, "o\n\nthree — drei\n");
    expect(await lines()).toEqual(["two", "three — drei"]);
    await appendFile(file, `${"x".repeat(100_000)}\nfour\n`);
    const rest = [...(await lines()), ...(await lines())];
    expect(rest.at(-1)).toBe("four");
  });
});

test("a problem is reported once, and once when it is over", async () => {
  const clock = fakeClock();
  const published: DemoUpdate[] = [];
  let isDown = false;
  const poll = async (): Promise<void> => {
    if (isDown) throw new Error("connect ECONNREFUSED");
  };
  const { stop } = startPolling({ poll, clock, onUpdate: (update) => void published.push(update) });
  await clock.advance(2000);
  expect(published).toEqual([]);
  isDown = true;
  await clock.advance(3000);
  const text = "The broker does not answer: connect ECONNREFUSED";
  expect(published.splice(0)).toEqual([{ kind: "trouble", text }]);
  isDown = false;
  await clock.advance(3000);
  expect(published).toEqual([{ kind: "trouble", text: "" }]);
  await stop();
});

test("a link is reported once, and a new one before the last is too old; a broker that makes none is asked again", async () => {
  const clock = fakeClock();
  const published: DemoUpdate[] = [];
  const value = { url: "http://127.0.0.1:1/#token=a", role: "admin", expiresAt: "2026-01-05T12:02:00.000Z" };
  let answer = (): Promise<unknown> => Promise.resolve({ value });
  const admin = { request: () => answer() } as unknown as CallSender;
  const command = "brokerctl dashboard";
  const look = dashboardLinks({ admin, command, clock, onUpdate: (update) => void published.push(update) });
  await look();
  await clock.advance(89_999);
  await look();
  const { url, expiresAt } = value;
  expect(published).toEqual([{ kind: "dashboard", dashboard: { url, expiresAt, command } }]);
  await clock.advance(1);
  answer = () => Promise.reject(new Fault("not-leader", "x"));
  await expect(look()).rejects.toThrow("answered 503");
  answer = () => Promise.resolve({ value });
  await look();
  expect(published).toHaveLength(2);
});
