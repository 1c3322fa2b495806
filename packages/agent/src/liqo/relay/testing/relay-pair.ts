import { countedResources } from "@resource-broker/accounting";
import { Fault } from "@resource-broker/base";
import { type ReservationDTO, STATEMENT_TYPE, type Statement } from "@resource-broker/contract";
import { readJws } from "@resource-broker/runtime";
import { fakeClock } from "@resource-broker/testkit";
import type { DataPlaneState, ProviderDataPlane, ReleaseState } from "../../../data-plane/data-plane.ts";
import type { ObjectEvent } from "../../../events/record-event.ts";
import type { AgentIdentity } from "../../../identity/agent-identity.ts";
import { reservationCache } from "../../../reservations/reservation-cache.ts";
import { fakeCluster } from "../../../testing/fake-cluster.ts";
import { recordedLog } from "../../../testing/recorded-log.ts";
import { aReservation, ended } from "../../../testing/samples.ts";
import { install } from "../../requester/testing/liqo-test-environment.ts";
import { relayDataPlane } from "../relay-data-plane.ts";
import { liqoPlays } from "./liqo-plays.ts";
import { signStatement, type StatementParts } from "../statement.ts";
import { aFleet, NOW, PARIS, ROME, theParts } from "./relay-samples.ts";

const IDS = { requesterLiqoID: ROME.liqoId, targetLiqoID: PARIS.liqoId };
export const LENT = aReservation(IDS);
const MINUTE_MS = 60_000;

export type RelayPair = ReturnType<typeof relayPair>;

/** rome and paris in relay mode, with a broker between them that may be bad. */
export function relayPair({ warmPeers = [] as readonly string[] } = {}) {
  const time = fakeClock(NOW);
  const fleet = aFleet();
  const sides = new Map<string, Side>();
  /** Newest statement of each ordered pair, `from to`. */
  const kept = new Map<string, string>();
  const broker = {
    /** What a bad broker passes on instead. */
    passOn: (_from: string, _to: string, jws: string): string | undefined => jws,
    history: [] as { from: string; to: string; jws: string }[],
  };
  const deliver = (from: string, to: string, jws: string): void => {
    const passed = broker.passOn(from, to, jws);
    if (passed !== undefined) sides.get(to)?.plane().onStatement?.(from, passed);
  };
  type Side = ReturnType<typeof sideOf>;

  const sideOf = ({ clusterId, liqoId }: typeof ROME) => {
    const cluster = fakeCluster(time);
    install(cluster, liqoId);
    const liqo = liqoPlays(cluster, { liqoId, apiServer: `https://${clusterId}.example:6443` }, time);
    const cache = reservationCache({ clusterId, now: time.wallMs });
    const events: ObjectEvent[] = [];
    const lines: object[] = [];
    const identity = fleet.identityOf(clusterId);
    let isDown = false;
    const open = (change: Partial<Parameters<typeof relayDataPlane>[0]> = {}) => {
      const plane = relayDataPlane(
        {
          clusterId,
          liqoNamespace: "liqo",
          namespace: "rear-agent",
          gpuResource: "nvidia.com/gpu",
          isEnforcing: false,
          timeoutMs: 10 * MINUTE_MS,
          ownHosts: [],
          allowsLoopback: false,
          fingerprints: new Map(),
          warmPeers: new Set(warmPeers),
          warmForMs: 30 * MINUTE_MS,
          ...change,
        },
        {
          client: cluster.client,
          clock: time,
          random: () => 0.5,
          log: recordedLog(lines as never),
          identity: current.identity,
          statements: {
            putStatement: async (to, jws) => {
              if (isDown) throw new Fault("unreachable", "the broker does not answer");
              kept.set(`${clusterId} ${to}`, jws);
              broker.history.push({ from: clusterId, to, jws });
              deliver(clusterId, to, jws);
            },
          },
        },
      );
      const provider = plane.createProvider({
        resources: countedResources(),
        cache,
        communicator: { getReservation: async () => undefined },
        link: {
          isCurrent: () => true,
          view: () => ({ now: time.wallMs(), isSilent: false, isOlder: false }),
        },
        isHeld: () => true,
        isReady: () => true,
        recordEvent: (event) => void events.push(event),
        onIdentity: () => undefined,
        onRetry: () => undefined,
      });
      void provider.start();
      return { plane, provider };
    };
    const current = {
      identity,
      opened: undefined as
        | { plane: ReturnType<typeof relayDataPlane>; provider: ProviderDataPlane }
        | undefined,
    };
    const opened = () => (current.opened ??= open());
    return {
      cluster,
      liqo,
      cache,
      events,
      lines,
      identity,
      plane: () => opened().plane,
      setDown: (next: boolean) => void (isDown = next),
      /** Another identity key from the next start on. */
      setIdentity: (next: typeof identity) => void (current.identity = next),
      restart: async (change: Parameters<typeof open>[0] = {}) => {
        const { plane, provider } = opened();
        await stopped(Promise.all([plane.stop(), provider.stop()]));
        current.opened = open(change);
        for (const [pair, jws] of kept) {
          const [from = "", to = ""] = pair.split(" ");
          if (to === clusterId) deliver(from, to, jws);
        }
      },
      stop: () => stopped(Promise.all([opened().plane.stop(), opened().provider.stop()])),
    };
  };
  const stopped = async (ending: Promise<unknown>): Promise<void> => {
    let isOver = false;
    void ending.finally(() => (isOver = true)).catch(() => undefined);
    for (let round = 0; !isOver && round < 1000; round++) await time.advance(100);
  };
  const [rome, paris] = [sideOf(ROME), sideOf(PARIS)];
  sides.set("rome", rome);
  sides.set("paris", paris);

  const work = async (ms = 100): Promise<void> => {
    rome.liqo.work();
    paris.liqo.work();
    await time.advance(ms);
  };
  const reserve = (changes: Partial<ReservationDTO> = {}): void => {
    const reservation = aReservation({ ...IDS, ...changes });
    rome.cache.update("requester", reservation);
    paris.cache.update("provider", reservation);
  };
  const end = (changes: Partial<ReservationDTO> = {}): void => {
    for (const role of ["requester", "provider"] as const)
      (role === "requester" ? rome : paris).cache.update(role, ended("Expired", { ...IDS, ...changes }));
  };
  const until = async <S extends DataPlaneState | ReleaseState>(
    call: () => Promise<S>,
    isDone: (state: S) => boolean,
    withinMs = 2 * MINUTE_MS,
  ): Promise<S> => {
    const began = time.monotonicMs();
    for (;;) {
      const state = await call();
      if (isDone(state) || time.monotonicMs() - began > withinMs) return state;
      await work(state.kind === "working" ? Math.min(state.retryAfterMs, 500) : 500);
    }
  };
  return {
    time,
    rome,
    paris,
    fleet,
    broker,
    work,
    run: async (ms: number) => {
      for (let at = 0; at < ms; at += 500) await work(500);
    },
    reserve,
    end,
    /** The newest statement that the broker has passed on. */
    heardBy: (to: string, from: string): Statement | undefined =>
      readJws(kept.get(`${from} ${to}`) ?? "", STATEMENT_TYPE) as Statement | undefined,
    /** From now on a cluster says what the test says, and its own agent is not heard. */
    mute: (clusterId: string): void => {
      broker.passOn = (from, _to, jws) => (from === clusterId ? undefined : jws);
    },
    /** paris hears this of a cluster: by default of rome, as its own agent would sign it. */
    say: (
      parts: Partial<StatementParts>,
      { own = ROME, identity = rome.identity }: { own?: typeof ROME; identity?: AgentIdentity } = {},
    ): void => {
      const [now, generation] = [time.wallMs(), time.wallMs()];
      const jws = signStatement(own, identity, theParts({ now, generation, ...parts }));
      paris.plane().onStatement?.(own.clusterId, jws);
    },
    /** rome asks for its node until paris has let it in, or there is an obstacle. */
    untilPeered: (withinMs?: number, ids: Partial<typeof IDS> = {}) =>
      until(
        () => rome.plane().requester.establish({ reservation: aReservation({ ...IDS, ...ids }) }),
        (state) =>
          !["Peering", "AwaitingPeering", "Unpeering"].includes("reason" in state ? state.reason : ""),
        withinMs,
      ),
    release: (withinMs?: number) =>
      until(
        () => rome.plane().requester.release(LENT.id),
        ({ kind }) => kind === "clean",
        withinMs,
      ),
    stop: async () => {
      await rome.stop();
      await paris.stop();
    },
  };
}
