import { Fault } from "@resource-broker/base";
import { EVENTS, type KubeClient, LEASES, type Resource } from "@resource-broker/kube";
import type { Engine } from "../../../engine/engine.ts";

/** How a process dies at a write: before it leaves, or when it has been made and the answer is on its way. */
export type CrashPoint = "before" | "after";

export interface CrashingBroker {
  readonly client: (client: KubeClient) => KubeClient;
  readonly engine: (engine: Engine) => Engine;
  readonly isOver: () => boolean;
}

/** A broker that dies at its `writes`-th write, to the API server or to its ledger; whatever it does then is in vain. */
export function crashAtWrite(writes: number, point: CrashPoint): CrashingBroker {
  let left = writes;
  let isOver = false;
  const crashed = (): Fault => new Fault("unreachable", "the broker is dead");

  const read = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isOver) throw crashed();
    const answer = await call();
    if (isOver) throw crashed();
    return answer;
  };
  const write = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isOver) throw crashed();
    if (left-- > 0) return read(call);
    isOver = true;
    if (point === "after") await call();
    throw crashed();
  };
  /** Heartbeats and Events come at any time: counted, they would blur at which write it dies. */
  const change = <T>(resource: Resource<unknown>, call: () => Promise<T>): Promise<T> =>
    resource === LEASES || resource === EVENTS ? read(call) : write(call);
  return {
    isOver: () => isOver,
    client: (client) => ({
      ...client,
      get: (...args) => read(() => client.get(...args)),
      find: (...args) => read(() => client.find(...args)),
      list: (...args) => read(() => client.list(...args)),
      create: (resource, ...args) => change(resource, () => client.create(resource, ...args)),
      update: (resource, ...args) => change(resource, () => client.update(resource, ...args)),
      patch: (resource, ...args) => change(resource, () => client.patch(resource, ...args)),
      apply: (resource, ...args) => change(resource, () => client.apply(resource, ...args)),
      delete: (resource, ...args) => change(resource, () => client.delete(resource, ...args)),
    }),
    engine: (engine) => ({
      ...engine,
      // The ledger changes under a running engine: only the getters know how it is now.
      get ledger() {
        return engine.ledger;
      },
      get ledgerId() {
        return engine.ledgerId;
      },
      get commitNumber() {
        return engine.commitNumber;
      },
      get policy() {
        return engine.policy;
      },
      get health() {
        return engine.health;
      },
      submit: (command) => write(() => engine.submit(command)),
    }),
  };
}
