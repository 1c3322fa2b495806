import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import type { ObjectName, Resource } from "@resource-broker/kube";
import {
  type RealControlPlane,
  type RealControlPlanes,
  until,
  type WorldCluster,
} from "@resource-broker/testkit";

const API = "admissionregistration.k8s.io/v1";
const POLICIES = `/apis/${API}/validatingadmissionpolicies`;
const BINDINGS = `/apis/${API}/validatingadmissionpolicybindings`;
const POLICY = "take-nothing";
const BINDING = {
  apiVersion: API,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: POLICY },
  spec: { policyName: POLICY, validationActions: ["Deny"] },
};

type SeededObject = Parameters<RealControlPlane["seed"]>[0][number];

/** What can be done to the API servers of a world. */
export type ApiServerFaults = ReturnType<typeof realFaults>;

/** Real API servers are killed; where something must change unseen, they come back with the way to them cut. */
export function realFaults(controlPlanes: RealControlPlanes) {
  const isDown = new Set<string>();
  const unseen = async (cluster: string): Promise<RealControlPlane> => {
    const { plane } = controlPlanes.reached(cluster);
    if (plane.apiServer.pid === undefined) await plane.apiServer.restart();
    return plane;
  };
  return {
    /** Nobody reaches it any more. */
    down: async (cluster: string): Promise<void> => {
      const { plane, proxy } = controlPlanes.reached(cluster);
      isDown.add(cluster);
      await plane.apiServer.kill();
      proxy.refuse();
      proxy.cut();
    },
    /** While it is down, these change what it keeps, and nobody sees it. */
    put: async (cluster: string, object: SeededObject): Promise<void> => {
      const plane = await unseen(cluster);
      await plane.seed([object]);
    },
    remove: async (
      cluster: string,
      resource: Resource<unknown>,
      name: Required<ObjectName>,
    ): Promise<void> => {
      const plane = await unseen(cluster);
      await done(plane, "DELETE", `${collection(resource, name.namespace)}/${name.name}`);
    },
    /** Does nothing where it is not down. */
    up: async (cluster: string): Promise<void> => {
      if (!isDown.delete(cluster)) return;
      await unseen(cluster);
      controlPlanes.reached(cluster).proxy.admit();
    },
    /** It takes no objects of this kind until what is returned is called. */
    refuseWrites: async ({ name: cluster }: WorldCluster, resource: Resource<unknown>) => {
      const { plane } = controlPlanes.reached(cluster);
      await done(plane, "POST", POLICIES, policyAgainst(resource));
      await done(plane, "POST", BINDINGS, BINDING);
      await until("the API server refuses them", async () =>
        (await takes(plane, resource)) ? undefined : true,
      );
      return async () => {
        await done(plane, "DELETE", `${BINDINGS}/${POLICY}`);
        await done(plane, "DELETE", `${POLICIES}/${POLICY}`);
        await until(
          "the API server takes them again",
          async () => (await takes(plane, resource)) || undefined,
        );
      };
    },
  };
}

function policyAgainst({ group, plural }: Resource<unknown>): object {
  const rule = {
    apiGroups: [group],
    apiVersions: ["*"],
    operations: ["CREATE", "UPDATE"],
    resources: [plural],
  };
  return {
    apiVersion: API,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: POLICY },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "false", message: "nothing is taken here for a while" }],
    },
  };
}

/** Whether it would take a good object of this kind. */
async function takes(plane: RealControlPlane, resource: Resource<unknown>): Promise<boolean> {
  const metadata = { name: "would-it-be-taken", namespace: "default" };
  const object = { ...GOOD_OBJECTS[resource.kind], metadata };
  const { status } = await plane.request("POST", `${collection(resource, "default")}?dryRun=All`, object);
  return status === 201;
}

async function done(plane: RealControlPlane, method: string, path: string, body?: object): Promise<void> {
  const { status, body: shown } = await plane.request(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(shown)}`);
}

function collection({ group, version, plural }: Resource<unknown>, namespace: string): string {
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
}
