import {
  backoff,
  type KubeClient,
  type ObjectName,
  PODS,
  toFault,
  trouble,
  wait,
} from "@resource-broker/kube";
import type { Log, MachineTime, ReadinessCheck } from "@resource-broker/runtime";

/** Nobody waits longer for the API server: a leader leads with or without its label. */
const PATIENCE_MS = 1000;
/** People may take the label away: it is written again, which changes nothing where it is still there. */
const REFRESH_MS = 30_000;
const MAX_PAUSE_MS = 10_000;

type Role = "leader" | "standby";

/** What a replica is, as a label of its own pod: by it a Service finds the one that leads. */
export interface RoleLabel {
  /** From the start nobody is sent here, whatever the label of an earlier life says. It is tried until it is shown. */
  readonly standBy: () => void;
  /**
   * Shows that this replica leads, and that its predecessor does not: a pod whose node is gone cannot say so itself, and for
   * most of a minute nobody else would, while every second call is sent to it. It is tried until it is shown; resolves
   * when it is, or after a second.
   */
  readonly lead: (predecessor: string) => Promise<void>;
  /** Shows that it leads no longer, and ends. */
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
  readonly machine: MachineTime;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

export function roleLabel({ label, pod }: RoleLabelOptions, deps: RoleLabelDeps): RoleLabel {
  const { open, machine, log } = deps;
  const pauses = backoff({ maxMs: MAX_PAUSE_MS }, { ...deps, monotonicMs: machine.monotonicMs });
  const what = `labelling the pod with its role (${label})`;
  const failing = trouble({ log, machine, fields: { pod: pod.name, namespace: pod.namespace }, what });
  let wanted: Role = "standby";
  let shown: Role | undefined;
  let isStopping = false;
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  let onShown = (): void => undefined;
  /** The try or the pause that is under way: given up when another role is wanted. */
  let turn = new AbortController();

  const patch = async (name: string, role: Role, signal: AbortSignal): Promise<void> => {
    const { client } = await open();
    const body = { metadata: { labels: { [label]: role } } };
    await client.patch(PODS, { name: { ...pod, name }, patch: { kind: "merge", body } }, { signal });
  };

  /** Tried once: where it has another pod's name, or none, it leads nobody astray. */
  const demote = async (name: string): Promise<void> => {
    try {
      await patch(name, "standby", ending.signal);
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === "not-found" || ending.signal.aborted) return;
      log.warn(
        { pod: name, error: fault.message },
        "the last leader's pod could not be labelled as a standby",
      );
    }
  };

  /** Returns how long to wait before the next try. */
  const write = async (role: Role, signal: AbortSignal): Promise<number> => {
    // From here until there is an answer, nobody knows what the label says.
    if (role !== shown) shown = undefined;
    try {
      await patch(pod.name, role, signal);
    } catch (error) {
      if (signal.aborted) return 0;
      failing.begins(toFault(error));
      return pauses.failed();
    }
    shown = role;
    pauses.works();
    failing.ends();
    if (role === wanted) onShown();
    return REFRESH_MS;
  };

  const keepWriting = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      turn = new AbortController();
      const { signal } = turn;
      await wait(await write(wanted, signal), { machine, signal });
    }
  };

  const want = (role: Role): Promise<void> => {
    wanted = role;
    return new Promise((resolve) => {
      const cancel = machine.after(PATIENCE_MS, resolve);
      onShown = () => {
        cancel();
        resolve();
      };
      turn.abort();
      running ??= keepWriting();
    });
  };

  return {
    standBy: () => void want("standby"),
    lead: async (predecessor) => {
      if (isStopping) return;
      if (predecessor !== "" && predecessor !== pod.name) void demote(predecessor);
      await want("leader");
    },
    stop: async () => {
      isStopping = true;
      if (running === undefined) return;
      if (shown !== "standby") await want("standby");
      ending.abort();
      turn.abort();
      await running;
    },
    check: {
      name: "pod-role",
      // A container that is started again finds the label of its last life: as long as it says `leader`, callers
      // would be sent to a replica that turns them away. A leader without its label still answers who asks it directly.
      problem: () =>
        wanted === "standby" && shown !== "standby" ? "the pod is not labelled as a standby yet" : undefined,
    },
  };
}
