import { type Clock, type Fault, type Log, toFault } from "@resource-broker/base";
import { backoff } from "@resource-broker/kube";
import type { Reservation } from "../reservations/reservation.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import {
  type AdvertisementInput,
  advertisementOf,
  type BuiltAdvertisement,
  publishStateOf,
} from "./advertisement.ts";
import { type Change, changeSince, delayBefore, type PublishState, untilTick } from "./publish-schedule.ts";

export type Publication = BuiltAdvertisement &
  ({ readonly ok: true } | { readonly ok: false; readonly fault: Fault });

interface PublisherDeps {
  readonly communicator: Pick<BrokerCommunicator, "publish">;
  /** What to advertise now; undefined while the cluster is not observed yet. */
  readonly input: () => Omit<AdvertisementInput, "instance" | "sequence" | "reserved"> | undefined;
  /** Names this process: a new instance replaces the old one at the broker. */
  readonly newInstance: () => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** The result of each advertisement: for the local copy, metrics and instructions. */
  readonly onPublished: (publication: Publication, tookMs: number) => void;
  readonly onInstructions: (instructions: readonly Reservation[]) => void;
}

/** Events come in bursts: one check for all of them. */
const DEBOUNCE_MS = 50;
const MAX_BACKOFF_MS = 30_000;
/** Upper limit for the broker's Retry-After. */
const MAX_RETRY_AFTER_MS = 300_000;
/** After another process of the same cluster took over: long enough for a rollout to stop this one. */
const SUPERSEDED_PAUSE_MS = 60_000;
/** After an outage all agents publish again: their start is spread over this time. */
const JITTER_MS = 2000;
/** An advertisement this recent was already sent to the broker that answers now. */
const JUST_SENT_MS = 1000;

/** Publishes the cluster's advertisement: at each tick of the interval, and when it has changed enough. */
export function createPublisher({ intervalMs }: { readonly intervalMs: number }, deps: PublisherDeps) {
  const { clock, log } = deps;
  const retries = backoff({ minMs: 500, maxMs: MAX_BACKOFF_MS }, { ...clock, random: deps.random });
  let instance = deps.newInstance();
  let sequence = 0;
  let acceptedState: PublishState | undefined;
  let reserved: AdvertisementInput["reserved"];
  let sentAt = 0;
  let tickAt = 0;
  /** Not before this time, however much has changed: the broker is down or busy. */
  let notBefore = 0;
  let pending: Promise<void> | undefined;
  let isRunning = false;
  let isTriggered = false;
  let omittedBefore = "";
  let cancel = (): void => undefined;

  const schedule = (): void => {
    cancel();
    if (!isRunning || pending !== undefined) return;
    const input = deps.input();
    if (input === undefined) return;
    const now = clock.monotonicMs();
    const change: Change = changeSince(acceptedState, publishStateOf(complete(input)));
    const pause = delayBefore(change, { toTickMs: tickAt - now, sinceLastMs: now - sentAt });
    cancel = clock.after(Math.max(0, pause, notBefore - now), publish);
  };

  const complete = (
    input: Omit<AdvertisementInput, "instance" | "sequence" | "reserved">,
  ): AdvertisementInput => ({
    ...input,
    instance,
    sequence,
    reserved,
  });

  const publish = (): void => {
    const input = deps.input();
    if (!isRunning || input === undefined) return;
    sequence += 1;
    const sent = complete(input);
    pending = send(sent).finally(() => {
      pending = undefined;
      schedule();
    });
  };

  const send = async (input: AdvertisementInput): Promise<void> => {
    const built = advertisementOf(input);
    const { advertisement, omitted } = built;
    logOmitted(omitted);
    sentAt = clock.monotonicMs();
    tickAt = sentAt + untilTick(clock.wallMs(), intervalMs);
    const tookMs = (): number => clock.monotonicMs() - sentAt;
    try {
      const reply = await deps.communicator.publish(advertisement);
      acceptedState = publishStateOf(input);
      reserved = reply.advertisement.resources.reserved;
      notBefore = 0;
      retries.succeeded();
      deps.onPublished({ ok: true, advertisement: reply.advertisement, omitted }, tookMs());
      if (reply.instructions !== undefined) deps.onInstructions(reply.instructions);
    } catch (error) {
      const fault = toFault(error);
      postpone(fault);
      deps.onPublished({ ok: false, ...built, fault }, tookMs());
    }
  };

  /** Logged once for each text: advertisements are frequent. */
  const logOmitted = (omitted: readonly string[]): void => {
    const text = omitted.join("; ");
    if (text === omittedBefore) return;
    omittedBefore = text;
    if (text === "") log.info({}, "everything fits into the advertisement again");
    else log.warn({ omitted: text }, "the advertisement is not complete: its limits are in docs/limits.md");
  };

  const postpone = (fault: Fault): void => {
    const pause = retries.failed();
    notBefore =
      clock.monotonicMs() + Math.max(pause, Math.min(fault.details.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
    // The broker may have lost what it accepted before: the next advertisement counts as the first.
    acceptedState = undefined;
    if (fault.code !== "superseded") return;
    notBefore = clock.monotonicMs() + SUPERSEDED_PAUSE_MS;
    instance = deps.newInstance();
    log.error(
      {},
      "another agent publishes for this cluster: stop one of them, or run both with --leader-elect",
    );
  };

  return {
    start: (): void => {
      isRunning = true;
      schedule();
    },
    stop: async (): Promise<void> => {
      isRunning = false;
      cancel();
      await pending;
    },
    /** The broker has lost its state: publish again. */
    republish: (): void => {
      acceptedState = undefined;
      schedule();
    },
    /** The broker may have lost the newest advertisement, which it stores with a delay: publish again, with jitter. */
    republishSoon: (): void => {
      const now = clock.monotonicMs();
      if (now - sentAt < JUST_SENT_MS) return;
      acceptedState = undefined;
      notBefore = Math.max(notBefore, now + Math.ceil(deps.random() * JITTER_MS));
      schedule();
    },
    /** Something may have changed: check whether to publish. Cheap; may be called often. */
    trigger: (): void => {
      if (isTriggered || !isRunning) return;
      isTriggered = true;
      clock.after(acceptedState === undefined ? 0 : DEBOUNCE_MS, () => {
        isTriggered = false;
        schedule();
      });
    },
  };
}
