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
    expect(kinds).toEqual([
      "StatefulSet 1",
      "StatefulSet 2",
      "StatefulSet 3",
      "StatefulSet 1",
      "StatefulSet 1",
    ]);
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
    const enrollment = { enabled: false };
    const values = { views: false, replicas: 3, store, enrollment, crds: { install: false } };
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
    expect(liqo.map((objects) => objects.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 13, 0, 8]);
    const relay = rendered.manifests("an agent that joins, and peers by relay");
    const byLiqoctl = relay.filter(({ metadata }) => /-liqoctl|-liqo-tenant/.test(metadata.name));
    expect(byLiqoctl).toEqual([]);
  });

  test.each([
    { name: "an agent that lends and borrows through Liqo", files: ["agent-liqo"] },
    {
      name: "an agent that joins, and peers by relay",
      files: ["agent-liqo", "agent-relay-requests", "agent-relay"],
    },
  ])("narrows Liqo's rights down for the release's own account: $name", ({ name, files }) => {
    const policies = rendered.manifests(name).filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    const { namespace, release } = releaseOf("agent");
    const account = `system:serviceaccount:${namespace}:${release}`;
    const source = files.flatMap((file) => manifestsIn(read(`deploy/admission/${file}.yaml`)));
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(
      source.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name),
    );
    // The slices of other clusters are nobody's account's.
    for (const { metadata, spec } of policies)
      if (metadata.name !== "liqo-slice-requests.rear.fluidos.eu")
        expect(JSON.stringify(spec)).toContain(`'${account}'`);
  });

  test("an agent with an invitation needs no certificate, nor a mounted Secret", () => {
    const manifests = rendered.manifests("an agent that joins, and peers by relay");
    expect(manifests.filter(({ kind }) => kind === "Certificate")).toEqual([]);
    const workload = workloadIn(manifests);
    expect(workload.spec.template.spec.volumes).toBeUndefined();
    const { args } = containerOf(workload);
    expect(args).toContain("--join-secret=rear-agent/resource-broker-join");
    expect(args.filter((flag) => /^--(cluster-id|broker-url|broker-cert-path)=/.test(flag))).toEqual([]);
  });

  test("an agent keeps its identity in an empty Secret that stays, and may touch that and its invitation only", () => {
    const names = ["resource-broker-agent-identity", "resource-broker-join"];
    const rows = {
      "an agent as it comes": names.slice(0, 1),
      "an agent that joins, and peers by relay": names,
    };
    for (const [variant, resourceNames] of Object.entries(rows)) {
      const manifests = rendered.manifests(variant);
      const [secret] = manifests.filter(({ kind }) => kind === "Secret");
      expect(secret).toMatchObject({
        metadata: { name: names[0], annotations: { "helm.sh/resource-policy": "keep" } },
      });
      expect(secret).not.toHaveProperty("data");
      const role = rolesIn(manifests).get("Role resource-broker-agent-identity");
      expect(role).toMatchObject([{ resources: ["secrets"], resourceNames }]);
    }
    const byObjects = rendered.manifests("an agent through objects, with what watches it");
    expect(byObjects.filter(({ metadata }) => metadata.name.endsWith("-identity"))).toEqual([]);
  });

  test("a broker's admins have an authority of their own, of which it gets nothing but ca.crt", () => {
    const byCertManager = rendered.manifests("a broker as it comes");
    const [asked] = byCertManager.filter(({ metadata }) => metadata.name === "broker-admin-ca");
    expect(asked?.spec).toMatchObject({
      usages: ["digital signature"],
      issuerRef: { name: "liqo-broker-admin-ca-issuer" },
    });
    const rows = {
      "a broker as it comes": "broker-admin-ca",
      "a broker that signs for agents itself": "broker-server-tls",
      "a broker without rights, on a claim that is there": undefined,
    };
    for (const [variant, secretName] of Object.entries(rows)) {
      const workload = workloadIn(rendered.manifests(variant));
      const volume = workload.spec.template.spec.volumes?.find(({ name }) => name === "admin-ca");
      const key = secretName === "broker-admin-ca" ? "ca.crt" : "admin-ca.crt";
      const items = [{ key, path: "ca.crt" }];
      if (secretName === undefined) expect(volume).toBeUndefined();
      else expect(volume).toMatchObject({ secret: { secretName, items } });
      const isTold = containerOf(workload).args.includes("--admin-ca=/etc/broker/admin-ca/ca.crt");
      expect(isTold).toBe(secretName !== undefined);
    }
  });

  test.each([
    ["a broker as it comes", "--enrollment-issuer=ClusterIssuer/liqo-broker-ca-issuer", undefined],
    ["a broker that signs for agents itself", "--enrollment-cert-path=/etc/broker/enrollment", "enrollment"],
    ["a broker without rights, on a claim that is there", undefined, undefined],
    ["a broker that is all objects", undefined, undefined],
  ])("%s has agents signed for by %s", (variant, flag, volume) => {
    const manifests = rendered.manifests(variant);
    const workload = workloadIn(manifests);
    const { args, volumeMounts = [] } = containerOf(workload);
    expect(args.filter((each) => /^--enrollment-(issuer|cert-path)=/.test(each))).toEqual(
      flag === undefined ? [] : [flag],
    );
    // Apart from the ledger, whose backups must not hold a key that signs.
    const mount = volumeMounts.find(({ name }) => name === "enrollment");
    expect(mount?.mountPath).toBe(volume === undefined ? undefined : "/etc/broker/enrollment");
    const mayAsk = rolesIn(manifests).has("Role resource-broker-enrollment");
    expect(mayAsk).toBe(flag?.startsWith("--enrollment-issuer") ?? false);
  });

  test.each([
    { variant: "a broker as it comes", files: ["broker", "broker-enrollment", "people-broker"] },
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
    {
      variant: "an agent that joins, and peers by relay",
      files: ["agent", "agent-identity", "agent-relay"],
    },
  ])("has exactly the rights of deploy/rbac: $variant, $files", ({ files, variant }) => {
    const made = rolesIn(rendered.manifests(variant));
    for (const file of files) {
      const source = rolesIn(manifestsIn(read(`deploy/rbac/${file}.yaml`)));
      for (const [name, rules] of source) expect({ name, rules: made.get(name) }).toEqual({ name, rules });
    }
  });

  test.each([
    { folder: "joining", variant: "a broker as it comes" },
    { folder: "agent", variant: "an agent as it comes" },
  ])("makes what kustomize makes of $folder", async ({ folder, variant }) => {
    const byKustomize = workloadIn(manifestsIn(await kustomize(folder)));
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
