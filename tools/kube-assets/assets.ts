import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Assets,
  type AssetsSearch,
  findAssets,
  pinnedRelease,
  printedBy,
  readPins,
} from "../go-assets/assets-tool.ts";
import type { Program } from "../go-assets/bring.ts";
import { BUILD_ENV, COMPILE_FLAGS } from "../go-assets/go.ts";

/** The module whose pins other tools build with, too: their parts are of the control plane's release. */
export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));
export const PINS = readPins(GO_MODULE);
/** `v1.34.4`, as go.mod pins it. */
export const KUBERNETES = pinnedRelease(PINS, "k8s.io/kubernetes");

/** The programs of a control plane, and the client that fits them. */
const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"] as const;
export type ProgramName = (typeof PROGRAMS)[number];

const PACKAGES: Readonly<Record<ProgramName, string>> = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
};

/** Without them the programs would call themselves v0.0.0, and kubectl would warn about the difference. */
const LINK_FLAGS = linkFlags(KUBERNETES);

function linkFlags(version: string): string {
  const [major = "", minor = ""] = version.replace(/^v/, "").split(".");
  const versionFields = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "archive" };
  const values = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) =>
    Object.entries(versionFields).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ["-s -w", ...values].join(" ");
}

/** Any other program of this release: what only some harnesses need, their own tools build. */
export function kubernetesProgram(name: string): Program {
  return { name, package: `k8s.io/kubernetes/cmd/${name}`, linkFlags: LINK_FLAGS };
}

const REMEDY = "Put the missing ones there, of the same version, or unset it to have all of them built.";

export const KUBE_ASSETS: Assets = {
  name: "kube-assets",
  label: KUBERNETES,
  what: `Kubernetes ${KUBERNETES}`,
  firstTimeTakes: "ten minutes or more",
  noGo:
    "Go is not installed, and there is no real control plane on this machine. Install Go 1.24 or newer and run this " +
    "again, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager and kubectl.",
  goModule: GO_MODULE,
  list: {
    copies: [],
    programs: PROGRAMS.map((name) => ({ name, package: PACKAGES[name], linkFlags: LINK_FLAGS })),
  },
  recipe: [PINS.goMod, PINS.goSum, PACKAGES, COMPILE_FLAGS, BUILD_ENV, LINK_FLAGS],
  given: (env) => {
    const folder = env["KUBEBUILDER_ASSETS"] ?? "";
    if (folder === "") return undefined;
    // None is taken from the cache: a mixture would prove nothing.
    const lacks = PROGRAMS.filter((name) => !existsSync(join(folder, name)));
    if (lacks.length === 0) return { folder };
    return {
      folder,
      refusal: `KUBEBUILDER_ASSETS is ${folder}, where there is no ${lacks.join(", no ")}. ${REMEDY}`,
    };
  },
  describe: async (folder) => {
    const ask = async (name: ProgramName): Promise<[ProgramName, string]> => {
      const flags = name === "kubectl" ? ["version", "--client"] : ["--version"];
      return [name, await printedBy(folder, name, ...flags)];
    };
    return describeVersions(new Map(await Promise.all(PROGRAMS.map(ask))));
  },
};

/** Looks for the programs on this machine; `why` also says what to do where they are missing. */
export function findControlPlane(
  env: Readonly<Record<string, string | undefined>>,
): AssetsSearch & { readonly why: string } {
  const search = findAssets(KUBE_ASSETS, env);
  const absent = `there is no ${PROGRAMS.slice(0, -1).join(", ")} and ${PROGRAMS.at(-1)} in ${search.folder}. Run npm run kube:assets, or set KUBEBUILDER_ASSETS.`;
  return { ...search, why: search.refusal ?? absent };
}

/** The oldest API server our tests are written for. */
const OLDEST = { major: 1, minor: 34 };

interface Version {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
}

/** What the programs say of themselves, in one line; throws where they do not fit each other or are too old. */
export function describeVersions(output: ReadonlyMap<ProgramName, string>): string {
  const versionOf = (name: ProgramName): Version => versionIn(name, output.get(name) ?? "");
  const server = versionOf("kube-apiserver");
  if (server.major !== OLDEST.major || server.minor < OLDEST.minor)
    throw new Error(
      `kube-apiserver is ${server.text}; the tests need ${OLDEST.major}.${OLDEST.minor} or newer.`,
    );
  const list = PROGRAMS.map((name) => `${name} ${versionOf(name).text}`).join(", ");
  const others = [versionOf("kubectl"), versionOf("kube-controller-manager")];
  if (others.some(({ minor }) => minor !== server.minor))
    throw new Error(`these programs are not of one release: ${list}.`);
  return list;
}

function versionIn(name: ProgramName, output: string): Version {
  const [text, major, minor] = /(\d+)\.(\d+)\.\d+\S*/.exec(output) ?? [];
  if (text === undefined) throw new Error(`${name} does not say its version but: ${output.trim()}`);
  return { text, major: Number(major), minor: Number(minor) };
}
