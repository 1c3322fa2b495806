import { DNS_SUBDOMAIN } from "@resource-broker/domain";
import type { Environment } from "@resource-broker/kube";
import type { BrokerSettings } from "../settings/broker-settings.ts";
import { type RoleLabel, type RoleLabelDeps, roleLabel } from "./role-label.ts";

type Flag = Pick<BrokerSettings, "pod-role-label">;

/** What of a pod's own identity is needed, as Kubernetes hands it over where the manifest asks for it. */
const VARIABLES = { POD_NAME: "metadata.name", POD_NAMESPACE: "metadata.namespace" };
/** As Kubernetes takes them: a name of at most 63 characters, with a domain before it or not. */
const LABEL_NAME = new RegExp(
  `^(?:(?=[^/]{1,253}/)${DNS_SUBDOMAIN}/)?[A-Za-z0-9](?:[-\\w.]{0,61}[A-Za-z0-9])?$`,
  "u",
);

/** The label of this pod that the settings ask for; undefined: none. */
export function podRole(
  { "pod-role-label": label }: Flag,
  { env, ...deps }: RoleLabelDeps & { readonly env: Environment },
): RoleLabel | undefined {
  if (label === "") return undefined;
  const { POD_NAME: name = "", POD_NAMESPACE: namespace = "" } = env;
  return roleLabel({ label, pod: { name, namespace } }, deps);
}

/** What keeps the pod from being labelled, and what to do about it. */
export function podRoleProblems({ "pod-role-label": label }: Flag, env: Environment): string[] {
  if (label === "") return [];
  if (!LABEL_NAME.test(label))
    return ["--pod-role-label: write the name of a label, such as broker.fluidos.eu/role"];
  return Object.entries(VARIABLES)
    .filter(([name]) => (env[name] ?? "") === "")
    .map(
      ([name, field]) =>
        `--pod-role-label needs the environment variable ${name}: set it from ${field} in the pod's manifest (fieldRef)`,
    );
}
