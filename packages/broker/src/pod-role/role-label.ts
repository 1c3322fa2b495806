import { type Clock, type Log, toFault } from "@resource-broker/base";
import { DNS_SUBDOMAIN } from "@resource-broker/domain";
import {
  backoff,
  type Environment,
  failureReporter,
  type KubeClient,
  type ObjectName,
  PODS,
  wait,
} from "@resource-broker/kube";
import type { ReadinessCheck } from "@resource-broker/runtime";
import type { BrokerSettings } from "../settings/broker-settings.ts";

/** Leading does not wait longer for the label: the leader works without it. */
const LABEL_TIMEOUT_MS = 1000;
/** The label is written again at this interval, in case somebody removed it. */
const REFRESH_MS = 30_000;
const MAX_BACKOFF_MS = 10_000;

type Role = "leader" | "standby";

/** Writes the role of this replica as a label of its pod. A Service selects the leader by this label. */
export interface RoleLabel {
  /** Writes `standby` at start, because the label of an earlier container may say `leader`. Retries until it is written. */
  readonly standBy: () => void;
  /**
   * Writes `leader` on this pod and `standby` on its predecessor: a pod on a lost node cannot update its own label, and the
   * Service would send calls to it for most of a minute. Retries until it is written; resolves when it is written, or after a
   * second.
   */
  readonly lead: (predecessor: string) => Promise<void>;
  /** Writes `standby` and stops. */
  readonly stop: () => Promise<void>;
  readonly check: ReadinessCheck;
}

export interface RoleLabelOptions {
  /** The label's name. */
  readonly label: string;
  readonly pod: Required<ObjectName>;
}

export interface RoleLabelDeps {
  readonly open: () => Promise<{ readonly client: KubeClient }>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

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

function roleLabel({ label, pod }: RoleLabelOptions, deps: RoleLabelDeps): RoleLabel {
  const { open, clock, log } = deps;
  const retryBackoff = backoff({ maxMs: MAX_BACKOFF_MS }, { ...deps, monotonicMs: clock.monotonicMs });
  const what = `labelling the pod with its role (${label})`;
  const failures = failureReporter({
    log,
    clock,
    fields: { pod: pod.name, namespace: pod.namespace },
    what,
  });
  let wanted: Role = "standby";
  let shown: Role | undefined;
  let isStopping = false;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let onShown = (): void => undefined;
  /** Aborts the current attempt or pause when the role changes. */
  let attempt = new AbortController();

  const patch = async (name: string, role: Role, signal: AbortSignal): Promise<void> => {
    const { client } = await open();
    const body = { metadata: { labels: { [label]: role } } };
    await client.patch(PODS, { name: { ...pod, name }, patch: { kind: "merge", body } }, { signal });
  };

  /** Tried once: the predecessor may not be a pod of this name. */
  const demote = async (name: string): Promise<void> => {
    try {
      await patch(name, "standby", stopping.signal);
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === "not-found" || stopping.signal.aborted) return;
      log.warn(
        { pod: name, error: fault.message },
        "the last leader's pod could not be labelled as a standby",
      );
    }
  };

  /** Returns how long to wait before the next try. */
  const write = async (role: Role, signal: AbortSignal): Promise<number> => {
    // Until the API server answers, the value of the label is unknown.
    if (role !== shown) shown = undefined;
    try {
      await patch(pod.name, role, signal);
    } catch (error) {
      if (signal.aborted) return 0;
      failures.failed(toFault(error));
      return retryBackoff.failed();
    }
    shown = role;
    retryBackoff.succeeded();
    failures.recovered();
    if (role === wanted) onShown();
    return REFRESH_MS;
  };

  const keepWriting = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      attempt = new AbortController();
      const { signal } = attempt;
      await wait(await write(wanted, signal), { clock, signal });
    }
  };

  const setRole = (role: Role): Promise<void> => {
    wanted = role;
    return new Promise((resolve) => {
      const cancel = clock.after(LABEL_TIMEOUT_MS, resolve);
      onShown = () => {
        cancel();
        resolve();
      };
      attempt.abort();
      running ??= keepWriting();
    });
  };

  return {
    standBy: () => void setRole("standby"),
    lead: async (predecessor) => {
      if (isStopping) return;
      if (predecessor !== "" && predecessor !== pod.name) void demote(predecessor);
      await setRole("leader");
    },
    stop: async () => {
      isStopping = true;
      if (running === undefined) return;
      if (shown !== "standby") await setRole("standby");
      stopping.abort();
      attempt.abort();
      await running;
    },
    check: {
      name: "pod-role",
      // A restarted container may find the label `leader` of its previous run. Until it is replaced, the Service would
      // send calls to a replica that refuses them. A leader without its label still serves direct calls.
      problem: () =>
        wanted === "standby" && shown !== "standby" ? "the pod is not labelled as a standby yet" : undefined,
    },
  };
}
