import { readFile } from "node:fs/promises";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import type { JsonObject } from "@resource-broker/kube-sim";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { NOWHERE, runCli, startCli } from "../testing/cli.ts";
import { startOneCluster } from "../testing/one-cluster.ts";
import { CommandError } from "../cli/exit-code.ts";
import { checked, type Finding } from "./finding.ts";
import { AGENT_RULES, type Rule } from "./rights.ts";

describe("a cluster", () => {
  test("is in order", async () => {
    const cluster = await startOneCluster(onTestFinished, {});
    cluster.cluster.seed([advertisement(cluster.now(), {})]);
    const { code, out } = await cluster.run("check", "--only", "cluster");
    expect(code).toBe(0);
    expect(out).toContain("✓ CRDs         7 kinds installed (the agent's and the broker's)\n");
    expect(out).toContain("✓ rights       all 14 rights that a person needs in namespace default\n");
    expect(out).toMatch(/✓ agent {8}paris advertised \d+s ago, and the broker accepted it\n/u);
  });

  test.each([
    { name: "no agent", objects: () => [], says: "no agent has advertised this cluster yet" },
    {
      name: "an agent that is gone",
      objects: (now: number) => [advertisement(now - 3_600_000, {})],
      says: "was last seen 60m ago",
    },
    {
      name: "an agent whom the broker refuses",
      objects: (now: number) => [advertisement(now, { published: false, message: "Forbidden" })],
      says: "the broker did not accept its advertisement: Forbidden",
    },
  ])("with $name fails", async ({ objects, says }) => {
    const cluster = await startOneCluster(onTestFinished, {});
    cluster.cluster.seed(objects(cluster.now()));
    const { code, out } = await cluster.run("check", "--only", "cluster", "-o", "json");
    expect(code).toBe(1);
    const message: unknown = expect.stringContaining(says);
    expect(findings(out)["agent"]).toMatchObject({ status: "failed", message });
  });

  test("without our kinds is told what to apply", async () => {
    const { run } = await startOneCluster(onTestFinished, { definitions: [] });
    const { out } = await run("check", "--only", "cluster", "-o", "json");
    expect(findings(out)["CRDs"]).toMatchObject({
      status: "failed",
      message: "Advertisement, ResourceRequest, ReservationInstruction, ProviderInstruction not installed",
      remedy:
        "The charts install them with broker and agent (brokerctl join); without Helm: kubectl apply --server-side -f deploy/crds",
    });
    // In this command --context names the broker.
    expect(findings(out)["agent"]?.message).toContain("is it the cluster you mean (--kube-context)?");
  });

  test("that only hosts a broker is in order, and misses nothing of agents", async () => {
    const kinds = KINDS.filter(({ group }) => group === "broker.fluidos.eu");
    const definitions = kinds.map((kind) => customResourceDefinition(kind));
    const { run } = await startOneCluster(onTestFinished, { definitions });
    const { code, out } = await run("check", "--only", "cluster");
    expect(code).toBe(0);
    expect(out).toContain(`${kinds.length} kinds installed (the broker's)`);
    expect(out).toContain("hosts a broker and no agent");
  });

  test("with the kinds of an older release is told which fields it lacks", async () => {
    const definitions = KINDS.map(
      (kind) => JSON.parse(JSON.stringify(customResourceDefinition(kind)), withoutDecision) as object,
    );
    const { run } = await startOneCluster(onTestFinished, { definitions });
    const { out } = await run("check", "--only", "cluster", "-o", "json");
    expect(findings(out)["CRDs"]?.message).toContain("ResourceRequest.status.decisionID");
  });

  test("that does not answer is one line, and the rest is not tried; one that nobody named is passed over", async () => {
    const cluster = await startOneCluster(onTestFinished, {});
    await cluster.cluster.faults.down();
    const { code, out } = await cluster.run("check", "--only", "cluster", "-o", "json");
    expect(code).toBe(1);
    expect(Object.keys(findings(out))).toEqual(["API server"]);
    const unnamed = await runCli(["check", "-o", "json"], { env: { HOME: "/nowhere" } });
    expect(findings(unnamed.out)["API server"]).toMatchObject({ status: "skipped" });
  });
});

test("a broker that is down is one failed line, and the clusters' authority does not judge an admin", async () => {
  const { ok: certs, path } = await startCli(onTestFinished);
  await certs("init");
  await certs("issue", "ops", "--admin");
  const env = { BROKERCTL_BROKER: NOWHERE, BROKERCTL_CERTS: path("clusters", "ops") };
  const { code, out, err } = await runCli(["check", "--only", "broker", "-o", "json"], { env });
  expect({ code, err }).toEqual({ code: 1, err: "brokerctl: 1 of 5 checks failed\n" });
  const { certificate, "broker TLS": tls, broker } = findings(out);
  expect(certificate).toMatchObject({ status: "ok" });
  expect(tls?.message).toContain("connection refused");
  expect(broker).toEqual({
    name: "broker",
    status: "skipped",
    message: "not checked: there is no connection",
  });
});

test.each([
  { message: "it has expired; renew it\n  It was ops's", says: "it has expired; renew it. It was ops's" },
  { message: "Not there.\nLook again", says: "Not there. Look again" },
  { message: "missing:\n  paris", says: "missing: paris" },
])("a message of several lines is reported in one: $says", async ({ message, says }) => {
  const finding = await checked("broker", () => Promise.reject(new CommandError("error", message)));
  expect(finding).toEqual({ name: "broker", status: "failed", message: says });
});

test("the rights of agents are those of deploy/rbac/agent.yaml", async () => {
  const text = await readFile(new URL("../../../../deploy/rbac/agent.yaml", import.meta.url), "utf8");
  const roles = parseAllDocuments(text)
    .map((document) => document.toJS() as Role)
    .filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
  const rules = roles.flatMap(({ kind, rules }) =>
    rules.map(({ apiGroups: [group = ""], resources, verbs }) => ({
      group,
      resources,
      verbs,
      isInNamespace: kind === "Role",
    })),
  );
  const needed = rules.filter(({ group }) => group !== "metrics.k8s.io");
  expect([...AGENT_RULES].map(sorted).toSorted()).toEqual(needed.map(sorted).toSorted());
});

interface Role {
  readonly kind: string;
  readonly rules: readonly {
    apiGroups: readonly string[];
    resources: readonly string[];
    verbs: readonly string[];
  }[];
}

function sorted({ group, resources, verbs, isInNamespace }: Rule): string {
  return JSON.stringify([group, resources.toSorted(), verbs.toSorted(), isInNamespace]);
}

function findings(out: string): Readonly<Record<string, Finding>> {
  return Object.fromEntries((JSON.parse(out) as Finding[]).map((finding) => [finding.name, finding]));
}

function advertisement(at: number, status: JsonObject): JsonObject {
  const good = GOOD_OBJECTS["Advertisement"] as { readonly spec: JsonObject };
  const spec = { ...good.spec, timestamp: new Date(at).toISOString() };
  return { ...good, spec, status: { phase: "Active", published: true, ...status } };
}

function withoutDecision(key: string, value: unknown): unknown {
  return key === "decisionID" ? undefined : value;
}
