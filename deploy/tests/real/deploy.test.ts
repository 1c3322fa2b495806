import { join } from "node:path";
import { controlPlaneAssets, type KubectlEnd } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../generate/files.ts";
import {
  type DeployBench,
  deployAssets,
  readRepository,
  releaseOf,
  startDeployBench,
} from "../testing/deploy-bench.ts";
import { containerOf, type Manifest, manifestsIn, type Workload, workloadIn } from "../testing/objects.ts";
import { complaintsOf } from "../testing/settings.ts";
import { VARIANTS, type Variant } from "../testing/variants.ts";

const isPossible =
  controlPlaneAssets().isThere && (deployAssets().isThere || process.env["KUBE_REQUIRED"] === "1");
let bench: DeployBench;
/** Every variant as helm renders it, and what is in it. */
const rendered = new Map<Variant, string>();
const parsed = new Map<string, Manifest[]>();

beforeAll(async () => {
  if (!isPossible) return;
  bench = await startDeployBench();
  for (const variant of VARIANTS) rendered.set(variant, await bench.render(variant));
});
afterAll(() => bench?.dispose());

/** Says of a broker's pod whether it leads. */
const ROLE = "broker.fluidos.eu/role";
const ROOTS = [
  "broker",
  "agent",
  "certmanager",
  "certmanager/authority",
  "rbac",
  "network-policy",
  "prometheus",
  "samples",
];

describe.runIf(isPossible)("a real API server, whose namespaces are restricted, takes", () => {
  test.each(ROOTS)("deploy/kustomize/%s without a warning", async (root) => {
    expect(await bench.tryOut(["-k", join(ROOT, "deploy/kustomize", root)])).toBe("");
  });

  test("the certificate of an agent, and rights that are applied by hand", async () => {
    const files = [
      "kustomize/certmanager/agent-certificate.yaml",
      ...["agent-liqo", "agent-prices", "agent-leader-election", "broker-store", "broker-pods"].map(
        (name) => `rbac/${name}.yaml`,
      ),
    ];
    expect(await bench.tryOut(files.flatMap((file) => ["-f", join(ROOT, "deploy", file)]))).toBe("");
  });

  test.each(VARIANTS)("$name without a warning", async (variant) => {
    expect(await bench.tryOut(["-f", "-"], rendered.get(variant))).toBe("");
  });
});

describe.runIf(isPossible)("a pod is accepted", () => {
  const ACCEPTED = { exitCode: 0, stderr: "" };
  const create = (workload: Workload, name: string): Promise<KubectlEnd> =>
    bench.plane.kubectl(["create", "-f", "-"], JSON.stringify(podOf(workload, name)));

  beforeAll(async () => {
    const accounts = VARIANTS.map((variant) => serviceAccountOf(workloadIn(manifestsOf(variant))));
    await bench.plane.seed(accounts);
  });

  test.each(["broker", "agent"])("of deploy/kustomize/%s", async (root) => {
    const { stdout } = await bench.plane.kubectl(["kustomize", join(ROOT, "deploy/kustomize", root)]);
    expect(await create(workloadIn(manifestsIn(stdout)), `kustomize-${root}`)).toMatchObject(ACCEPTED);
  });

  test.each(VARIANTS.map((variant, index) => ({ ...variant, index })))("of $name", async ({ index }) => {
    expect(await create(workloadIn(manifestsOf(VARIANTS[index])), `variant-${index}`)).toMatchObject(
      ACCEPTED,
    );
  });

  test("and one that is not restricted is refused: these namespaces mean it", async () => {
    const pod = podOf(workloadIn(manifestsOf(VARIANTS[0])), "loose");
    const loose = { ...pod, spec: { ...pod.spec, securityContext: {} } };
    const end = await bench.plane.kubectl(["create", "-f", "-"], JSON.stringify(loose));
    expect(end.stderr).toContain('violates PodSecurity "restricted');
  });
});

describe.runIf(isPossible)("a chart", () => {
  test.each(VARIANTS.filter(({ name }) => name.endsWith("as it comes")))(
    "passes helm lint: $name",
    async (variant) => {
      const args = Object.entries(flat(variant.values)).flatMap(([path, value]) => [
        "--set",
        `${path}=${value}`,
      ]);
      const end = await bench.helm(["lint", "--strict", join(ROOT, "deploy/helm", variant.chart), ...args]);
      expect(end).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("0 chart(s) failed") });
    },
  );

  test.each(VARIANTS)("gives the program flags that it takes: $name", async (variant) => {
    expect(await complaintsOf(containerOf(workloadIn(manifestsOf(variant))))).toEqual([]);
  });

  test("has a leader and others that stand by only where the store is shared", () => {
    const kinds = VARIANTS.filter(({ chart }) => chart === "broker").map((variant) => {
      const { kind, spec } = workloadIn(manifestsOf(variant));
      return `${kind} ${spec.replicas}`;
    });
    expect(kinds).toEqual(["StatefulSet 1", "StatefulSet 2", "StatefulSet 3", "StatefulSet 1"]);
  });

  test.each(VARIANTS.filter(({ chart }) => chart === "broker"))(
    "sends calls to the leader, and asks every pod for what it can be: $name",
    (variant) => {
      const manifests = manifestsOf(variant);
      const workload = workloadIn(manifests);
      const isShared = variant.values["replicas"] !== undefined;
      const { template } = workload.spec;
      const [selector] = manifests
        .filter(({ kind, metadata }) => kind === "Service" && metadata.name === workload.metadata.name)
        .map(({ spec }) => spec?.["selector"] as Record<string, string>);
      const container = containerOf(workload);
      // The pod says of itself which role it has: its template must not.
      expect(template.metadata.labels).not.toHaveProperty([ROLE]);
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
    const manifests = manifestsIn(await bench.render({ name: "without views", chart: "broker", values }));
    const names = ["resource-broker-0", "resource-broker-1", "resource-broker-2"];
    const rule = { apiGroups: [""], resources: ["pods"], resourceNames: names, verbs: ["patch"] };
    expect([...rolesIn(manifests)]).toEqual([["Role resource-broker-pods", [rule]]]);
    const workload = workloadIn(manifests);
    expect(workload.spec.template.spec["automountServiceAccountToken"]).toBe(true);
    expect(containerOf(workload).args).toContain("--views=off");
  });

  test("gives a broker that needs no cluster neither rights nor a token", () => {
    const manifests = manifestsOf(VARIANTS.find(({ name }) => name.startsWith("a broker without rights")));
    expect(manifests.filter(({ kind }) => kind.includes("Role"))).toEqual([]);
    expect(workloadIn(manifests).spec.template.spec["automountServiceAccountToken"]).toBe(false);
  });

  test("gives Liqo's rights only where Liqo is wanted", () => {
    const liqo = VARIANTS.map((variant) =>
      manifestsOf(variant).filter(({ metadata }) => /-liqo/.test(metadata.name)),
    );
    expect(liqo.map((objects) => objects.length)).toEqual([0, 0, 0, 0, 0, 0, 6, 0]);
  });

  test.each([
    { chart: "broker", files: ["broker", "people-broker"], variant: "a broker as it comes" },
    {
      chart: "broker",
      files: ["broker", "broker-store", "broker-agents"],
      variant: "a broker that is all objects",
    },
    {
      chart: "broker",
      files: ["broker", "broker-pods"],
      variant: "a broker on PostgreSQL with everything that watches it",
    },
    { chart: "agent", files: ["agent", "people-rear"], variant: "an agent as it comes" },
    {
      chart: "agent",
      files: ["agent", "agent-leader-election"],
      variant: "an agent through objects, with what watches it",
    },
    {
      chart: "agent",
      files: ["agent", "agent-liqo", "agent-prices"],
      variant: "an agent that lends and borrows through Liqo",
    },
  ])("has exactly the rights of deploy/rbac: $variant, $files", async ({ files, variant }) => {
    const made = rolesIn(manifestsOf(VARIANTS.find(({ name }) => name === variant)));
    for (const file of files) {
      const source = rolesIn(manifestsIn(await readRepository(`deploy/rbac/${file}.yaml`)));
      for (const [name, rules] of source) expect({ name, rules: made.get(name) }).toEqual({ name, rules });
    }
  });

  test.each(["broker", "agent"] as const)("makes of %s what kustomize makes of it", async (chart) => {
    const { stdout } = await bench.plane.kubectl(["kustomize", join(ROOT, "deploy/kustomize", chart)]);
    const byKustomize = workloadIn(manifestsIn(stdout));
    const byHelm = workloadIn(manifestsOf(VARIANTS.find((each) => each.chart === chart)));
    expect([byKustomize.kind, byKustomize.metadata]).toMatchObject([
      byHelm.kind,
      { name: byHelm.metadata.name },
    ]);
    const same = [
      "image",
      "ports",
      "startupProbe",
      "livenessProbe",
      "readinessProbe",
      "resources",
      "securityContext",
      "volumeMounts",
    ];
    const parts = (workload: Workload) => {
      const container = containerOf(workload);
      const { securityContext, serviceAccountName, enableServiceLinks } = workload.spec.template.spec;
      return {
        securityContext,
        serviceAccountName,
        enableServiceLinks,
        ...Object.fromEntries(same.map((name) => [name, container[name]])),
      };
    };
    expect(parts(byKustomize)).toEqual(parts(byHelm));
    const [flags, others] = [byKustomize, byHelm].map((workload) =>
      containerOf(workload).args.map((each) => String(each)),
    );
    expect(flags?.filter((flag) => !others?.includes(flag))).toEqual([]);
  });

  test("names the runbook of each alert where the documents are published", () => {
    const alerts = VARIANTS.flatMap((variant) => manifestsOf(variant))
      .filter(({ kind }) => kind === "PrometheusRule")
      .map(({ spec }) => JSON.stringify(spec));
    expect(alerts).toHaveLength(2);
    for (const text of alerts) {
      expect(text).toContain('"runbook_url":"https://docs.example/resource-broker/docs/runbooks/');
      expect(text).not.toContain('"runbook_url":"docs/');
    }
  });
});

describe.runIf(isPossible)("helm refuses", () => {
  const rome = ["clusterID=rome", "broker.urls={https://b.example:8443}"];
  const wrong: { chart: Variant["chart"]; sets: string[]; names: RegExp }[] = [
    { chart: "broker", sets: ["replica=1"], names: /additional properties 'replica' not allowed/ },
    { chart: "broker", sets: ["image.tagg=x"], names: /\/image.*'tagg' not allowed/ },
    { chart: "broker", sets: ["replicas=2"], names: /\/replicas.*maximum: got 2, want 1/ },
    {
      chart: "broker",
      sets: ["store.type=mysql"],
      names: /\/store\/type.*'sqlite', 'postgres', 'kubernetes'/,
    },
    { chart: "broker", sets: ["store.type=postgres"], names: /\/store\/postgres\/host.*minLength/ },
    { chart: "broker", sets: ["interfaces={kubernetes}", "views=false"], names: /\/views/ },
    { chart: "broker", sets: ["service.port=seven"], names: /\/service\/port.*got string, want integer/ },
    { chart: "broker", sets: ["tls.certManager.duration=1year"], names: /\/tls\/certManager\/duration/ },
    {
      chart: "broker",
      sets: ["podLabels.broker\\.fluidos\\.eu/role=leader"],
      names: /\/podLabels\/broker\.fluidos\.eu.*false schema/,
    },
    {
      chart: "agent",
      sets: [...rome, "commonLabels.helm\\.sh/chart=x"],
      names: /\/commonLabels\/helm\.sh.*false schema/,
    },
    { chart: "agent", sets: [], names: /\/clusterID/ },
    { chart: "agent", sets: [...rome, "clusterID=Rome_1"], names: /\/clusterID.*does not match pattern/ },
    { chart: "agent", sets: ["clusterID=rome"], names: /\/broker\/urls.*minItems/ },
    { chart: "agent", sets: [...rome, "broker.urls={http://b.example}"], names: /\/broker\/urls\/0/ },
    { chart: "agent", sets: [...rome, "liqo.borrow.enabled=true"], names: /\/liqo\/enabled/ },
  ];
  test.each(wrong)("$sets for $chart, and names the value", async ({ chart, sets, names }) => {
    const args = sets.flatMap((each) => ["--set", each]);
    const { exitCode, stderr } = await bench.helm([
      "template",
      "x",
      join(ROOT, "deploy/helm", chart),
      ...args,
    ]);
    expect(exitCode).toBe(1);
    expect(stderr.replaceAll("\n", " ")).toMatch(names);
  });
});

describe.runIf(isPossible)("an installed release", () => {
  test.each(["broker", "agent"] as const)(
    "of %s says what to do next, and leaves its kinds behind",
    async (chart) => {
      const { namespace } = releaseOf(chart);
      const sets =
        chart === "agent" ? ["--set", "clusterID=rome", "--set", "broker.urls={https://b.example:8443}"] : [];
      // The kinds that the bench has made belong to nobody: helm takes them over only when asked to.
      const own = ["--take-ownership", "-n", namespace, ...sets];
      const installed = await bench.helm([
        "install",
        `my-${chart}`,
        join(ROOT, "deploy/helm", chart),
        ...own,
      ]);
      expect(installed).toMatchObject({ exitCode: 0, stderr: "" });
      expect(installed.stdout).toMatch(/Next:[\s\S]+1\. [\s\S]+2\. Is it well\?[\s\S]+3\. /);
      const gone = await bench.helm(["uninstall", `my-${chart}`, "-n", namespace]);
      expect(gone).toMatchObject({ exitCode: 0 });
      expect(gone.stdout).toContain("These resources were kept due to the resource policy");
      const left = await bench.plane.kubectl(["get", "crd", "-o", "name"]);
      const kinds = chart === "broker" ? "broker.fluidos.eu" : "rear.fluidos.eu";
      expect(left.stdout.split("\n").filter((name) => name.endsWith(kinds))).toHaveLength(
        chart === "broker" ? 3 : 4,
      );
    },
  );
});

test.runIf(isPossible)("a release of several replicas says how to see which one leads", async () => {
  const { namespace } = releaseOf("broker");
  const chart = join(ROOT, "deploy/helm/broker");
  const sets = ["store.type=kubernetes", "replicas=2", "dashboard.enabled=true", "crds.install=false"];
  const args = ["--dry-run=server", "-n", namespace, "--set", sets.join(",")];
  const { exitCode, stdout, stderr } = await bench.helm(["install", "several", chart, ...args]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const notes = stdout.slice(stdout.indexOf("\nNOTES:"));
  const release = "app.kubernetes.io/instance=several";
  expect(notes).toContain(`kubectl -n ${namespace} get pods -l ${release} -L ${ROLE}\n`);
  expect(notes).toContain(
    `port-forward $(kubectl -n ${namespace} get pods -o name -l ${ROLE}=leader,${release}) 8090`,
  );
});

function manifestsOf(variant: Variant | undefined): Manifest[] {
  const text = variant === undefined ? undefined : rendered.get(variant);
  if (text === undefined) throw new Error("there is no such variant");
  const manifests = parsed.get(text) ?? manifestsIn(text);
  parsed.set(text, manifests);
  return manifests;
}

function serviceAccountOf({ metadata: { namespace }, spec }: Workload): object {
  const name = spec.template.spec.serviceAccountName;
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
}

/** A pod as the workload's controller would make it. */
function podOf({ metadata: { namespace }, spec }: Workload, name: string) {
  const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  const { metadata, spec: pod } = spec.template;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name, namespace },
    spec: { ...pod, volumes: [...(pod.volumes ?? []), ...claims] },
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

/** `{ a: { b: [1] } }` as `{ "a.b": "{1}" }`: what helm's --set takes. */
function flat(values: Readonly<Record<string, unknown>>, prefix = ""): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(flat(value as Record<string, unknown>, `${prefix}${name}.`))
        : [[`${prefix}${name}`, Array.isArray(value) ? `{${value.join(",")}}` : String(value)]],
    ),
  );
}
