import { execFile } from "node:child_process";
import { chmod, chown, cp, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Child, childOf, type Guardian } from "@resource-broker/testkit";
import type { Instruction } from "../../../../images/read-dockerfile.ts";
import type { PodNetwork } from "./pod-network.ts";
import type { PodPlan } from "./pod-plan.ts";
import type { Mount } from "./pod-volumes.ts";

const run = promisify(execFile);

/** Where distroless keeps Node. */
const NODE = "/nodejs/bin/node";
const TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
const DEVICES = ["null", "zero", "random", "urandom"];
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * What a container runtime does, in namespaces that end with the process: mounts, then the program without any right.
 * Arguments: the root, the list of mounts, "ro" or "rw" for the root; and what to run then.
 */
const START = `
  root=$1 mounts=$2 mode=$3
  shift 3
  mount --bind "$root" "$root"
  while read -r how from to; do
    mount --bind "$from" "$root$to"
    [ "$how" = rw ] || mount -o remount,bind,ro "$root$to"
  done < "$mounts"
  mount -t proc proc "$root/proc"
  [ "$mode" = rw ] || mount -o remount,bind,ro "$root"
  exec env -i "$@"
`;

export interface SandboxOptions {
  readonly plan: PodPlan;
  readonly image: readonly Instruction[];
  /** What stands for the folders of the build stages: `/out` and `/src`. */
  readonly built: (path: string) => string;
  readonly network: PodNetwork;
  /** Names that the pod can look up, and their addresses. */
  readonly hosts: ReadonlyMap<string, string>;
  /** What the kubelet puts beside the token. */
  readonly account: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Where everything of this pod is kept. */
  readonly directory: string;
  readonly guardian: Guardian;
}

/** Undefined: pods can be started here. Else why not. */
export async function whyNoSandbox(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root can start programs as another user in a root of their own";
  const probe = `ip link add probe type veth peer name peer && mount -t tmpfs probe /mnt`;
  try {
    await run("unshare", ["--mount", "--net", "sh", "-euc", probe]);
    await run("setpriv", ["--version"]);
    return undefined;
  } catch (error) {
    return `no namespaces for pods here (util-linux and iproute2 are needed): ${String(error)}`;
  }
}

/** Lays out the root of a pod and its volumes. Nothing runs before `launch`. */
export async function podSandbox(options: SandboxOptions): Promise<Child> {
  const { plan, directory, network, guardian } = options;
  const root = join(directory, "root");
  await layOut(options, root);
  const mounts = [
    ...(await runtimeMounts()),
    ...(await volumeMounts(options)),
    ...(plan.hasToken ? [await accountMount(options)] : []),
  ];
  for (const { from, to } of mounts) await mountPoint(from, join(root, to));
  const list = join(directory, "mounts");
  await writeFile(list, mounts.map(({ how, from, to }) => `${how} ${from} ${to}\n`).join(""));
  const mode = plan.isRootReadOnly ? "ro" : "rw";
  const inside = ["unshare", "--mount", "--uts", "--ipc", "sh", "-euc", START, "container", root, list, mode];
  const rights = [`--root=${root}`, `--wd=${plan.folder}`, `--setgid=${plan.group}`, `--setuid=${plan.user}`];
  const program = ["setpriv", "--no-new-privs", "unshare", ...rights, ...plan.command];
  return childOf({
    command: [...network.enter, ...inside, ...environmentOf(options), ...program],
    cwd: directory,
    logFile: join(directory, "log"),
    guardian,
  });
}

function environmentOf({ plan, environment }: SandboxOptions): string[] {
  const all = { PATH, HOSTNAME: plan.name, ...environment, ...plan.env };
  return Object.entries(all).map(([name, value]) => `${name}=${value}`);
}

async function layOut({ plan, image, built, hosts }: SandboxOptions, root: string): Promise<void> {
  for (const folder of ["proc", "dev", "etc", "tmp"]) await mkdir(join(root, folder), { recursive: true });
  const lines = [...hosts].map(([name, address]) => `${address} ${name}\n`);
  await writeFile(join(root, "etc/hosts"), ["127.0.0.1 localhost\n", ...lines].join(""));
  for (const { keyword, value } of image) {
    if (keyword !== "COPY") continue;
    const [from = "", to = ""] = value.split(/\s+/);
    await mkdir(dirname(join(root, to)), { recursive: true });
    await cp(built(from), join(root, to), { recursive: true });
  }
  await mkdir(join(root, plan.folder), { recursive: true });
}

interface HostMount {
  readonly how: "ro" | "rw";
  readonly from: string;
  readonly to: string;
}

/** Node, the libraries that it asks for, and the devices that every container has. */
async function runtimeMounts(): Promise<HostMount[]> {
  const { stdout } = await run("ldd", [process.execPath]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
  return [
    { how: "ro", from: process.execPath, to: NODE },
    ...libraries.map((path) => ({ how: "ro" as const, from: path, to: path })),
    ...DEVICES.map((name) => ({ how: "rw" as const, from: `/dev/${name}`, to: `/dev/${name}` })),
  ];
}

async function volumeMounts(options: SandboxOptions): Promise<HostMount[]> {
  const mounts = options.plan.mounts.map(async (mount, index): Promise<HostMount> => {
    const from = join(options.directory, `volume-${index}`);
    await mkdir(from, { recursive: true });
    await fill(from, mount, options.plan.fsGroup);
    return { how: mount.isReadOnly ? "ro" : "rw", from, to: mount.path };
  });
  return Promise.all(mounts);
}

const SHARED_FOLDER = 0o777;
const OWN_FOLDER = 0o755;
/** fsGroup: its members may write, and what they make is the group's. */
const GROUP_WRITES = 0o2070;
const GROUP_READS = 0o440;

/** As a kubelet leaves a volume: everything is root's, and fsGroup's where a pod has one. */
async function fill(folder: string, { contents }: Mount, fsGroup: number | undefined): Promise<void> {
  if (contents.kind === "files") {
    for (const [name, text] of Object.entries(contents.files)) {
      const file = join(folder, name);
      await writeFile(file, text);
      await chown(file, 0, fsGroup ?? 0);
      await chmod(file, fsGroup === undefined ? contents.mode : contents.mode | GROUP_READS);
    }
  }
  const mode = contents.kind === "folder" && contents.isShared ? SHARED_FOLDER : OWN_FOLDER;
  await chown(folder, 0, fsGroup ?? 0);
  await chmod(folder, fsGroup === undefined ? mode : mode | GROUP_WRITES);
}

async function accountMount({ account, directory, plan }: SandboxOptions): Promise<HostMount> {
  const from = join(directory, "account");
  await mkdir(from, { recursive: true });
  const contents = { kind: "files", files: account, mode: 0o644 } as const;
  await fill(from, { path: TOKEN_FOLDER, isReadOnly: true, contents }, plan.fsGroup);
  return { how: "ro", from, to: TOKEN_FOLDER };
}

async function mountPoint(from: string, to: string): Promise<void> {
  if ((await stat(from)).isDirectory()) return void (await mkdir(to, { recursive: true }));
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, "");
}
