import type { Clock } from "@resource-broker/base";
import type { ClusterCore } from "../api/create-cluster-api.ts";
import { badRequest } from "../api/statuses.ts";
import { textAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import type { SimCluster, SimFaults } from "../kube-sim.ts";
import { accountTokens } from "./account-tokens.ts";
import { createListener } from "./cluster-server.ts";
import { type Credentials, kubeconfigText } from "./credentials.ts";
import { createGate } from "./gate.ts";
import { type ServeDeps, serve } from "./serve.ts";

export interface ClusterParts {
  readonly name: string;
  readonly core: ClusterCore;
  readonly credentials: Credentials;
  readonly clock: ShiftableClock;
  readonly log?: ServeDeps["log"];
  /** Ends what runs in the cluster by itself. */
  readonly endBehaviour: () => void;
}

/** A machine's time that can be made to run ahead. */
export interface ShiftableClock extends Clock {
  readonly shift: (ms: number) => void;
}

export function shiftableClock(clock: Clock): ShiftableClock {
  let aheadMs = 0;
  return {
    ...clock,
    wallMs: () => clock.wallMs() + aheadMs,
    shift: (ms) => {
      aheadMs = ms;
    },
  };
}

/** Puts a cluster on the network. */
export async function startCluster(parts: ClusterParts, port: number): Promise<SimCluster> {
  const { name, core, credentials, clock, log } = parts;
  const gate = createGate(clock);
  const address = (): string => `127.0.0.1:${listener.port()}`;
  const deps: ServeDeps = {
    api: core.api,
    clock,
    gate,
    token: credentials.token,
    tokens: accountTokens({ api: core.api, clock, secret: credentials.token }),
    address,
    ...(log === undefined ? {} : { log }),
  };
  const listener = createListener(credentials, (request, response) => void serve(request, response, deps));
  await listener.listen(port);
  const url = `https://${address()}`;
  const faults: SimFaults = {
    setLatency: gate.setLatency,
    failNext: gate.failNext,
    pause: gate.pause,
    resume: gate.resume,
    cut: listener.cut,
    down: listener.close,
    up: () => listener.listen(listener.port()),
    compact: core.api.compact,
    shiftClock: clock.shift,
  };
  return {
    name,
    url,
    kubeconfig: kubeconfigText({ name, url, credentials }),
    token: credentials.token,
    api: core.api,
    seed: (objects) => {
      for (const object of objects) seedObject(core, object);
    },
    faults,
    stop: async () => {
      parts.endBehaviour();
      gate.resume();
      await listener.close();
    },
  };
}

/** Objects of kinds that are not served are refused: a seed that silently vanishes would cost hours. */
export function seedObject(core: ClusterCore, object: JsonObject): void {
  const apiVersion = textAt(object, "apiVersion");
  const kind = textAt(object, "kind");
  const definition = core.api
    .definitions()
    .find(
      (one) => one.kind === kind && `${one.group === "" ? "" : `${one.group}/`}${one.version}` === apiVersion,
    );
  if (definition === undefined)
    throw badRequest(
      `no kind "${kind}" in version "${apiVersion}" is served; seed its CustomResourceDefinition first`,
    );
  core.seed(definition, object);
}
