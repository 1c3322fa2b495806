import { join } from "node:path";
import { controlPlaneAssets, type ProgramResult } from "@resource-broker/testkit";
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
    "certmanager",
    "certmanager/authority",
    "rbac",
    "network-policy",
    "prometheus",
    "samples",
  ];

  describe("whose namespaces are restricted, takes", () => {
    test.concurrent.each(ROOTS)("deploy/kustomize/%s without a warning", async (root) => {
      expect(await bench.tryOut(["-k", kustomizeFolder(root)])).toBe("");
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
        expect(left.stdout.split("\n").filter((name) => name.endsWith(group))).toHaveLength(kinds);
      },
    );

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
