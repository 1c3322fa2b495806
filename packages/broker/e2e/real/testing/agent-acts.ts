import type { KubeClient, Resource } from "@resource-broker/kube";
import { type Condition, NAMESPACE, RESERVATIONS } from "./access-objects.ts";

/** What the agent of one cluster tries, and the beginning of the answer when it may not. */
export interface AccessRow {
  readonly name: string;
  /** The cluster whose agent it is. */
  readonly by: string;
  readonly does: (agent: KubeClient) => Promise<unknown>;
  /** Absent: it may. */
  readonly refusal?: string;
}

export type Act = AccessRow["does"];
type Try = readonly [by: string, name: string, does: Act];

export function allowed(...tries: readonly Try[]): AccessRow[] {
  return tries.map(([by, name, does]) => ({ by, name, does }));
}

export function refused(refusal: string, ...tries: readonly Try[]): AccessRow[] {
  return allowed(...tries).map((row) => ({ ...row, refusal }));
}

type Named = { readonly metadata: { readonly name: string } };

const AGENT = { fieldManager: "resource-broker-agent" };
const at = (name: string) => ({ name, namespace: NAMESPACE });

export const creates =
  <T>(resource: Resource<T>, object: T): Act =>
  (agent) =>
    agent.create(resource, object);

/** Server-side apply, as our agents publish. */
export const applies =
  <T>(resource: Resource<T>, object: Partial<T>, force = false): Act =>
  (agent) =>
    agent.apply(resource, object, { ...AGENT, force });

/** GET and PUT of the whole object, as the older agents write. */
export const replaces =
  <T>(resource: Resource<T>, name: string, change: (object: T) => T): Act =>
  async (agent) =>
    agent.update(resource, change(await agent.get(resource, at(name))));

export const patches =
  (resource: Resource<unknown>, { metadata }: Named, body: object): Act =>
  (agent) =>
    agent.patch(resource, { name: at(metadata.name), patch: { kind: "merge", body } });

export const deletes =
  (resource: Resource<unknown>, { metadata }: Named): Act =>
  (agent) =>
    agent.delete(resource, at(metadata.name));

/** Leaves all other conditions as they are. */
export const signals =
  ({ metadata }: Named, ...conditions: readonly Condition[]): Act =>
  (agent) =>
    agent.apply(
      RESERVATIONS,
      { metadata: at(metadata.name), status: { conditions: [...conditions] } },
      { ...AGENT, force: true, subresource: "status" },
    );

/** The same as a JSON merge patch: the whole list of conditions, or other fields of the status. */
export const patchesStatus =
  ({ metadata }: Named, status: object, resource: Resource<unknown> = RESERVATIONS): Act =>
  (agent) =>
    agent.patch(
      resource,
      { name: at(metadata.name), patch: { kind: "merge", body: { status } } },
      { subresource: "status" },
    );
