import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { containerOf, type Manifest, manifestsIn, selects, workloadIn } from "./testing/objects.ts";
import { complaintsOf } from "./testing/settings.ts";
import { filesBelow, kustomization, kustomized, read } from "./testing/tree.ts";

const FOLDER = "deploy/kustomize";
const YAML = filesBelow(FOLDER).filter((path) => path.endsWith(".yaml"));
const PROGRAMS = [
  { program: "broker", namespace: "resource-broker-system" },
  { program: "agent", namespace: "rear-agent" },
];
const { version: VERSION } = JSON.parse(read("package.json")) as { version: string };
/** Applied by hand: one for each cluster. */
const BY_HAND = [`${FOLDER}/certmanager/agent-certificate.yaml`];

test("every file is named by the kustomization of its folder", () => {
  const files = YAML.filter((path) => !path.endsWith("/kustomization.yaml") && !BY_HAND.includes(path));
  const forgotten = files.filter(
    (path) => !kustomization(dirname(path)).resources?.includes(path.slice(dirname(path).length + 1)),
  );
  expect(forgotten).toEqual([]);
});

test("no policy lets a whole cluster scrape the metrics", () => {
  const policies = YAML.flatMap((path) => manifestsIn(read(path))).filter(
    ({ kind }) => kind === "NetworkPolicy",
  );
  const scraping = policies.flatMap(({ spec = {} }) => spec["ingress"] as Ingress[]).filter(isForMetrics);
  expect(scraping.map(({ from }) => from)).toEqual([SCRAPERS, SCRAPERS]);
});

interface Ingress {
  readonly ports: readonly { readonly port: string }[];
  readonly from?: unknown;
}
const SCRAPERS = [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }];
const isForMetrics = ({ ports }: Ingress): boolean => ports.some(({ port }) => port === "metrics");

test("an agent's certificate says which cluster it is, for a year", () => {
  const [certificate] = manifestsIn(read(BY_HAND[0] ?? "")).filter(({ kind }) => kind === "Certificate");
  expect(certificate?.spec).toMatchObject({
    secretName: "agent-client-tls",
    commonName: "agent-cluster-1",
    subject: { organizations: ["LiqoResourceBroker"] },
    duration: "8760h",
    renewBefore: "720h",
    usages: ["client auth"],
    issuerRef: { kind: "ClusterIssuer", name: "liqo-broker-ca-issuer" },
  });
});

test.each(["liqo-broker-ca", "liqo-broker-admin-ca"])(
  "the Secret of the authority %s is where cert-manager looks for it, with a key of its own",
  (name) => {
    const objects = kustomized(`${FOLDER}/certmanager`);
    const ca = objects.find(({ metadata }) => metadata.name === name);
    const issuer = objects.find(({ metadata }) => metadata.name === `${name}-issuer`);
    expect(ca?.metadata.namespace).toBe("cert-manager");
    expect(ca?.spec).toMatchObject({ secretName: `${name}-secret`, commonName: name, isCA: true });
    expect(issuer?.spec).toEqual({ ca: { secretName: `${name}-secret` } });
  },
);

test("the agent's keys are made empty, and make undeploy, which goes by a label, leaves them", () => {
  const secret = kustomized(`${FOLDER}/agent`).find(({ kind }) => kind === "Secret");
  expect(secret?.metadata.name).toBe("resource-broker-agent-identity");
  expect(secret).not.toHaveProperty("data");
  expect(secret?.metadata.labels).not.toHaveProperty(["app.kubernetes.io/component"]);
});

describe.each(PROGRAMS)("the $program", ({ program, namespace }) => {
  const objects = kustomized(`${FOLDER}/${program}`);
  const workload = workloadIn(objects);
  const container = containerOf(workload);
  const pod = workload.spec.template;
  const flag = (name: string): string | undefined =>
    container.args.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);

  test("is given flags and variables that it takes", async () => {
    const { configMapGenerator = [] } = kustomization(`${FOLDER}/${program}`);
    const literals = configMapGenerator.flatMap(({ literals: each = [] }) => each);
    const env = Object.fromEntries(
      literals.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
    );
    expect(await complaintsOf(container, env)).toEqual([]);
    expect(container.envFrom?.map(({ configMapRef }) => configMapRef.name) ?? []).toEqual(
      configMapGenerator.map(({ name }) => name),
    );
  });

  test("comes from no registry: whoever installs it names one", () => {
    expect(container.image).toBe(`resource-broker/${program}`);
    const { images = [] } = kustomization(`${FOLDER}/${program}`);
    expect(images).toEqual([{ name: container.image, newTag: VERSION }]);
  });

  test("listens where its ports are", () => {
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(ports["metrics"]).toBe(Number(flag("metrics-bind-address")?.slice(1)));
    expect(ports["probes"]).toBe(Number(flag("health-probe-bind-address")?.slice(1)));
    if (program === "broker") expect(ports["https"]).toBe(Number(flag("http-port")));
    const targets = objects
      .filter(({ kind }) => kind === "Service")
      .flatMap(({ spec }) => portsOf(spec?.["ports"]));
    expect(targets.length).toBeGreaterThan(0);
    expect(targets.filter((target) => !(target in ports))).toEqual([]);
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      expect(container[probe]).toMatchObject({ httpGet: { port: "probes" } });
    }
  });

  test("is what selectors select", () => {
    const folders = [program, `network-policy/${program}`]
      .map((each) => kustomized(`${FOLDER}/${each}`))
      .flat();
    const selectors = folders.flatMap(selectorOf);
    expect(selectors).toHaveLength(program === "broker" ? 5 : 4);
    for (const selector of selectors) expect(selects(selector, pod.metadata.labels)).toBe(true);
  });

  test("is scraped: the ServiceMonitor selects a Service with its port", () => {
    const [monitor] = kustomized(`${FOLDER}/prometheus/${program}`).filter(
      ({ kind }) => kind === "ServiceMonitor",
    );
    const spec = monitor?.spec as { selector: { matchLabels: Record<string, string> }; jobLabel: string };
    const services = objects.filter(
      ({ kind, metadata }) => kind === "Service" && selects(spec.selector.matchLabels, metadata.labels ?? {}),
    );
    expect(services.flatMap((service) => portsOf(service.spec?.["ports"]))).toContain("metrics");
    for (const { metadata } of services) expect(metadata.labels).toHaveProperty([spec.jobLabel]);
  });

  test("keeps its rights where its objects are", () => {
    const own = flag(program === "broker" ? "http-namespace" : "advertisement-namespace");
    const roles = objects.filter(({ kind }) => kind === "Role" || kind === "RoleBinding");
    // Its Secrets are beside it.
    const where = (name: string): string | undefined => (name.endsWith("-identity") ? namespace : own);
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(
      roles.map(({ metadata }) => where(metadata.name)),
    );
    expect(roles.length).toBeGreaterThan(0);
  });

  test("is in its own namespace, which is restricted", () => {
    const [found] = objects.filter(({ kind }) => kind === "Namespace");
    expect(found?.metadata).toEqual({
      name: namespace,
      labels: { "pod-security.kubernetes.io/enforce": "restricted" },
    });
    expect(workload.metadata.namespace).toBe(namespace);
  });
});

function portsOf(ports: unknown): string[] {
  return (ports as readonly { readonly targetPort: string }[]).map(({ targetPort }) => targetPort);
}

/** The labels by which an object finds pods; none where it looks for no pods. */
function selectorOf({ kind, spec = {} }: Manifest): Record<string, string>[] {
  if (kind === "Service") return [spec["selector"] as Record<string, string>];
  const name = kind === "NetworkPolicy" ? "podSelector" : "selector";
  const kinds = ["NetworkPolicy", "PodDisruptionBudget", "Deployment", "StatefulSet"];
  return kinds.includes(kind) ? [(spec[name] as { matchLabels: Record<string, string> }).matchLabels] : [];
}
