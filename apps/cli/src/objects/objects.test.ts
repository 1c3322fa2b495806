import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { formatTime } from "@resource-broker/base";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import type { JsonObject } from "@resource-broker/kube-sim";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../testing/cli.ts";
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

async function rome(
  objects: readonly object[] = [request("more", { status: GRANTED })],
): Promise<OneCluster> {
  return startOneCluster(onTestFinished, { objects });
}

/** The cells of a table, without the widths. */
function rows(text: string): string[][] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {3,}/u));
}

describe("get requests", () => {
  test("shows what was asked for, who lends it and for how long", async () => {
    const { ok } = await rome();
    const [titles, row] = rows(await ok("get", "requests"));
    expect(titles).toEqual(["NAME", "CPU", "MEMORY", "GPU", "PHASE", "TARGET", "EXPIRES", "AGE"]);
    expect(row?.slice(0, 7)).toEqual(["more", "4", "8Gi", "-", "Reserved", "paris", "never"]);
  });

  test("counts down to the end of what is held", async () => {
    const cluster = await rome([]);
    const expiresAt = formatTime(cluster.now() + 29.5 * 60_000);
    cluster.cluster.seed([request("more", { status: { ...GRANTED, expiresAt } })]);
    expect(await cluster.ok("get", "requests")).toContain("in 29m");
  });

  test("says when no agent has seen one", async () => {
    const { ok } = await rome([request("new")]);
    expect(await ok("get", "requests")).toContain("Unseen");
  });

  test("reads amounts that a person wrote as numbers", async () => {
    const { ok } = await rome([request("plain", { spec: { requestedCPU: 4, requestedGPU: 1 } })]);
    expect(rows(await ok("get", "requests"))[1]?.slice(0, 4)).toEqual(["plain", "4", "8Gi", "1"]);
  });

  test("with -o wide says more", async () => {
    const { ok } = await rome();
    const text = await ok("get", "requests", "-o", "wide");
    for (const word of [RSV, "dec-4f0q2", "0.2084 EUR/h", "Use paris for 4 CPU / 8Gi Memory"])
      expect(text).toContain(word);
  });

  test("-o name prints names that kubectl and describe take", async () => {
    const { ok } = await rome();
    const name = (await ok("get", "requests", "-o", "name")).trim();
    expect(name).toBe("resourcerequest.rear.fluidos.eu/more");
    expect(await ok("describe", "request", name)).toContain("more");
  });

  test("looks in one namespace, or with -A in all of them", async () => {
    const { ok } = await rome([SHOP, request("a"), request("b", { namespace: "shop" })]);
    expect(JSON.parse(await ok("get", "requests", "-o", "json"))).toHaveLength(1);
    expect(await ok("get", "requests", "-n", "shop", "-o", "name")).toContain("/b\n");
    const all = rows(await ok("get", "requests", "-A"));
    expect(all.map(([namespace, name]) => `${namespace} ${name}`)).toEqual([
      "NAMESPACE NAME",
      "default a",
      "shop b",
    ]);
  });

  test("-l keeps those with the labels", async () => {
    const { ok } = await rome([request("a", { labels: { tier: "gold" } }), request("b")]);
    expect(await ok("get", "requests", "-l", "tier=gold", "-o", "name")).toBe(
      "resourcerequest.rear.fluidos.eu/a\n",
    );
  });

  test("says on standard error when there is none", async () => {
    const { run } = await rome([]);
    expect(await run("get", "requests")).toEqual({
      code: 0,
      out: "",
      err: "There is no request in namespace default; -A looks everywhere.\n",
    });
  });

  test("names the nearest one when one is not there", async () => {
    const { run } = await rome();
    const { code, err } = await run("get", "requests", "moer");
    expect(code).toBe(1);
    expect(err).toBe('brokerctl: there is no request "moer" in namespace default; did you mean more?\n');
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

describe("get advertisements", () => {
  test("shows what is left of what there is, and whether the broker took it", async () => {
    const { ok } = await rome([GOOD_OBJECTS["Advertisement"] ?? {}]);
    const [titles, row] = rows(await ok("get", "advertisements"));
    expect(titles?.slice(0, 7)).toEqual(["NAME", "CLUSTER", "CPU", "MEMORY", "GPU", "RESERVED", "PUBLISHED"]);
    expect(row?.slice(0, 7)).toEqual([
      "cluster-advertisement",
      "paris",
      "8/8",
      "32Gi/32Gi",
      "1/1",
      "8, 32Gi, 1 GPU",
      "yes",
    ]);
    expect(await ok("get", "advertisements", "-o", "wide")).toContain("https://10.0.0.7:6443");
  });
});

describe("get instructions", () => {
  test("shows both sides in one list", async () => {
    const objects = ["ReservationInstruction", "ProviderInstruction"].map((kind) => GOOD_OBJECTS[kind] ?? {});
    const { ok } = await rome(objects);
    const [, borrowed, lent] = rows(await ok("get", "instructions"));
    expect(borrowed?.slice(0, 7)).toEqual([RSV, "borrows", "paris", "0.5", "512Mi", "1", "Delivered"]);
    expect(lent?.slice(0, 7)).toEqual([`${RSV}-provider`, "lends", "rome", "0.5", "512Mi", "1", "Held"]);
    expect(await ok("get", "instructions", "-o", "name")).toBe(
      `reservationinstruction.rear.fluidos.eu/${RSV}\nproviderinstruction.rear.fluidos.eu/${RSV}-provider\n`,
    );
  });
});

describe("one request with everything", () => {
  test("shows wishes, state, conditions, instruction and events", async () => {
    const { cluster, ok } = await rome([
      request("more", {
        spec: { duration: "1h", constraints: { regions: ["eu-west"] }, queue: true },
        status: { ...GRANTED, explanation: "tokyo: too far\nberlin: full" },
      }),
      GOOD_OBJECTS["ReservationInstruction"] ?? {},
    ]);
    const uid = await uidOf(ok, "more");
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
});

describe("a cluster that cannot be used is reported in one line", () => {
  test.each([
    {
      name: "a context that is not there",
      args: ["--context", "rom"],
      code: 1,
      says: 'there is no context "rom"',
    },
    { name: "a file that is not there", args: ["--kubeconfig", "/nowhere"], code: 1, says: "/nowhere" },
  ])("$name", async ({ args, code, says }) => {
    const { run } = await rome();
    const outcome = await run("get", "requests", ...args);
    expect(outcome.code).toBe(code);
    expect(outcome.err).toContain(says);
    expect(outcome.err.trimEnd()).not.toContain("\n");
  });

  test("kinds that are not installed, with what to do", async () => {
    const { run } = await startOneCluster(onTestFinished, { definitions: [] });
    const { code, err } = await run("get", "requests");
    expect(code).toBe(1);
    expect(err).toContain("knows no ResourceRequest");
    expect(err).toContain("kubectl apply --server-side -f deploy/crds");
  });

  test("rights that are missing end with status 5", async () => {
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

async function uidOf(ok: OneCluster["ok"], name: string): Promise<string> {
  const [found] = JSON.parse(await ok("get", "requests", name, "-o", "json")) as {
    metadata: { uid: string };
  }[];
  return found?.metadata.uid ?? "";
}

function remove({ api }: OneCluster["cluster"], name: string): void {
  const definition = api.definitions().find(({ kind }) => kind === "ResourceRequest");
  if (definition === undefined) throw new Error("the cluster knows no ResourceRequest");
  api.delete({ definition, name, namespace: "default" }, { dryRun: false, propagation: "Background" });
}

describe("objects that somebody filled with hostile text", () => {
  const HOSTILE = "fine\u001b[2J\u001b[8m\u009b31m\u202eemor\u200b";
  const status = {
    ...GRANTED,
    message: `${HOSTILE}\nNAME   evil`,
    explanation: HOSTILE,
    conditions: [{ ...GRANTED.conditions[0], message: `${HOSTILE}\nReady   True` }],
  };

  test.each([
    ["get", "requests"],
    ["get", "requests", "-o", "wide"],
    ["get", "requests", "-o", "json"],
    ["get", "requests", "-o", "yaml"],
    ["get", "requests", "-o", "name"],
    ["describe", "request", "more"],
    ["describe", "request", "more", "-o", "json"],
    ["explain", "request/more"],
    ["describe", "request", "\u001b[2Jnobody"],
  ])("reach no terminal as they are: %s %s %s %s", async (...args) => {
    const { run } = await rome([
      request("more", { status: JSON.parse(JSON.stringify(status)) as JsonObject }),
    ]);
    const { out, err } = await run(...args);
    // Letters of people and our own arrows and ellipses pass; nothing that a terminal obeys or nobody sees does.
    expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(out).not.toMatch(/^ *(NAME|Ready) {3}(evil|True)$/mu);
    if (args.includes("json") && args[0] === "get") expect(JSON.parse(out)).toMatchObject([{ status }]);
  });

  test("cannot hide anything where there are colours", async () => {
    const { kubeconfig, now } = await rome([
      request("more", { status: JSON.parse(JSON.stringify(status)) as JsonObject }),
    ]);
    const shown = await runCli(["describe", "request", "more"], {
      now,
      env: { KUBECONFIG: kubeconfig },
      isTerminal: true,
    });
    expect(shown.out).toContain("\u001b[33mReserved\u001b[39m");
    // oxlint-disable-next-line no-control-regex -- it is what is looked for
    expect(shown.out).not.toMatch(/\u001b(?!\[(31|32|33|90|39)m)/u);
  });
});
