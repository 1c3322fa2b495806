import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  clusterAdvertisementKind,
  RESERVATION_FINALIZER,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
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
import type { Finding } from "../../src/check/finding.ts";
import { type Outcome, runCli } from "../../src/testing/cli.ts";

const START_TIMEOUT_MS = 600_000;
const DEPLOY = join(import.meta.dirname, "../../../../deploy");
const RESERVATIONS = customResource(reservationKind);
const ADVERTISEMENTS = customResource(clusterAdvertisementKind);

describe.skipIf(!controlPlaneAssets().isThere)("brokerctl at a real API server", () => {
  let plane: RealControlPlane;
  let folder: string;
  const open: KubeClient[] = [];
  const path = (name: string): string => join(folder, name);
  const now = (): number => Math.round(performance.timeOrigin + performance.now());
  const as = (who: string, line: string): Promise<Outcome> =>
    runCli(line.split(" "), { now, env: { KUBECONFIG: path(who) } });
  const issue = (line: string): Promise<Outcome> => as("admin", `kubeconfig issue ${line} -n lab`);
  const kubectl = async (line: string, input?: object): Promise<string> => {
    const text = input === undefined ? undefined : JSON.stringify(input);
    const { exitCode, stdout, stderr } = await plane.kubectl(line.split(" "), text);
    if (exitCode !== 0) throw new Error(`kubectl ${line}: ${stderr}`);
    return stdout;
  };
  const check = async (who: string, flags = ""): Promise<Readonly<Record<string, Finding>>> => {
    const { out } = await as(who, `check --only cluster -o json${flags}`);
    return Object.fromEntries((JSON.parse(out) as Finding[]).map((finding) => [finding.name, finding]));
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
    await writeFile(path("stranger"), await plane.kubeconfigFor({ namespace: "default", name: "default" }));
    for (const name of ["lab", "shop", "left"]) await kubectl(`create namespace ${name}`);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await plane?.dispose();
    await rm(folder, { recursive: true, force: true });
  }, START_TIMEOUT_MS);
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });

  test("each thing that is missing is named, one after the other, with the command that helps", async () => {
    expect((await check("admin"))["CRDs"]).toMatchObject({ status: "failed" });
    const commands: string[] = [];
    for (let left = 4; left > 0; left -= 1) {
      const { code, err } = await issue(`oslo --out ${path("oslo.yaml")}`);
      const [, command] = /kubectl (apply [^(]*?\.yaml|apply --server-side -f deploy\/crds)/.exec(err) ?? [];
      if (command === undefined) {
        expect(code).toBe(0);
        break;
      }
      commands.push(command);
      await kubectl(command.replace("deploy/", `${DEPLOY}/`));
      await until("the server knows it", async () => {
        const { exitCode } = await plane.kubectl([
          "get",
          "resourcerequests,reservations,brokerpolicies",
          "-A",
        ]);
        return exitCode === 0 || undefined;
      });
    }
    expect(commands).toEqual([
      "apply --server-side -f deploy/crds",
      "apply -n lab -f deploy/rbac/broker-agents.yaml",
      "apply -f deploy/admission/agent-writes.yaml",
    ]);
    const message = "7 kinds installed (the agent's and the broker's)";
    expect((await check("admin"))["CRDs"]).toMatchObject({ status: "ok", message });
  });

  test("a kubeconfig's holder is that cluster's agent: it publishes and asks for itself, and for nobody else", async () => {
    await issue(`rome --out ${path("rome.yaml")}`);
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
      const dryRun = rome.create(RESERVATIONS, reservationOf("oslo"), { dryRun: true });
      return (await dryRun.then(String, String)).includes("agents-reserve") || undefined;
    });
    await rome.create(RESERVATIONS, reservationOf("rome"));
    const forbidden = { code: "forbidden" };
    await expect(rome.create(RESERVATIONS, reservationOf("paris"))).rejects.toMatchObject({
      ...forbidden,
      message: expect.stringContaining("agent rome may ask only for itself"),
    });
    const elsewhere = rome.list(RESERVATIONS, { namespace: "default" }, () => undefined);
    await expect(elsewhere).rejects.toMatchObject(forbidden);
    await expect(rome.get(SECRETS, { name: "x", namespace: "lab" })).rejects.toMatchObject(forbidden);
    const metadata = { name: "paris-adv", namespace: "lab" };
    const paris = { ...GOOD_OBJECTS["ClusterAdvertisement"], metadata };
    const refusal = await until("the rules about advertisements are in force, too", async () => {
      const result = await rome.create<unknown>(ADVERTISEMENTS, paris, { dryRun: true }).then(String, String);
      return result.includes("agents-advertise") ? result : undefined;
    });
    expect(refusal).toContain("agent rome may write only its own ClusterAdvertisement");
  });

  test("kubectl takes the kubeconfig as it is", async () => {
    const flag = `--kubeconfig ${path("rome.yaml")}`;
    const username = "system:serviceaccount:lab:agent-rome";
    const self: unknown = JSON.parse(await kubectl(`${flag} auth whoami -o json`));
    expect(self).toMatchObject({ status: { userInfo: { username } } });
    await kubectl(`${flag} get reservations`);
    const spec = { requesterID: "paris", requestedResources: { cpu: "1", memory: "1Gi" } };
    const foreign = { ...GOOD_OBJECTS["Reservation"], metadata: { name: "for-paris" }, spec };
    // As docs/kubernetes-access.md shows it.
    await expect(kubectl(`${flag} create -f -`, foreign)).rejects.toThrow(
      /Error from server \(Forbidden\): error when creating .*: reservations\.broker\.fluidos\.eu "for-paris" is forbidden: ValidatingAdmissionPolicy 'agents-reserve\.broker\.fluidos\.eu' with binding 'agents-reserve\.broker\.fluidos\.eu' denied request: agent rome may ask only for itself: spec\.requesterID must be rome\n$/,
    );
  });

  test("a long-lived token stays the same, and ends with --revoke like all others", async () => {
    await issue(`paris --out ${path("short.yaml")}`);
    const line = `paris --long-lived --out ${path("long.yaml")} -o json`;
    expect(JSON.parse((await issue(line)).out)).toMatchObject({ expiresAt: null });
    const first = await readFile(path("long.yaml"), "utf8");
    await issue(line);
    expect(await readFile(path("long.yaml"), "utf8")).toBe(first);
    const holders = [await holderOf(path("short.yaml")), await holderOf(path("long.yaml"))];
    for (const holder of holders) expect(await whoAmI(holder)).toContain("agent-paris");
    const removed = "RoleBinding/agent-paris\nSecret/agent-paris-token\nServiceAccount/agent-paris\n";
    expect((await issue("paris --revoke -o name")).out).toBe(removed);
    const isRefused = (error: { code?: string }) => (error.code === "unauthenticated" ? true : undefined);
    for (const holder of holders)
      await until("the token is refused", async () => whoAmI(holder).then(() => undefined, isRefused));
  });

  test("check names the rights that a stranger lacks, and finds none that an agent lacks", async () => {
    const stranger = await check("stranger");
    const lacks = "may not get, list, watch, create, delete resourcerequests; get, list";
    expect(stranger["rights"]?.message).toContain(lacks);
    const message: unknown = expect.stringContaining("you may not see");
    expect(stranger["CRDs"]).toMatchObject({ status: "ok", message });
    expect((await check("stranger", " --agent"))["rights"]?.message).toContain("may not list, watch nodes");
    await kubectl(`apply -f ${DEPLOY}/rbac/agent.yaml`);
    const account = { namespace: "rear-agent", name: "resource-broker-agent" };
    await writeFile(path("agent"), await plane.kubeconfigFor(account));
    const rights = await until("the new roles are in force", async () => {
      const found = (await check("agent", " --agent -n default"))["rights"];
      return found?.status === "ok" ? found : undefined;
    });
    expect(rights.message).toBe("all 24 rights that an agent needs in namespace default");
  });

  test.each([
    ["stranger", "get requests", 5, "default:default may not list resourcerequests"],
    ["stranger", "kubeconfig issue rome -n lab", 5, "default:default may not get roles"],
    ["admin", "kubeconfig issue rome -n nowhere", 1, "nowhere"],
  ])("%s: %s ends with %i and says what is missing", async (who, line, code, says) => {
    expect(await as(who, line)).toMatchObject({ code, err: expect.stringContaining(says) });
  });

  test("get and kubectl see the same requests", async () => {
    const { status: _, ...request } = GOOD_OBJECTS["ResourceRequest"] as Record<string, unknown>;
    await kubectl("apply -f -", request);
    const metadata = { name: "two", namespace: "shop", labels: { tier: "gold" } };
    await kubectl("apply -f -", { ...request, metadata });
    for (const where of ["", " -n shop", " -A", " -A -l tier=gold", " -A -l tier!=gold"]) {
      const { out, err } = await as("admin", `get requests${where} -o name`);
      expect({ out, err }).toEqual({ out: await kubectl(`get resourcerequests${where} -o name`), err: "" });
    }
    expect((await as("admin", "get requests -A")).out).toContain("Unseen");
  });

  test("finalizers clear frees a Reservation that nobody releases", async () => {
    const { status: _, ...reservation } = GOOD_OBJECTS["Reservation"] as Record<string, unknown>;
    const metadata = { name: "stuck", namespace: "left", finalizers: [RESERVATION_FINALIZER] };
    await kubectl("apply -f -", { ...reservation, metadata });
    await kubectl("delete reservation stuck -n left --wait=false");
    expect(await kubectl("get reservation stuck -n left -o name")).not.toBe("");
    const { code, err } = await as("admin", "finalizers clear -n left --yes");
    expect({ code, err }).toEqual({ code: 0, err: "The finalizer is off 1 Reservation.\n" });
    expect(await kubectl("get reservations -n left -o name")).toBe("");
  });
});
