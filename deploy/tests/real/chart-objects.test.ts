import { beforeAll, describe, expect, test } from "vitest";
import { renderChart, whyNoHelm } from "../testing/helm.ts";
import { kustomize, whyNoKubectl } from "../testing/kustomize.ts";
import { containerOf, type Manifest, manifestsIn, type Workload, workloadIn } from "../testing/objects.ts";
import { type RenderedVariants, renderVariants } from "../testing/rendered-variants.ts";
import { complaintsOf } from "../testing/settings.ts";
import { read } from "../testing/tree.ts";
import { releaseOf, VARIANTS } from "../testing/variants.ts";

const missing = whyNoKubectl() ?? whyNoHelm();
const isPossible = missing === undefined || process.env["KUBE_REQUIRED"] === "1";
const BROKERS = VARIANTS.filter(({ chart }) => chart === "broker");
/** Says of a broker's pod whether it leads. */
const ROLE = "broker.fluidos.eu/role";

describe.runIf(isPossible)("a chart", () => {
  let rendered: RenderedVariants;
  beforeAll(async () => {
    rendered = await renderVariants();
  });

  test.each(VARIANTS)("gives the program flags that it takes: $name", async ({ name }) => {
    expect(await complaintsOf(containerOf(workloadIn(rendered.manifests(name))))).toEqual([]);
  });

  test("has a leader and others that stand by only where the store is shared", () => {
    const kinds = BROKERS.map(({ name }) => {
      const { kind, spec } = workloadIn(rendered.manifests(name));
      return `${kind} ${spec.replicas}`;
    });
    expect(kinds).toEqual(["StatefulSet 1", "StatefulSet 2", "StatefulSet 3", "StatefulSet 1"]);
  });

  test.each(BROKERS)(
    "sends calls to the leader, and asks every pod for what it can be: $name",
    ({ name, values }) => {
      const manifests = rendered.manifests(name);
      const workload = workloadIn(manifests);
      const isShared = values["replicas"] !== undefined;
      const [selector] = manifests
        .filter(({ kind, metadata }) => kind === "Service" && metadata.name === workload.metadata.name)
        .map(({ spec }) => spec?.["selector"] as Record<string, string>);
      const container = containerOf(workload);
      // The pod says of itself which role it has: its template must not.
      expect(workload.spec.template.metadata.labels).not.toHaveProperty([ROLE]);
      if (selector !== undefined) expect(selector[ROLE]).toBe(isShared ? "leader" : undefined);
      expect(container["readinessProbe"]).toMatchObject({
        httpGet: { path: isShared ? "/readyz?exclude=leading" : "/readyz" },
      });
      expect(container.args.includes(`--pod-role-label=${ROLE}`)).toBe(isShared);
    },
  );

  test("lets replicas that share a database label themselves, and nothing else", async () => {
    const store = { type: "postgres", postgres: { host: "db.example" } };
    const values = { views: false, replicas: 3, store, crds: { install: false } };
    const manifests = manifestsIn(await renderChart({ ...releaseOf("broker"), chart: "broker", values }));
    const names = ["resource-broker-0", "resource-broker-1", "resource-broker-2"];
    const rule = { apiGroups: [""], resources: ["pods"], resourceNames: names, verbs: ["patch"] };
    expect([...rolesIn(manifests)]).toEqual([["Role resource-broker-pods", [rule]]]);
    const workload = workloadIn(manifests);
    expect(workload.spec.template.spec["automountServiceAccountToken"]).toBe(true);
    expect(containerOf(workload).args).toContain("--views=off");
  });

  test("gives a broker that needs no cluster neither rights nor a token", () => {
    const manifests = rendered.manifests("a broker without rights, on a claim that is there");
    expect(manifests.filter(({ kind }) => kind.includes("Role"))).toEqual([]);
    expect(workloadIn(manifests).spec.template.spec["automountServiceAccountToken"]).toBe(false);
  });

  test("gives Liqo's rights only where Liqo is wanted", () => {
    const liqo = VARIANTS.map(({ name }) =>
      rendered.manifests(name).filter(({ metadata }) => /-liqo/.test(metadata.name)),
    );
    expect(liqo.map((objects) => objects.length)).toEqual([0, 0, 0, 0, 0, 0, 13, 0]);
  });

  test("narrows Liqo's rights down for the release's own account", async () => {
    const name = "an agent that lends and borrows through Liqo";
    const policies = rendered.manifests(name).filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    const { namespace, release } = releaseOf("agent");
    const account = `system:serviceaccount:${namespace}:${release}`;
    const source = manifestsIn(read("deploy/admission/agent-liqo.yaml"));
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(
      source.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name),
    );
    for (const { spec } of policies) expect(JSON.stringify(spec)).toContain(`'${account}'`);
  });

  test.each([
    { variant: "a broker as it comes", files: ["broker", "people-broker"] },
    { variant: "a broker that is all objects", files: ["broker", "broker-store", "broker-agents"] },
    {
      variant: "a broker on PostgreSQL with everything that watches it",
      files: ["broker", "broker-pods"],
    },
    { variant: "an agent as it comes", files: ["agent", "people-rear"] },
    {
      variant: "an agent through objects, with what watches it",
      files: ["agent", "agent-leader-election"],
    },
    {
      variant: "an agent that lends and borrows through Liqo",
      files: ["agent", "agent-liqo", "agent-prices"],
    },
  ])("has exactly the rights of deploy/rbac: $variant, $files", ({ files, variant }) => {
    const made = rolesIn(rendered.manifests(variant));
    for (const file of files) {
      const source = rolesIn(manifestsIn(read(`deploy/rbac/${file}.yaml`)));
      for (const [name, rules] of source) expect({ name, rules: made.get(name) }).toEqual({ name, rules });
    }
  });

  test.each([
    { chart: "broker", variant: "a broker as it comes" },
    { chart: "agent", variant: "an agent as it comes" },
  ])("makes of $chart what kustomize makes of it", async ({ chart, variant }) => {
    const byKustomize = workloadIn(manifestsIn(await kustomize(chart)));
    const byHelm = workloadIn(rendered.manifests(variant));
    expect(sharedParts(byKustomize)).toEqual(sharedParts(byHelm));
    const others = containerOf(byHelm).args.map(String);
    expect(containerOf(byKustomize).args.filter((flag) => !others.includes(String(flag)))).toEqual([]);
  });

  test("names the runbook of each alert where the documents are published", () => {
    const alerts = VARIANTS.flatMap(({ name }) => rendered.manifests(name))
      .filter(({ kind }) => kind === "PrometheusRule")
      .map(({ spec }) => JSON.stringify(spec));
    expect(alerts).toHaveLength(2);
    for (const text of alerts) {
      expect(text).toContain('"runbook_url":"https://docs.example/resource-broker/docs/runbooks/');
      expect(text).not.toContain('"runbook_url":"docs/');
    }
  });
});

/** What must be the same, however it is installed. */
function sharedParts(workload: Workload): object {
  const { image, ports, resources, volumeMounts, ...container } = containerOf(workload);
  const { securityContext, serviceAccountName, enableServiceLinks } = workload.spec.template.spec;
  return {
    kind: workload.kind,
    name: workload.metadata.name,
    pod: { securityContext, serviceAccountName, enableServiceLinks },
    image,
    ports,
    resources,
    volumeMounts,
    securityContext: container["securityContext"],
    probes: [container["startupProbe"], container["livenessProbe"], container["readinessProbe"]],
  };
}

/** Rules by the role's kind and name, for the namespace that kustomize and charts use. */
function rolesIn(manifests: readonly Manifest[]): Map<string, unknown> {
  const roles = manifests.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  return new Map(
    roles.map(({ kind, metadata: { name }, rules }) => [
      `${kind} ${name}`,
      JSON.parse(
        JSON.stringify(rules).replaceAll(
          '"resourceNames":["default"]',
          '"resourceNames":["resource-broker-system"]',
        ),
      ),
    ]),
  );
}
