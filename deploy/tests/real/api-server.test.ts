import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlaneAssets, type ProgramResult, until } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../generate/files.ts";
import { type DeployBench, startDeployBench } from "../testing/deploy-bench.ts";
import { chartFolder, whyNoHelm } from "../testing/helm.ts";
import { kustomize, kustomizeFolder } from "../testing/kustomize.ts";
import { manifestsIn, type Workload, workloadIn } from "../testing/objects.ts";
import { type RenderedVariants, renderVariants } from "../testing/rendered-variants.ts";
import { releaseOf, VARIANTS } from "../testing/variants.ts";

const isPossible =
  controlPlaneAssets().isThere && (whyNoHelm() === undefined || process.env["KUBE_REQUIRED"] === "1");

describe.runIf(isPossible)("a real API server", () => {
  let bench: DeployBench;
  let rendered: RenderedVariants;
  beforeAll(async () => {
    rendered = await renderVariants();
    bench = await startDeployBench();
  });
  afterAll(() => bench?.dispose());

  const ROOTS = [
    "broker",
    "agent",
    "joining",
    "certmanager",
    "certmanager/authority",
    "rbac",
    "network-policy",
    "prometheus",
    "samples",
  ];

  const BY_HAND = [
    "agent-liqo",
    "agent-relay",
    "agent-prices",
    "agent-leader-election",
    "broker-store",
    "broker-pods",
  ];

  describe("whose namespaces are restricted, takes", () => {
    test.concurrent.each(ROOTS)("deploy/kustomize/%s without a warning", async (root) => {
      expect(await bench.tryOut(["-k", kustomizeFolder(root)])).toBe("");
    });

    test("the certificate of an agent, and rights that are applied by hand", async () => {
      const files = [
        "kustomize/certmanager/agent-certificate.yaml",
        ...BY_HAND.map((name) => `rbac/${name}.yaml`),
        "admission/agent-relay.yaml",
        "admission/agent-relay-requests.yaml",
      ];
      expect(await bench.tryOut(files.flatMap((file) => ["-f", join(ROOT, "deploy", file)]))).toBe("");
    });

    test.concurrent.each(VARIANTS)("$name without a warning", async ({ name }) => {
      expect(await bench.tryOut(["-f", "-"], rendered.text(name))).toBe("");
    });
  });

  describe("accepts a pod", () => {
    const ACCEPTED = { exitCode: 0, stderr: "" };
    const create = (pod: object): Promise<ProgramResult> =>
      bench.plane.kubectl(["create", "-f", "-"], JSON.stringify(pod));
    const workloadOf = (variant: string): Workload => workloadIn(rendered.manifests(variant));

    beforeAll(() => bench.plane.seed(VARIANTS.map(({ name }) => serviceAccountOf(workloadOf(name)))));

    test.concurrent.each(["broker", "agent"])("of deploy/kustomize/%s", async (root) => {
      const workload = workloadIn(manifestsIn(await kustomize(root)));
      expect(await create(podOf(workload, `kustomize-${root}`))).toMatchObject(ACCEPTED);
    });

    test.concurrent.each(VARIANTS.map(({ name }, index) => ({ name, index })))(
      "of $name",
      async ({ name, index }) => {
        expect(await create(podOf(workloadOf(name), `variant-${index}`))).toMatchObject(ACCEPTED);
      },
    );

    test("and refuses one that is not restricted: these namespaces mean it", async () => {
      const pod = podOf(workloadOf("a broker as it comes"), "loose");
      const { stderr } = await create({ ...pod, spec: { ...pod.spec, securityContext: {} } });
      expect(stderr).toContain('violates PodSecurity "restricted');
    });
  });

  test("has a certificate of an admin made, of which it keeps no key", async () => {
    const folder = await mkdtemp(join(tmpdir(), "admin-"));
    const namespace = "resource-broker-system";
    const there = async (what: string): Promise<string> =>
      (await bench.plane.kubectl(["get", what, "-n", namespace, "-o", "json", "--ignore-not-found"])).stdout;
    const secret = (name: string, data: object) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace },
      stringData: data,
    });
    const run = bench.script("deploy/admin-certificate.sh", ["ops"], folder);
    // Nobody plays cert-manager here but this test.
    const asked = await until(
      "the certificate is asked for",
      async () => (await there("certificate/admin-ops")) || undefined,
    );
    expect(JSON.parse(asked)).toMatchObject({
      spec: {
        commonName: "ops",
        subject: { organizationalUnits: ["broker-admin"] },
        issuerRef: { name: "liqo-broker-admin-ca-issuer" },
      },
    });
    const signed = { "tls.crt": "certificate", "tls.key": "key", "ca.crt": "admins" };
    await bench.plane.seed([
      secret("admin-ops", signed),
      secret("broker-server-tls", { ...signed, "ca.crt": "fleet" }),
    ]);
    const conditions = [{ type: "Ready", status: "True" }];
    const ready = JSON.stringify({ status: { conditions } });
    const patch = ["--subresource=status", "--type=merge", "-p", ready];
    await bench.plane.kubectl(["patch", "certificate", "admin-ops", "-n", namespace, ...patch]);
    await run;
    const files = ["tls.crt", "tls.key", "ca.crt"].map((name) => readFile(join(folder, "ops", name), "utf8"));
    expect(await Promise.all(files)).toEqual(["certificate", "key", "fleet"]);
    expect((await stat(join(folder, "ops/tls.key"))).mode & 0o77).toBe(0);
    expect([await there("certificate/admin-ops"), await there("secret/admin-ops")]).toEqual(["", ""]);
    await bench.plane.kubectl(["delete", "secret", "broker-server-tls", "-n", namespace]);
    await rm(folder, { recursive: true });
  });

  describe("has a release installed", () => {
    test.each([
      { chart: "broker", sets: [], group: "broker.fluidos.eu", kinds: 3 },
      {
        chart: "agent",
        sets: ["--set", "clusterID=rome", "--set", "broker.urls={https://b.example:8443}"],
        group: "rear.fluidos.eu",
        kinds: 4,
      },
    ] as const)(
      "of $chart that says what to do next, and leaves its kinds behind",
      async ({ chart, sets, group, kinds }) => {
        const { namespace } = releaseOf(chart);
        const release = `my-${chart}`;
        // The kinds that the bench has made belong to nobody: helm takes them over only when asked to.
        const own = ["--take-ownership", "-n", namespace, ...sets];
        const installed = await bench.helm(["install", release, chartFolder(chart), ...own]);
        expect(installed).toMatchObject({ exitCode: 0, stderr: "" });
        expect(installed.stdout).toMatch(/Next:[\s\S]+1\. [\s\S]+2\. Check its health[\s\S]+3\. /);
        const gone = await bench.helm(["uninstall", release, "-n", namespace]);
        expect(gone).toMatchObject({ exitCode: 0 });
        expect(gone.stdout).toContain("These resources were kept due to the resource policy");
        const left = await bench.plane.kubectl(["get", "crd", "-o", "name"]);
        // Releases of other names do not take over what this one has left.
        await bench.plane.kubectl(["delete", "secrets", "--all", "-n", namespace]);
        expect(left.stdout.split("\n").filter((name) => name.endsWith(group))).toHaveLength(kinds);
      },
    );

    test("of an agent whose keys no upgrade empties and no uninstall takes", async () => {
      const { namespace } = releaseOf("agent");
      const named = `secret resource-broker-agent-identity -n ${namespace}`.split(" ");
      const own = ["-n", namespace, "--set", "join.existingSecret=invitation,crds.install=false"];
      const done = async (command: string, ...more: string[]): Promise<void> => {
        const chart = command === "uninstall" ? [] : [chartFolder("agent"), ...more];
        const where = command === "uninstall" ? own.slice(0, 2) : own;
        expect(await bench.helm([command, "keeper", ...chart, ...where])).toMatchObject({ exitCode: 0 });
      };
      const keys = async (): Promise<string> =>
        (await bench.plane.kubectl(["get", ...named, "-o", "jsonpath={.data}"])).stdout;
      await done("install");
      const patch = JSON.stringify({ stringData: { "identity.key": "k" } });
      await bench.plane.kubectl(["patch", ...named, "-p", patch]);
      await done("upgrade", "--set", "log.level=debug,commonLabels.team=x");
      expect(await keys()).toContain('"identity.key"');
      await done("uninstall");
      expect(await keys()).toContain('"identity.key"');
      await done("install");
      expect(await keys()).toContain('"identity.key"');
      await done("uninstall");
      await bench.plane.kubectl(["delete", ...named]);
    });

    test("of a broker whose upgrade is refused while the authority of its admins is missing", async () => {
      const { namespace } = releaseOf("broker");
      const own = ["-n", namespace, "--set", "crds.install=false"];
      const run = (command: string, ...more: string[]) =>
        bench.helm([command, "older", chartFolder("broker"), ...own, ...more]);
      const before = await run("install", "--set", "adminCA.enabled=false");
      expect(before).toMatchObject({ exitCode: 0 });
      await bench.plane.kubectl(["create", "secret", "generic", "broker-server-tls", "-n", namespace]);
      const refused = await run("upgrade");
      expect(refused.stderr).toContain("--set adminCA.enabled=false");
      expect(await run("upgrade", "--set", "adminCA.enabled=false")).toMatchObject({ exitCode: 0 });
      await bench.plane.kubectl(["apply", "-k", kustomizeFolder("certmanager/authority")]);
      expect(await run("upgrade")).toMatchObject({ exitCode: 0 });
      await bench.helm(["uninstall", "older", "-n", namespace]);
      await bench.plane.kubectl(["delete", "secret", "broker-server-tls", "-n", namespace]);
    });

    test("by make, which undeploys nothing that cannot be made again", async () => {
      const kubectl = async (...args: string[]): Promise<string> => (await bench.plane.kubectl(args)).stdout;
      const named = (kinds: string): Promise<string> => kubectl("get", kinds, "-A", "-o", "name");
      await bench.make("deploy");
      expect(await named("statefulset,service")).toContain("statefulset.apps/resource-broker\n");
      await bench.make("undeploy");
      expect(await named("statefulset,service,pdb")).not.toContain("/resource-broker\n");
      expect(await named("namespace,serviceaccount,crd")).toMatch(
        /namespace\/resource-broker-system\n[^]*serviceaccount\/resource-broker\n[^]*reservations\.broker/,
      );
    });

    test.each([
      ["with cert-manager in its values", [], "must be in tls.certManager.dnsNames or ipAddresses."],
      [
        "without cert-manager in the certificate that somebody brought",
        [
          "tls.certManager.enabled=false,enrollment.secretName=broker-enrollment",
          "adminCA.existingSecret=broker-server-tls,adminCA.key=admin-ca.crt",
        ],
        "must be in the certificate in Secret broker-server-tls:\n\n     brokerctl certs renew broker --host NAME",
      ],
    ])("that says where the broker's name belongs: %s", async (_, more, says) => {
      const { namespace } = releaseOf("broker");
      const sets = ["service.type=LoadBalancer", "crds.install=false", ...more];
      const args = ["--dry-run=server", "-n", namespace, "--set", sets.join(",")];
      const end = await bench.helm(["install", "named", chartFolder("broker"), ...args]);
      expect(end).toMatchObject({ exitCode: 0, stderr: "" });
      const notes = end.stdout.slice(end.stdout.indexOf("\nNOTES:"));
      expect(notes).toContain(says);
      expect(notes).not.toContain("being installed");
    });

    test("of several replicas that says how to see which one leads", async () => {
      const { namespace } = releaseOf("broker");
      const sets = ["store.type=kubernetes", "replicas=2", "dashboard.enabled=true", "crds.install=false"];
      const args = ["--dry-run=server", "-n", namespace, "--set", sets.join(",")];
      const end = await bench.helm(["install", "several", chartFolder("broker"), ...args]);
      expect(end).toMatchObject({ exitCode: 0, stderr: "" });
      const notes = end.stdout.slice(end.stdout.indexOf("\nNOTES:"));
      const release = "app.kubernetes.io/instance=several";
      const role = "broker.fluidos.eu/role";
      expect(notes).toContain(`kubectl -n ${namespace} get pods -l ${release} -L ${role}\n`);
      expect(notes).toContain(
        `port-forward $(kubectl -n ${namespace} get pods -o name -l ${role}=leader,${release}) 8090`,
      );
    });
  });
});

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
