import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterAdvertisementKind, type Reservation, reservationKind } from "@resource-broker/contract/crd";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { customResource, type KubeClient, SECRETS, SELF_SUBJECT_REVIEWS } from "@resource-broker/kube";
import {
  controlPlaneAssets,
  kubeClientFor,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Outcome, runCli } from "../../src/testing/cli.ts";

const START_TIMEOUT_MS = 600_000;
const DEPLOY = join(import.meta.dirname, "../../../../deploy");
const RESERVATIONS = customResource(reservationKind);
const ADVERTISEMENTS = customResource(clusterAdvertisementKind);

describe.skipIf(!controlPlaneAssets().isThere)("brokerctl kubeconfig issue, at a real API server", () => {
  let plane: RealControlPlane;
  let folder: string;
  const open: KubeClient[] = [];
  const path = (name: string): string => join(folder, name);
  const now = (): number => Math.round(performance.timeOrigin + performance.now());
  const issue = (...args: readonly string[]): Promise<Outcome> =>
    runCli(["kubeconfig", "issue", ...args, "-n", "lab"], { now, env: { KUBECONFIG: path("admin") } });
  const done = async (...args: readonly string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  };
  const holderOf = async (file: string): Promise<KubeClient> => {
    const client = kubeClientFor(JSON.stringify(parse(await readFile(file, "utf8"))));
    open.push(client);
    return client;
  };
  const whoAmI = async (client: KubeClient): Promise<string | undefined> =>
    (await client.create(SELF_SUBJECT_REVIEWS, {})).status?.userInfo?.username;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "brokerctl-real-"));
    plane = await startControlPlane({ name: "hub" });
    await writeFile(path("admin"), plane.kubeconfig);
    await done("create", "namespace", "lab");
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await plane?.dispose();
    await rm(folder, { recursive: true, force: true });
  }, START_TIMEOUT_MS);
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });

  test("each thing that is missing is named, one after the other, with the command that helps", async () => {
    const commands: string[] = [];
    for (let left = 4; left > 0; left -= 1) {
      const { code, err } = await issue("oslo", "--out", path("oslo.yaml"));
      const [, command] = /kubectl (apply [^(]*?\.yaml|apply --server-side -f deploy\/crds)/.exec(err) ?? [];
      if (command === undefined) {
        expect(code).toBe(0);
        break;
      }
      commands.push(command);
      await done(...command.replace("deploy/", `${DEPLOY}/`).split(" "));
      await until("the server knows it", async () => {
        const { exitCode } = await plane.kubectl(["get", "reservations", "-n", "lab"]);
        return exitCode === 0 || undefined;
      });
    }
    expect(commands).toEqual([
      "apply --server-side -f deploy/crds",
      "apply -n lab -f deploy/rbac/broker-agents.yaml",
      "apply -f deploy/admission/agent-writes.yaml",
    ]);
  });

  test("its holder is that cluster's agent: it publishes and asks for itself, and for nobody else", async () => {
    await issue("rome", "--out", path("rome.yaml"));
    const rome = await holderOf(path("rome.yaml"));
    expect(await whoAmI(rome)).toBe("system:serviceaccount:lab:agent-rome");
    const reservationOf = (requesterID: string): Reservation => ({
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "Reservation",
      metadata: { name: `wish-of-${requesterID}`, namespace: "lab" },
      spec: { requesterID, requestedResources: { cpu: "1", memory: "1Gi" } },
    });
    await until("the server goes by the new binding and the new rules", async () => {
      await rome.list(RESERVATIONS, { namespace: "lab" }, () => undefined);
      const result = await rome
        .create(RESERVATIONS, reservationOf("oslo"), { dryRun: true })
        .then(String, String);
      return result.includes("agents-reserve") || undefined;
    });
    await rome.create(RESERVATIONS, reservationOf("rome"));
    await expect(rome.create(RESERVATIONS, reservationOf("paris"))).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("agent rome may ask only for itself"),
    });
    await expect(rome.list(RESERVATIONS, { namespace: "default" }, () => undefined)).rejects.toMatchObject({
      code: "forbidden",
    });
    await expect(rome.get(SECRETS, { name: "x", namespace: "lab" })).rejects.toMatchObject({
      code: "forbidden",
    });
    const paris = {
      ...GOOD_OBJECTS["ClusterAdvertisement"],
      metadata: { name: "paris-adv", namespace: "lab" },
    };
    const refusal = await until("the rules about advertisements are in force, too", async () => {
      const result = await rome.create<unknown>(ADVERTISEMENTS, paris, { dryRun: true }).then(String, String);
      return result.includes("agents-advertise") ? result : undefined;
    });
    expect(refusal).toContain("agent rome may write only its own ClusterAdvertisement");
  });

  test("kubectl takes the file as it is", async () => {
    await issue("rome", "--out", path("rome.yaml"));
    const { stdout } = await plane.kubectl([
      "--kubeconfig",
      path("rome.yaml"),
      "auth",
      "whoami",
      "-o",
      "json",
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      status: { userInfo: { username: "system:serviceaccount:lab:agent-rome" } },
    });
    const listed = await plane.kubectl(["--kubeconfig", path("rome.yaml"), "get", "reservations"]);
    expect(listed.exitCode).toBe(0);
    const { stderr } = await plane.kubectl(
      ["--kubeconfig", path("rome.yaml"), "create", "-f", "-"],
      JSON.stringify({
        ...GOOD_OBJECTS["Reservation"],
        metadata: { name: "for-paris" },
        spec: { requesterID: "paris", requestedResources: { cpu: "1", memory: "1Gi" } },
      }),
    );
    // As docs/kubernetes-access.md shows it.
    expect(stderr).toMatch(
      /^Error from server \(Forbidden\): error when creating .*: reservations\.broker\.fluidos\.eu "for-paris" is forbidden: ValidatingAdmissionPolicy 'agents-reserve\.broker\.fluidos\.eu' with binding 'agents-reserve\.broker\.fluidos\.eu' denied request: agent rome may ask only for itself: spec\.requesterID must be rome\n$/,
    );
  });

  test("a long-lived token stays the same, and ends with --revoke like all others", async () => {
    await issue("paris", "--out", path("short.yaml"));
    const flags = ["--long-lived", "--out", path("long.yaml"), "-o", "json"];
    const { out } = await issue("paris", ...flags);
    expect(JSON.parse(out)).toMatchObject({ expiresAt: null });
    const first = await readFile(path("long.yaml"), "utf8");
    await issue("paris", ...flags);
    expect(await readFile(path("long.yaml"), "utf8")).toBe(first);
    const holders = [await holderOf(path("short.yaml")), await holderOf(path("long.yaml"))];
    for (const holder of holders) expect(await whoAmI(holder)).toContain("agent-paris");
    const revoked = await issue("paris", "--revoke", "-o", "name");
    expect(revoked.out).toBe(
      "RoleBinding/agent-paris\nSecret/agent-paris-token\nServiceAccount/agent-paris\n",
    );
    for (const holder of holders) {
      await until("the token is refused", async () =>
        whoAmI(holder).then(
          () => undefined,
          (error: { code?: string }) => (error.code === "unauthenticated" ? true : undefined),
        ),
      );
    }
  });

  test("somebody without rights is told which one is missing", async () => {
    await writeFile(path("limited"), await plane.kubeconfigFor({ namespace: "lab", name: "default" }));
    const { code, err } = await issue("rome", "--kubeconfig", path("limited"));
    expect(code).toBe(5);
    expect(err).toContain("user system:serviceaccount:lab:default may not get roles");
  });

  test("a namespace that is not there is named", async () => {
    const args = ["kubeconfig", "issue", "rome", "-n", "nowhere", "--kubeconfig", path("admin")];
    expect(await runCli(args, { now })).toMatchObject({ code: 1, err: expect.stringContaining("nowhere") });
  });
});
