import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MOST_BYTES = 64 << 20;
const IMAGES = ["resource-broker/broker:0.1.0", "resource-broker/agent:0.1.0"];
/** A shell, for pods that look at the network from inside. */
export const SHELL_IMAGE = "resource-broker-kind/busybox:latest";

interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program prints; throws what it complains about. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { stdin = "", env = {} } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { env: { ...process.env, ...env }, maxBuffer: MOST_BYTES },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${program} ${args.join(" ")}: ${stderr}${stdout}`, { cause: error }));
      },
    );
    child.stdin?.on("error", () => undefined).end(stdin);
  });
}

/** A cluster of kind: one node, in which pods run. */
export interface KindCluster {
  readonly name: string;
  /** By this name the other clusters' pods reach it. */
  readonly node: string;
  readonly kubeconfig: string;
  /** A line as somebody would type it; behind it, arguments that have spaces. */
  readonly kubectl: (line: string, ...more: readonly string[]) => Promise<string>;
  readonly apply: (object: object) => Promise<string>;
  readonly helm: (line: string, values?: object) => Promise<string>;
  /** A command in the node, as root. */
  readonly inNode: (...command: readonly string[]) => Promise<string>;
  readonly load: (...images: readonly string[]) => Promise<string>;
  readonly dispose: () => Promise<void>;
}

export async function startKindCluster(name: string): Promise<KindCluster> {
  const image = process.env["KIND_NODE_IMAGE"] ?? "";
  if (image === "") throw new Error("KIND_NODE_IMAGE is not set: run this by npm run test:kind");
  const folder = mkdtempSync(join(tmpdir(), `kind-${name}-`));
  const kubeconfig = join(folder, "kubeconfig");
  const words = (line: string): string[] => line.split(" ");
  const env = {
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: folder,
    HELM_CONFIG_HOME: folder,
    HELM_DATA_HOME: folder,
  };
  const node = `${name}-control-plane`;
  const load = (...images: readonly string[]): Promise<string> =>
    run("kind", ["load", "docker-image", "--name", name, ...images]);
  await run("kind", [...words(`create cluster --name ${name} --wait 180s --image`), image], { env });
  await load(...IMAGES, SHELL_IMAGE);
  const available = "wait deployment -A --all --for=condition=Available --timeout=180s";
  await run("kubectl", words(available), { env });
  return {
    name,
    node,
    kubeconfig,
    kubectl: (line, ...more) => run("kubectl", [...words(line), ...more], { env }),
    apply: (object) =>
      run("kubectl", words("apply --server-side -f -"), { env, stdin: JSON.stringify(object) }),
    helm: (line, values) =>
      values === undefined
        ? run("helm", words(line), { env })
        : run("helm", [...words(line), "--values", "-"], { env, stdin: JSON.stringify(values) }),
    inNode: (...command) => run("docker", ["exec", node, ...command]),
    load,
    dispose: async () => {
      await run("kind", ["delete", "cluster", "--name", name], { env });
      rmSync(folder, { recursive: true });
    },
  };
}

/** Everything that the cluster's API server lists, but for Events: kind, namespace and name of each object. */
export async function allInCluster({ kubectl }: KindCluster): Promise<readonly string[]> {
  const kinds = (await kubectl("api-resources --verbs=list -o name")).trim().split("\n");
  const kept = kinds.filter((kind) => !/^(events|componentstatuses)\b/.test(kind));
  const template = '{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
  const listed = await kubectl(`get ${kept.join(",")} -A -o`, `jsonpath=${template}`);
  return listed.trim().split("\n").toSorted();
}
