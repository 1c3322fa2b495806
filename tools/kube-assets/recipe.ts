import type { Program } from "../go-assets/bring.ts";

/** How the programs are built. It is part of the build's name: another recipe is another build. */

/** The programs of a control plane, and the client that fits them. */
export const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"] as const;
export type ProgramName = (typeof PROGRAMS)[number];

export const PACKAGES: Readonly<Record<ProgramName, string>> = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
};

const SAY_VERSION = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];

/** Without them the programs would call themselves v0.0.0, and kubectl would warn about the difference. */
export function linkFlags(version: string): string {
  const [major = "", minor = ""] = version.replace(/^v/, "").split(".");
  const versionFields = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "archive" };
  const values = SAY_VERSION.flatMap((path) =>
    Object.entries(versionFields).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ["-s -w", ...values].join(" ");
}

/** Any other program of this release: what only some harnesses need, their own tools build. */
export function kubernetesProgram(name: string, version: string): Program {
  return { name, package: `k8s.io/kubernetes/cmd/${name}`, linkFlags: linkFlags(version) };
}
