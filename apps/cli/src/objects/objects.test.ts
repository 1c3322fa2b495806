import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { formatTime } from "@resource-broker/base";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import type { JsonObject } from "@resource-broker/kube-sim";
import { describe, expect, onTestFinished, test } from "vitest";
import { cellsOf as rows, runCli } from "../testing/cli.ts";
import { type OneCluster, startOneCluster } from "../testing/one-cluster.ts";

const RSV = "rsv-rome-k3u7dq2hvmx5b4ta";
const SHOP = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

function request(
  name: string,
  more: { namespace?: string; spec?: JsonObject; status?: JsonObject; labels?: JsonObject } = {},
) {
  const { namespace = "default", spec = {}, status = {}, labels = {} } = more;
  return {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    metadata: { name, namespace, labels },
    spec: { requestedCPU: "4", requestedMemory: "8Gi", ...spec },
    status,
  };
}

const GRANTED = {
  phase: "Reserved",
  targetClusterID: "paris",
  reservationName: RSV,
  decisionID: "dec-4f0q2",
  attempts: 1,
  message: "Use paris for 4 CPU / 8Gi Memory",
  cost: { perHour: "0.208359738368", currency: "EUR" },
  conditions: [
    {
      type: "Ready",
      status: "True",
      lastTransitionTime: "2026-01-15T12:00:00Z",
      reason: "Granted",
      message: "paris lends 4 CPU / 8Gi Memory",
    },
  ],
};

const rome = (objects: readonly object[] = [request("more", { status: GRANTED })]): Promise<OneCluster> =>
  startOneCluster(onTestFinished, { objects });

describe("get requests", () => {
  test("shows what was asked for, who lends it and for how long", async () => {
    const { ok } = await rome();
    const [titles, row] = rows(await ok("get", "requests"));
    expect(titles).toEqual(["NAME", "CPU", "MEMORY", "GPU", "PHASE", "TARGET", "EXPIRES", "AGE"]);
    expect(row?.slice(0, 7)).toEqual(["more", "4", "8Gi", "-", "Reserved", "paris", "never"]);
    const wide = await ok("get", "requests", "-o", "wide");
    for (const word of [RSV, "dec-4f0q2", "0.2084 EUR/h", "Use paris for 4 CPU / 8Gi Memory"])
      expect(wide).toContain(word);
  });

  test("shows where one waits, and for which tenant", async () => {
    const queue = { position: 2, of: 7, reason: "Capacity", place: "2/7" };
    const status = { phase: "Pending", reservationName: RSV, tenant: "ml", queue };
    const { ok } = await rome([request("more", { status })]);
    const [titles = [], row = []] = rows(await ok("get", "requests", "-o", "wide"));
    const from = titles.indexOf("QUEUE");
    expect([titles.slice(from, from + 2), row.slice(from, from + 2)]).toEqual([
      ["QUEUE", "TENANT"],
      ["2/7", "ml"],
    ]);
    expect(await ok("describe", "request", "more")).toMatch(/Tenant: +ml\n/u);
  });

  test("counts down to the end, says when no agent has seen one, and reads amounts that are numbers", async () => {
    const { cluster, now, ok } = await rome([request("new", { spec: { requestedCPU: 4, requestedGPU: 1 } })]);
    const expiresAt = formatTime(now() + 29.5 * 60_000);
    cluster.seed([request("more", { status: { ...GRANTED, expiresAt } })]);
    const [, more, unseen] = rows(await ok("get", "requests"));
    expect(more?.[6]).toBe("in 29m");
    expect(unseen?.slice(0, 5)).toEqual(["new", "4", "8Gi", "1", "Unseen"]);
  });

  test("looks in one namespace, or with -A in all of them, for the labels asked for", async () => {
    const gold = request("b", { namespace: "shop", labels: { tier: "gold" } });
    const { ok, run } = await rome([SHOP, request("a"), gold]);
    const found = async (...args: readonly string[]) =>
      rows(await ok("get", "requests", ...args)).map(([first, second]) => `${first} ${second}`);
    expect(await found()).toEqual(["NAME CPU", "a 4"]);
    expect(await found("-n", "shop")).toEqual(["NAME CPU", "b 4"]);
    expect(await found("-A")).toEqual(["NAMESPACE NAME", "default a", "shop b"]);
    expect(await found("-A", "-l", "tier=gold")).toEqual(["NAMESPACE NAME", "shop b"]);
    const err = "There is no request in namespace kube-system; -A looks everywhere.\n";
    expect(await run("get", "requests", "-n", "kube-system")).toEqual({ code: 0, out: "", err });
  });

  test("-o name prints names that kubectl and describe take; the nearest one is named when one is not there", async () => {
    const { ok, run } = await rome();
    const name = (await ok("get", "requests", "-o", "name")).trim();
    expect(name).toBe("resourcerequest.rear.fluidos.eu/more");
    expect(await ok("describe", "request", name)).toContain("more");
    const err = 'brokerctl: there is no request "moer" in namespace default; did you mean more?\n';
    expect(await run("get", "requests", "moer")).toMatchObject({ code: 1, err });
  });

  test("continues with -w and prints what changes, deletions too", async () => {
    const { cluster, kubeconfig } = await rome();
    const child = spawn(process.execPath, [MAIN, "get", "requests", "-w"], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    });
    let out = "";
    const says = async (word: string): Promise<void> => {
      while (!out.includes(word)) out += String((await once(child.stdout, "data"))[0]);
    };
    await says("Reserved");
    cluster.seed([request("more", { status: { ...GRANTED, phase: "Active" } })]);
    await says("Active");
    cluster.seed([request("other")]);
    await says("other");
    remove(cluster, "other");
    await says("Deleted");
    expect(rows(out).map(([name]) => name)).toEqual(["NAME", "more", "more", "other", "other"]);
  });
});

test("get advertisements shows what is left of what there is, and whether the broker took it", async () => {
  const { ok } = await rome([GOOD_OBJECTS["Advertisement"] ?? {}]);
  const [titles, row] = rows(await ok("get", "advertisements"));
  expect(titles?.slice(0, 7).join(" ")).toBe("NAME CLUSTER CPU MEMORY GPU RESERVED PUBLISHED");
  const shown = ["cluster-advertisement", "paris", "8/8", "32Gi/32Gi", "1/1", "8, 32Gi, 1 GPU", "yes"];
  expect(row?.slice(0, 7)).toEqual(shown);
  expect(await ok("get", "advertisements", "-o", "wide")).toContain("https://10.0.0.7:6443");
});

test("get instructions shows both sides in one list", async () => {
  const objects = ["ReservationInstruction", "ProviderInstruction"].map((kind) => GOOD_OBJECTS[kind] ?? {});
  const [, borrowed, lent] = rows(await (await rome(objects)).ok("get", "instructions"));
  expect(borrowed?.slice(0, 7)).toEqual([RSV, "borrows", "paris", "0.5", "512Mi", "1", "Delivered"]);
  expect(lent?.slice(0, 7)).toEqual([`${RSV}-provider`, "lends", "rome", "0.5", "512Mi", "1", "Held"]);
});

test("one request is described: wishes, state, conditions, instruction and events", async () => {
  const { cluster, ok } = await rome([
    request("more", {
      spec: { duration: "1h", constraints: { regions: ["eu-west"] }, queue: true },
      status: { ...GRANTED, explanation: "tokyo: too far\nberlin: full" },
    }),
    GOOD_OBJECTS["ReservationInstruction"] ?? {},
  ]);
  const listed = await ok("get", "requests", "more", "-o", "json");
  const [, uid = ""] = /"uid": "([^"]+)"/u.exec(listed) ?? [];
  cluster.seed([event("Granted", "paris lends it", uid), event("Other", "of an older one", "another-uid")]);
  const text = await ok("describe", "request", "more");
  for (const line of [
    "Asks for:      4 CPU / 8Gi Memory",
    "Only in:       eu-west",
    "Lent by:       paris",
    "Price:         0.2084 EUR/h",
    "  berlin: full",
    "Ready   True     Granted",
    "paris lends it",
    "More: brokerctl explain dec-4f0q2",
  ])
    expect(text).toContain(line);
  expect(text).not.toContain("of an older one");
  const data = JSON.parse(await ok("describe", "request", "more", "-o", "json")) as Record<string, unknown>;
  expect(Object.keys(data)).toEqual(["request", "instruction", "events"]);
});

describe("a cluster that cannot be used is reported", () => {
  test.each([
    { args: ["--context", "rom"], says: 'there is no context "rom"' },
    { args: ["--kubeconfig", "/nowhere"], says: "/nowhere" },
  ])("in one line: $args", async ({ args, says }) => {
    const { code, err } = await (await rome()).run("get", "requests", ...args);
    expect(code).toBe(1);
    expect(err).toContain(says);
    expect(err.trimEnd()).not.toContain("\n");
  });

  test("with what to do when our kinds are not installed, with status 5 when rights are missing", async () => {
    const bare = await startOneCluster(onTestFinished, { definitions: [] });
    const says = /knows no ResourceRequest.* \(--context\)\? .*kubectl apply --server-side -f deploy\/crds/u;
    const err: unknown = expect.stringMatching(says);
    expect(await bare.run("get", "requests")).toMatchObject({ code: 1, err });
    const { cluster, run } = await rome();
    cluster.faults.failNext({ times: 1, status: 403, verb: "list", plural: "resourcerequests" });
    expect((await run("get", "requests")).code).toBe(5);
  });
});

function event(reason: string, message: string, uid: string) {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `more.${reason.toLowerCase()}`, namespace: "default" },
    involvedObject: { kind: "ResourceRequest", name: "more", namespace: "default", uid },
    reason,
    message,
    type: "Normal",
    lastTimestamp: "2026-01-15T12:00:00Z",
  };
}

function remove({ api }: OneCluster["cluster"], name: string): void {
  const definition = api.definitions().find(({ kind }) => kind === "ResourceRequest");
  if (definition === undefined) throw new Error("the cluster knows no ResourceRequest");
  api.delete({ definition, name, namespace: "default" }, { dryRun: false });
}

describe("objects that somebody filled with hostile text", () => {
  const HOSTILE = "fine\u001b[2J\u001b[8m\u009b31m\u202eemor\u200b";
  const status = {
    ...GRANTED,
    message: `${HOSTILE}\nNAME   evil`,
    explanation: HOSTILE,
    conditions: [{ ...GRANTED.conditions[0], message: `${HOSTILE}\nReady   True` }],
  };

  const hostile = () => rome([request("more", { status: JSON.parse(JSON.stringify(status)) as JsonObject })]);

  test("reach no terminal as they are", async () => {
    const { run } = await hostile();
    for (const words of [
      "get requests",
      "get requests -o wide",
      "get requests -o json",
      "get requests -o yaml",
      "get requests -o name",
      "describe request more",
      "describe request more -o json",
      "explain request/more",
      "describe request \u001b[2Jnobody",
    ]) {
      const { out, err } = await run(...words.split(" "));
      // Letters of people and our own arrows and ellipses pass; nothing that a terminal obeys or nobody sees does.
      expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
      expect(out).not.toMatch(/^ *(NAME|Ready) {3}(evil|True)$/mu);
      if (words === "get requests -o json") expect(JSON.parse(out)).toMatchObject([{ status }]);
    }
  });

  test("cannot hide anything where there are colours", async () => {
    const { kubeconfig, now } = await hostile();
    const env = { KUBECONFIG: kubeconfig };
    const { out } = await runCli(["describe", "request", "more"], { now, env, isTerminal: true });
    expect(out).toContain("\u001b[33mReserved\u001b[39m");
    // oxlint-disable-next-line no-control-regex -- it is what is looked for
    expect(out).not.toMatch(/\u001b(?!\[(31|32|33|90|39)m)/u);
  });
});
