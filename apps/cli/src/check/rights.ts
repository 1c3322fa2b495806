import { Fault } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";
import type { OpenCluster } from "../objects/open-cluster.ts";
import { type Found, failed, ok, skipped } from "./finding.ts";

/** A rule as RBAC writes it; without a namespace it is needed in all of them. */
export interface Rule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly isInNamespace: boolean;
}

interface AccessReview {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectAccessReview";
  readonly spec: { readonly resourceAttributes: Attributes };
  readonly status?: { readonly allowed?: boolean };
}

interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
}

const ACCESS_REVIEWS: Resource<AccessReview> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  isNamespaced: false,
  isQuestion: true,
};

const REAR = "rear.fluidos.eu";

/** deploy/rbac/agent.yaml, without what is only for show. */
export const AGENT_RULES: readonly Rule[] = [
  { group: "", resources: ["nodes", "pods"], verbs: ["list", "watch"], isInNamespace: false },
  { group: REAR, resources: ["resourcerequests"], verbs: ["list", "watch"], isInNamespace: false },
  { group: REAR, resources: ["resourcerequests/status"], verbs: ["patch"], isInNamespace: false },
  { group: "", resources: ["events"], verbs: ["create", "patch"], isInNamespace: false },
  { group: REAR, resources: ["advertisements"], verbs: ["create", "patch"], isInNamespace: true },
  {
    group: REAR,
    resources: ["reservationinstructions", "providerinstructions"],
    verbs: ["list", "watch", "create", "patch", "delete"],
    isInNamespace: true,
  },
  {
    group: REAR,
    resources: ["advertisements/status", "reservationinstructions/status", "providerinstructions/status"],
    verbs: ["patch"],
    isInNamespace: true,
  },
];

/** What the commands for clusters do, and what it takes to ask for resources. */
const PERSON_RULES: readonly Rule[] = [
  {
    group: REAR,
    resources: ["resourcerequests"],
    verbs: ["get", "list", "watch", "create", "delete"],
    isInNamespace: true,
  },
  {
    group: REAR,
    resources: ["advertisements", "reservationinstructions", "providerinstructions"],
    verbs: ["get", "list", "watch"],
    isInNamespace: true,
  },
];

/** Compares what is needed with what the kubeconfig's user may do. */
export async function checkRights(cluster: OpenCluster, isAgent: boolean): Promise<Found> {
  const { namespace } = cluster;
  const wanted = (isAgent ? AGENT_RULES : PERSON_RULES).flatMap((rule) => attributesOf(rule, namespace));
  const missing = await missingOf(cluster, wanted);
  if (missing === undefined) return skipped("the API server answers no SelfSubjectAccessReview");
  const who = isAgent ? "an agent" : "a person";
  if (missing.length === 0)
    return ok(`all ${wanted.length} rights that ${who} needs in namespace ${namespace}`);
  const lacks = `the kubeconfig's user may not ${described(missing)}`;
  return isAgent
    ? failed(`${lacks}, as an agent must`, "kubectl apply -f deploy/rbac/agent.yaml")
    : failed(
        `${lacks} in namespace ${namespace}`,
        "Ask the cluster's admin for a role with these, or use -n",
      );
}

/** Every user may create a SelfSubjectAccessReview. Undefined: this server does not support it. */
async function missingOf(
  { client }: OpenCluster,
  wanted: readonly Attributes[],
): Promise<Attributes[] | undefined> {
  const missing: Attributes[] = [];
  try {
    for (const resourceAttributes of wanted) {
      const { status } = await client.create(ACCESS_REVIEWS, {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      });
      if (status?.allowed !== true) missing.push(resourceAttributes);
    }
    return missing;
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found") return undefined;
    throw error;
  }
}

function attributesOf({ group, resources, verbs, isInNamespace }: Rule, namespace: string): Attributes[] {
  return resources.flatMap((name) => {
    const [resource = "", subresource] = name.split("/");
    return verbs.map((verb) => ({
      verb,
      group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(isInNamespace ? { namespace } : {}),
    }));
  });
}

/** `list, watch nodes; create events` */
function described(missing: readonly Attributes[]): string {
  const verbs = new Map<string, string[]>();
  for (const { verb, resource, subresource } of missing) {
    const name = subresource === undefined ? resource : `${resource}/${subresource}`;
    verbs.set(name, [...(verbs.get(name) ?? []), verb]);
  }
  return [...verbs].map(([name, each]) => `${each.join(", ")} ${name}`).join("; ");
}
