import { describe, expect, test } from "vitest";
import { type ChartName, renderChart, whyNoHelm } from "../testing/helm.ts";
import { kustomize, whyNoKubectl } from "../testing/kustomize.ts";
import { type Manifest, manifestsIn, workloadIn } from "../testing/objects.ts";
import { releaseOf, VARIANTS } from "../testing/variants.ts";

const missing = whyNoKubectl() ?? whyNoHelm();
const isPossible = missing === undefined || process.env["KUBE_REQUIRED"] === "1";
const CHARTS: readonly { readonly chart: ChartName }[] = [{ chart: "broker" }, { chart: "agent" }];
const ROME = { clusterID: "rome", broker: { urls: ["https://broker.example:8443"] } };
const ON_POSTGRES = { store: { type: "postgres", postgres: { host: "db.example" } } };
const DNS = ["53/UDP", "53/TCP"];
/** A rule without ports: every port of every address. */
const EVERYTHING = "everything";

describe.runIf(isPossible)("the network policy", () => {
  test.each(CHARTS)("lets through what that of kustomize lets through: $chart", async ({ chart }) => {
    const [byHelm, byKustomize] = [policyIn(await rendered(chart)), policyIn(await policyByKustomize(chart))];
    expect(byHelm.ingress).toEqual(byKustomize.ingress);
    expect(byHelm.egress).toEqual(byKustomize.egress);
  });

  test.each(CHARTS)(
    "holds for the pods of its own workload, and for no others: $chart",
    async ({ chart }) => {
      const byHelm = await rendered(chart);
      const byKustomize = [...(await policyByKustomize(chart)), ...manifestsIn(await kustomize(chart))];
      for (const manifests of [byHelm, byKustomize]) {
        const { matchLabels } = workloadIn(manifests).spec.selector;
        expect(matchLabels).toHaveProperty(["app.kubernetes.io/name"]);
        expect(policyIn(manifests)).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
        expect(policyIn(manifests).podSelector).toEqual({ matchLabels });
      }
    },
  );

  test.each(VARIANTS)("opens everything only to an agent that borrows: $name", async ({ chart, values }) => {
    const manifests = await rendered(chart, values);
    const isOpen = JSON.stringify(values).includes('"borrow":{"enabled":true');
    const isMade = manifests.some(({ kind }) => kind === "NetworkPolicy");
    if (isMade) expect(portsIn(manifests).includes(EVERYTHING)).toBe(isOpen);
    else expect(values).toMatchObject({ networkPolicy: { enabled: false } });
  });

  test("opens nothing more to an agent that only lends", async () => {
    const lends = await portsOf("agent", { ...ROME, liqo: { enabled: true } });
    expect(lends).toEqual(await portsOf("agent", ROME));
    const borrows = { enabled: true, borrow: { enabled: true } };
    expect(await portsOf("agent", { ...ROME, liqo: borrows })).toEqual([EVERYTHING]);
  });

  test("opens nothing more to an agent that peers by relay: broker and API server are enough", async () => {
    expect(await portsOf("agent", { ...ROME, liqo: { mode: "relay" } })).toEqual(
      await portsOf("agent", ROME),
    );
  });

  test("lets nobody but those of apiFrom reach API and dashboard", async () => {
    const apiFrom = [{ ipBlock: { cidr: "10.0.0.0/8" } }];
    const values = {
      dashboard: { enabled: true, exposed: true },
      networkPolicy: { apiFrom, metricsFrom: [] },
    };
    expect(policyIn(await rendered("broker", values)).ingress).toEqual([
      { ports: [{ port: "https" }], from: apiFrom },
      { ports: [{ port: "dashboard" }], from: apiFrom },
    ]);
  });

  const API_SERVER = [443, 6443];
  const lists: { chart: ChartName; values: object; name: string; left: (string | number)[] }[] = [
    { chart: "agent", values: ROME, name: "dnsPorts", left: [...API_SERVER, 8443] },
    { chart: "agent", values: ROME, name: "apiServerPorts", left: [...DNS, 8443] },
    { chart: "agent", values: ROME, name: "brokerPorts", left: [...DNS, ...API_SERVER, 8443] },
    { chart: "broker", values: ON_POSTGRES, name: "dnsPorts", left: [...API_SERVER, 5432] },
    { chart: "broker", values: ON_POSTGRES, name: "apiServerPorts", left: [...DNS, 5432] },
    { chart: "broker", values: ON_POSTGRES, name: "databasePorts", left: [...DNS, ...API_SERVER, 5432] },
  ];
  // As YAML has it, a rule whose list of ports is empty opens every port.
  test.each(lists.flatMap((row) => [[], null].map((none) => ({ ...row, none }))))(
    "opens nothing for the empty list $name: $none of $chart",
    async ({ chart, values, name, none, left }) => {
      expect(await portsOf(chart, { ...values, networkPolicy: { [name]: none } })).toEqual(left);
    },
  );

  test("opens nothing at all where every list is empty", async () => {
    const networkPolicy = { dnsPorts: [], apiServerPorts: null, brokerPorts: null, databasePorts: null };
    const { databasePorts: _, ...ofAgent } = networkPolicy;
    const { brokerPorts: __, ...ofBroker } = networkPolicy;
    const byObjects = { clusterID: "rome", broker: { transport: "kubernetes" } };
    expect(await portsOf("agent", { ...byObjects, networkPolicy: ofAgent })).toEqual([]);
    const store = { type: "postgres", postgres: { host: "db.example", port: null } };
    expect(await portsOf("broker", { store, networkPolicy: ofBroker })).toEqual([]);
  });

  // A policy is applied after a Service has replaced its port by that of the pod.
  test.each([
    { row: "a Service with another port", urls: ["https://broker.svc"], ports: [8443, 443] },
    {
      row: "a node's port, and a second address",
      urls: ["https://n:30443", "https://m"],
      ports: [8443, 30443, 443],
    },
    { row: "a proxy in the cluster", urls: ["https://b:8443"], brokerPorts: [10443], ports: [8443, 10443] },
  ])("lets an agent reach the port of the broker's pods, whatever its address says: $row", async (row) => {
    const { urls, brokerPorts = [] } = row;
    const values = { clusterID: "rome", broker: { urls }, networkPolicy: { brokerPorts } };
    expect(await portsOf("agent", values)).toEqual([...DNS, 443, 6443, ...row.ports]);
  });

  test("lets an agent through objects reach the API server of the broker's cluster, and no broker", async () => {
    const values = { clusterID: "rome", broker: { transport: "kubernetes" } };
    const networkPolicy = { apiServerPorts: [6443, 16443] };
    expect(await portsOf("agent", { ...values, networkPolicy })).toEqual([...DNS, 6443, 16443]);
  });

  test("lets the broker reach the pods of a database and of name servers on ports of their own", async () => {
    const store = { type: "postgres", postgres: { host: "db.example", port: 5433 } };
    const networkPolicy = { databasePorts: [6432], dnsPorts: [5353] };
    const ports = await portsOf("broker", { store, networkPolicy });
    expect(ports).toEqual(["5353/UDP", "5353/TCP", 443, 6443, 5433, 6432]);
  });
});

interface Policy {
  readonly podSelector?: object;
  readonly policyTypes?: readonly string[];
  readonly ingress?: readonly object[] | null;
  readonly egress?:
    | readonly {
        readonly ports?: readonly { readonly port?: number | null; readonly protocol?: string }[] | null;
      }[]
    | null;
}

async function rendered(
  chart: ChartName,
  values: object = chart === "agent" ? ROME : {},
): Promise<Manifest[]> {
  return manifestsIn(await renderChart({ ...releaseOf(chart), chart, values }));
}

async function policyByKustomize(chart: ChartName): Promise<Manifest[]> {
  return manifestsIn(await kustomize(`network-policy/${chart}`));
}

function policyIn(manifests: readonly Manifest[]): Policy {
  const [policy, another] = manifests.filter(({ kind }) => kind === "NetworkPolicy");
  if (policy === undefined || another !== undefined)
    throw new Error("there is not exactly one NetworkPolicy");
  return policy.spec ?? {};
}

/** Every port that the pods may reach. */
function portsIn(manifests: readonly Manifest[]): (string | number)[] {
  const rules = policyIn(manifests).egress ?? [];
  return rules.flatMap(({ ports }) => {
    const named = (ports ?? []).map(({ port, protocol }) =>
      protocol === undefined ? (port ?? EVERYTHING) : `${port}/${protocol}`,
    );
    return named.length === 0 ? [EVERYTHING] : named;
  });
}

async function portsOf(chart: ChartName, values: object): Promise<(string | number)[]> {
  return portsIn(await rendered(chart, values));
}
