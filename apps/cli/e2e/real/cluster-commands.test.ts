import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RESERVATION_FINALIZER } from "@resource-broker/contract/crd";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import {
  controlPlaneAssets,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../src/check/finding.ts";
import { type Outcome, runCli } from "../../src/testing/cli.ts";

const START_TIMEOUT_MS = 600_000;
const DEPLOY = join(import.meta.dirname, "../../../../deploy");

describe.skipIf(!controlPlaneAssets().isThere)("commands about one cluster, at a real API server", () => {
  let plane: RealControlPlane;
  let folder: string;
  const now = (): number => Math.round(performance.timeOrigin + performance.now());
  const path = (name: string): string => join(folder, name);
  const as = (who: string, ...args: readonly string[]): Promise<Outcome> =>
    runCli(args, { now, env: { KUBECONFIG: path(who) } });
  const kubectl = async (args: readonly string[], input?: object): Promise<string> => {
    const { exitCode, stdout, stderr } = await plane.kubectl(
      [...args],
      input === undefined ? undefined : JSON.stringify(input),
    );
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const check = async (
    who: string,
    ...flags: readonly string[]
  ): Promise<Readonly<Record<string, Finding>>> => {
    const { out } = await as(who, "check", "--only", "cluster", "-o", "json", ...flags);
    return Object.fromEntries((JSON.parse(out) as Finding[]).map((finding) => [finding.name, finding]));
  };
  const applyKinds = async (): Promise<void> => {
    // Forced, because a test has written to one of them.
    await kubectl(["apply", "--server-side", "--force-conflicts", "-f", `${DEPLOY}/crds`]);
    await until("the server knows the kinds", async () => {
      const { exitCode } = await plane.kubectl(["get", "resourcerequests,reservations,brokerpolicies", "-A"]);
      return exitCode === 0 || undefined;
    });
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "brokerctl-real-"));
    plane = await startControlPlane({ name: "rome" });
    await writeFile(path("admin"), plane.kubeconfig);
    await writeFile(path("stranger"), await plane.kubeconfigFor({ namespace: "default", name: "default" }));
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await plane?.dispose();
    await rm(folder, { recursive: true, force: true });
  }, START_TIMEOUT_MS);

  test("check says that the kinds are missing, and what it says helps", async () => {
    const before = await check("admin");
    expect(before["API server"]?.message).toMatch(/Kubernetes v1\.\d+/u);
    expect(before["CRDs"]).toMatchObject({
      status: "failed",
      remedy: "kubectl apply --server-side -f deploy/crds",
    });
    await applyKinds();
    expect((await check("admin"))["CRDs"]).toMatchObject({
      status: "ok",
      message: "7 kinds installed (the agent's and the broker's)",
    });
  });

  test("check knows the kinds of an older release by the fields they lack", async () => {
    const gone = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/decisionID";
    const name = "crd/resourcerequests.rear.fluidos.eu";
    await kubectl(["patch", name, "--type=json", "-p", JSON.stringify([{ op: "remove", path: gone }])]);
    expect((await check("admin"))["CRDs"]?.message).toContain(
      "ResourceRequest.status.decisionID not known there",
    );
    await applyKinds();
  });

  test("check names the rights that a stranger lacks, and finds none that an agent lacks", async () => {
    const stranger = await check("stranger");
    expect(stranger["rights"]?.message).toContain(
      "may not get, list, watch, create, delete resourcerequests; get, list",
    );
    expect(stranger["CRDs"]).toMatchObject({
      status: "ok",
      message: expect.stringContaining("you may not see"),
    });
    expect((await check("stranger", "--agent"))["rights"]?.message).toContain("may not list, watch nodes");
    await kubectl(["apply", "-f", `${DEPLOY}/rbac/agent.yaml`]);
    const account = { namespace: "rear-agent", name: "resource-broker-agent" };
    await writeFile(path("agent"), await plane.kubeconfigFor(account));
    const rights = await until("the new roles are in force", async () => {
      const found = (await check("agent", "--agent", "-n", "default"))["rights"];
      return found?.status === "ok" ? found : undefined;
    });
    expect(rights.message).toBe("all 24 rights that an agent needs in namespace default");
  });

  test("get and kubectl see the same requests", async () => {
    const { status: _, ...request } = GOOD_OBJECTS["ResourceRequest"] as Record<string, unknown>;
    await kubectl(["create", "namespace", "shop"]);
    await kubectl(["apply", "-f", "-"], request);
    await kubectl(["apply", "-f", "-"], {
      ...request,
      metadata: { name: "two", namespace: "shop", labels: { tier: "gold" } },
    });
    for (const where of [
      [],
      ["-n", "shop"],
      ["-A"],
      ["-A", "-l", "tier=gold"],
      ["-A", "-l", "tier notin (gold)"],
    ]) {
      const { out, err } = await as("admin", "get", "requests", ...where, "-o", "name");
      expect({ out, err }).toEqual({
        out: await kubectl(["get", "resourcerequests", ...where, "-o", "name"]),
        err: "",
      });
    }
    expect((await as("admin", "get", "requests", "-A")).out).toContain("Unseen");
  });

  test("describe shows the events of the very object", async () => {
    const uid = await kubectl(["get", "resourcerequest", "more", "-o", "jsonpath={.metadata.uid}"]);
    await kubectl(["create", "-f", "-"], {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "more.1", namespace: "default" },
      involvedObject: { kind: "ResourceRequest", name: "more", namespace: "default", uid },
      reason: "BrokerUnavailable",
      message: "the broker does not answer",
      type: "Warning",
      lastTimestamp: new Date(now()).toISOString(),
    });
    expect((await as("admin", "describe", "request", "more")).out).toMatch(
      /Warning {3}BrokerUnavailable {3}\d+s +the broker does not answer/u,
    );
  });

  test("somebody without rights ends with status 5 and is told which one is missing", async () => {
    const { code, err } = await as("stranger", "get", "requests");
    expect(code).toBe(5);
    expect(err).toContain("user system:serviceaccount:default:default may not list resourcerequests");
  });

  test("finalizers clear frees a Reservation that nobody releases, and its namespace", async () => {
    await kubectl(["create", "namespace", "left"]);
    const { status: _, ...reservation } = GOOD_OBJECTS["Reservation"] as Record<string, unknown>;
    const metadata = { name: "stuck", namespace: "left", finalizers: [RESERVATION_FINALIZER] };
    await kubectl(["apply", "-f", "-"], { ...reservation, metadata });
    await kubectl(["delete", "reservation", "stuck", "-n", "left", "--wait=false"]);
    expect(await kubectl(["get", "reservation", "stuck", "-n", "left", "-o", "name"])).not.toBe("");
    const { code, err } = await as("admin", "finalizers", "clear", "-n", "left", "--yes");
    expect({ code, err }).toEqual({ code: 0, err: "The finalizer is off 1 Reservation.\n" });
    expect(await kubectl(["get", "reservations", "-n", "left", "-o", "name"])).toBe("");
  });
});
