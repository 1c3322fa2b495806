import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { controlPlaneAssets, type RealControlPlane, until } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../generate/files.ts";
import { whyNoHelm } from "../testing/helm.ts";
import { HELM_NAMESPACE, install, type Site, startSite } from "./testing/installed/installation.ts";
import { type Installed, overHttp, throughObjects } from "./testing/installed/installed.ts";
import { kubectl } from "./testing/installed/kubectl.ts";
import type { Manifests } from "./testing/installed/manifests.ts";
import type { Pod } from "./testing/installed/pod.ts";
import { brokerKustomization } from "./testing/installed/render.ts";
import { whyNoSandbox } from "./testing/installed/sandbox.ts";

const START_TIMEOUT_MS = 240_000;
/** A busy machine is no failure. */
const CONVERGENCE = "--timeout=60s";
const assets = controlPlaneAssets();
const missing = (assets.isThere ? undefined : assets.why) ?? whyNoHelm() ?? (await whyNoSandbox());
if (missing !== undefined) process.stderr.write(`NOT TESTED: what is installed: ${missing}\n`);

const run = promisify(execFile);
const SAMPLES = join(ROOT, "deploy/kustomize/samples/agent");
const isMakeThere = await run("make", ["--version"]).then(
  () => true,
  () => false,
);

interface Variant {
  readonly name: string;
  /** Its port. Undefined: it is off. */
  readonly dashboard?: number;
  readonly start: (site: Site) => Promise<Installed>;
}

const VARIANTS: readonly Variant[] = [
  { name: "kustomize, over HTTPS, with the ledger on a volume", start: overHttp },
  {
    name: "helm, through objects, with the ledger in the cluster and one that stands by",
    start: throughObjects,
    dashboard: 8090,
  },
];

describe.skipIf(missing !== undefined)("what is installed", { timeout: START_TIMEOUT_MS }, () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  }, START_TIMEOUT_MS);
  afterAll(() => site?.dispose(), START_TIMEOUT_MS);

  test("a broker whose volumes are not its group's says what it cannot open, and ends", async () => {
    const { rome } = site;
    const pod = await install(site, {
      name: "resource-broker-0",
      program: "broker",
      plane: rome,
      manifests: withoutGroup(await brokerKustomization()),
    });
    try {
      await until("it has ended", async () => !pod.isRunning() || undefined);
      expect(await pod.logLines()).toEqual([
        expect.stringMatching(/^broker: \/var\/lib\/broker\/\S+ it cannot be opened; .* must .*be writable/),
      ]);
    } finally {
      await pod.dispose();
    }
  });

  describe.each(VARIANTS)("by $name", ({ start, dashboard }) => {
    let pods: readonly Pod[];
    let installed: Installed;

    beforeAll(async () => {
      installed = await start(site);
      pods = [...installed.brokers, ...installed.agents];
      for (const pod of pods) await pod.ready();
    }, START_TIMEOUT_MS);
    afterAll(async () => {
      for (const pod of pods ?? []) await pod.dispose();
    });

    /** By whoever leads at that moment. */
    const untilLent = (count: string) =>
      until(
        `${count} reservations are live`,
        async () => (await live(await installed.leader())) === count || undefined,
      );

    test("is ready and alive", async () => {
      for (const pod of pods) {
        expect(await pod.probe(pod.plan.readiness)).toBe(200);
        expect(await pod.probe(pod.plan.liveness)).toBe(200);
      }
    });

    test("runs as 65532 without any right, and can write nothing but its volumes", async () => {
      for (const pod of pods) {
        const status = await pod.status();
        expect(status.get("Uid")).toBe("65532\t65532\t65532\t65532");
        expect(status.get("Gid")).toBe("65532\t65532\t65532\t65532");
        expect([status.get("CapEff"), status.get("NoNewPrivs")]).toEqual(["0000000000000000", "1"]);
        const volumes = pod.plan.mounts.filter(({ isReadOnly }) => !isReadOnly);
        expect(await pod.writable()).toEqual(volumes.map(({ path }) => path));
      }
    });

    test("lends and borrows, remembers it, and gives it back", async () => {
      const { rome, paris } = site;
      await kubectl(rome, `apply -k ${SAMPLES}`);
      await kubectl(rome, `wait resourcerequest/more --for=jsonpath={.status.phase}=Active ${CONVERGENCE}`);
      const id = await kubectl(rome, "get resourcerequest more -o jsonpath={.status.reservationName}");
      expect(await kubectl(rome, `get reservationinstruction ${id} -o jsonpath={.spec.message}`)).toBe(
        "Use paris for 4 CPU / 8Gi Memory",
      );
      const held = `providerinstruction/${id}-provider`;
      await kubectl(paris, `wait ${held} --for=jsonpath={.status.enforced}=true ${CONVERGENCE}`);

      const broker = await installed.leader();
      expect(await broker.stop()).toBe(0);
      await broker.restart();
      await broker.ready();
      await untilLent("1");

      await kubectl(rome, "delete resourcerequest more");
      await kubectl(rome, `wait reservationinstruction/${id} --for=delete ${CONVERGENCE}`);
      await kubectl(paris, `wait ${held} --for=delete ${CONVERGENCE}`);
      await untilLent("0");
    });

    test("is led by another one when the leader dies, if there is one", async () => {
      const { brokers, leader } = installed;
      const first = await leader();
      await first.kill();
      if (brokers.length > 1) {
        const next = await until("another one leads", async () => {
          const found = await leader();
          return found === first ? undefined : found;
        });
        expect(await next.probe({ ...next.plan.readiness, path: "/readyz" })).toBe(200);
        const { name, namespace } = first.plan;
        const role = `get pod ${name} -n ${namespace} -o jsonpath={.metadata.labels.broker\\.fluidos\\.eu/role}`;
        const isSeen = async () => (await kubectl(site.rome, role)) === "standby" || undefined;
        await until("the dead one no longer counts as the leader", isSeen);
      }
      await first.restart();
      for (const broker of brokers) await broker.ready();
      await untilLent("0");
    });

    test("shows the dashboard where it is asked to, and nowhere else", async () => {
      const broker = await installed.leader();
      const port = broker.plan.ports.get("dashboard");
      expect(port).toBe(dashboard);
      if (port === undefined) return;
      const name = `broker-resource-broker.${HELM_NAMESPACE}.svc`;
      const asked = get({
        host: broker.address,
        port,
        servername: name,
        ca: site.authority.ca.cert,
        headers: { host: `${name}:${port}` },
      });
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      expect(response.statusCode).toBe(200);
      expect(await text(response)).toContain("<html");
    });

    test("has all the rights it needs", async () => {
      for (const pod of pods) {
        const lines = await pod.logLines();
        expect(
          lines.filter((line) => /may not|forbidden/i.test(line) && !line.includes("Liqo is not detected")),
        ).toEqual([]);
      }
    });

    test("stays below its memory limit", async () => {
      for (const pod of pods) {
        const peakKiB = Number.parseInt((await pod.status()).get("VmHWM") ?? "", 10);
        expect(peakKiB * 1024).toBeLessThan(bytes(pod.plan.memoryLimit));
      }
    });

    test("ends when it is asked to", async () => {
      for (const pod of [...pods].reverse()) {
        const code = await pod.stop();
        expect({ code, log: (await pod.logLines()).slice(-5) }).toMatchObject({ code: 0 });
      }
    });
  });

  test.skipIf(!isMakeThere)("make deploys, and undeploys nothing that cannot be made again", async () => {
    const { paris } = site;
    const names = async (kinds: string): Promise<string> => kubectl(paris, `get ${kinds} -A -o name`);
    await make(site, paris, "install", "deploy");
    expect(await names("statefulset,service")).toContain("statefulset.apps/resource-broker\n");
    await make(site, paris, "undeploy");
    expect(await names("statefulset,service,pdb")).not.toContain("/resource-broker\n");
    expect(await names("namespace,serviceaccount,crd")).toMatch(
      /namespace\/resource-broker-system\n[^]*serviceaccount\/resource-broker\n[^]*reservations\.broker/,
    );
    await make(site, paris, "uninstall");
    // API servers take their time to remove definitions that are only moments old.
    const crds = JSON.parse(await kubectl(paris, "get crd -o json")) as {
      readonly items: readonly { readonly metadata: { name: string; deletionTimestamp?: string } }[];
    };
    const kept = crds.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(kept.map(({ metadata }) => metadata.name).filter((name) => name.endsWith("fluidos.eu"))).toEqual(
      [],
    );
  });
});

/** Runs targets of the Makefile against this cluster, one after the other. */
async function make({ directory }: Site, plane: RealControlPlane, ...targets: string[]): Promise<string> {
  const file = join(directory, "make.kubeconfig");
  await writeFile(file, plane.kubeconfig, { mode: 0o600 });
  const kubectlPath = assets.isThere ? assets.pathOf("kubectl") : "kubectl";
  const words = ["-C", ROOT, ...targets, `KUBECTL=${kubectlPath} --kubeconfig ${file}`];
  return (await run("make", words)).stdout;
}

/** As if somebody had taken fsGroup out of the pod: then volumes stay root's. */
function withoutGroup({ workload, ...manifests }: Manifests): Manifests {
  const { template } = workload.spec;
  const { fsGroup: _, ...securityContext } = template.spec.securityContext ?? {};
  const spec = { ...workload.spec, template: { ...template, spec: { ...template.spec, securityContext } } };
  return { ...manifests, workload: { ...workload, spec } };
}

async function live(broker: Pod): Promise<string | undefined> {
  return /^broker_live_reservations (\S+)$/m.exec(await broker.page("metrics", "/metrics"))?.[1];
}

const UNITS: Readonly<Record<string, number>> = { Mi: 2 ** 20, Gi: 2 ** 30 };

function bytes(quantity = ""): number {
  return Number.parseInt(quantity, 10) * (UNITS[quantity.slice(-2)] ?? Number.NaN);
}
