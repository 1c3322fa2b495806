import type { Fault, ReservationDTO } from "@resource-broker/contract";
import { backoff, toFault } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { advertisementOf, figuresOf, type Offer, type StatedOffer } from "./advertisement.ts";
import { type Change, changeSince, type Figures, pauseBefore, untilTick } from "./cadence.ts";

export type Publication = StatedOffer &
  ({ readonly ok: true } | { readonly ok: false; readonly fault: Fault });

export interface PublisherOptions {
  readonly intervalMs: number;
}

export interface PublisherDeps {
  readonly communicator: Pick<BrokerCommunicator, "publishAdvertisement">;
  /** What to advertise now; undefined while the cluster is not observed yet. */
  readonly offer: () => Omit<Offer, "instance" | "sequence" | "reserved"> | undefined;
  /** Names this process: a new instance replaces the old one at the broker. */
  readonly newInstance: () => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** The result of each advertisement: for the local copy, metrics and instructions. */
  readonly onPublished: (publication: Publication, tookMs: number) => void;
  readonly onInstructions: (instructions: readonly ReservationDTO[]) => void;
}

export interface Publisher {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Something may have changed: check whether to publish. Cheap; may be called often. */
  readonly poke: () => void;
  /** The broker has lost its state: publish again. */
  readonly repeat: () => void;
  /** The broker may have lost the newest advertisement, which it stores with a delay: publish again, with jitter. */
  readonly repeatSoon: () => void;
}

/** Events come in bursts: one check for all of them. */
const GATHER_MS = 50;
const MAX_BACKOFF_MS = 30_000;
/** Upper limit for the broker's Retry-After. */
const LONGEST_PAUSE_MS = 300_000;
/** After another process of the same cluster took over: long enough for a rollout to stop this one. */
const SUPERSEDED_PAUSE_MS = 60_000;
/** After an outage all agents publish again: their start is spread over this time. */
const SPREAD_MS = 2000;
/** An advertisement this recent was already sent to the broker that answers now. */
const JUST_TOLD_MS = 1000;

/** Publishes the cluster's advertisement: at each tick of the interval, and when it has changed enough. */
export function createPublisher(options: PublisherOptions, deps: PublisherDeps): Publisher {
  const { clock, log } = deps;
  const retries = backoff({ minMs: 500, maxMs: MAX_BACKOFF_MS }, { ...clock, random: deps.random });
  let instance = deps.newInstance();
  let sequence = 0;
  let accepted: Figures | undefined;
  let reserved: Offer["reserved"];
  let sentAt = 0;
  let tickAt = 0;
  /** Not before this time, however much has changed: the broker is down or busy. */
  let notBefore = 0;
  let underWay: Promise<void> | undefined;
  let isRunning = false;
  let isGathering = false;
  let omittedBefore = "";
  let cancel = (): void => undefined;

  const schedule = (): void => {
    cancel();
    if (!isRunning || underWay !== undefined) return;
    const offer = deps.offer();
    if (offer === undefined) return;
    const now = clock.monotonicMs();
    const change: Change = changeSince(accepted, figuresOf(complete(offer)));
    const pause = pauseBefore(change, { toTickMs: tickAt - now, sinceLastMs: now - sentAt });
    cancel = clock.after(Math.max(0, pause, notBefore - now), publish);
  };

  const complete = (offer: Omit<Offer, "instance" | "sequence" | "reserved">): Offer => ({
    ...offer,
    instance,
    sequence,
    reserved,
  });

  const publish = (): void => {
    const offer = deps.offer();
    if (!isRunning || offer === undefined) return;
    sequence += 1;
    const sent = complete(offer);
    underWay = send(sent).finally(() => {
      underWay = undefined;
      schedule();
    });
  };

  const send = async (offer: Offer): Promise<void> => {
    const stated = advertisementOf(offer);
    const { advertisement, omitted } = stated;
    tellOmitted(omitted);
    sentAt = clock.monotonicMs();
    tickAt = sentAt + untilTick(clock.wallMs(), options.intervalMs);
    const tookMs = (): number => clock.monotonicMs() - sentAt;
    try {
      const reply = await deps.communicator.publishAdvertisement(advertisement);
      accepted = figuresOf(offer);
      reserved = reply.advertisement.resources.reserved;
      notBefore = 0;
      retries.succeeded();
      deps.onPublished({ ok: true, advertisement: reply.advertisement, omitted }, tookMs());
      if (reply.providerInstructions !== undefined) deps.onInstructions(reply.providerInstructions);
    } catch (error) {
      const fault = toFault(error);
      postpone(fault);
      deps.onPublished({ ok: false, ...stated, fault }, tookMs());
    }
  };

  /** Logged once for each text: advertisements are frequent. */
  const tellOmitted = (omitted: readonly string[]): void => {
    const text = omitted.join("; ");
    if (text === omittedBefore) return;
    omittedBefore = text;
    if (text === "") log.info({}, "everything fits into the advertisement again");
    else log.warn({ omitted: text }, "the advertisement is not complete: its limits are in docs/limits.md");
  };

  const postpone = (fault: Fault): void => {
    const pause = retries.failed();
    notBefore =
      clock.monotonicMs() + Math.max(pause, Math.min(fault.details.retryAfterMs ?? 0, LONGEST_PAUSE_MS));
    // The broker may have lost what it accepted before: the next advertisement counts as the first.
    accepted = undefined;
    if (fault.code !== "superseded") return;
    notBefore = clock.monotonicMs() + SUPERSEDED_PAUSE_MS;
    instance = deps.newInstance();
    log.error(
      {},
      "another agent publishes for this cluster: stop one of them, or run both with --leader-elect",
    );
  };

  return {
    start: () => {
      isRunning = true;
      schedule();
    },
    stop: async () => {
      isRunning = false;
      cancel();
      await underWay;
    },
    repeat: () => {
      accepted = undefined;
      schedule();
    },
    repeatSoon: () => {
      const now = clock.monotonicMs();
      if (now - sentAt < JUST_TOLD_MS) return;
      accepted = undefined;
      notBefore = Math.max(notBefore, now + Math.ceil(deps.random() * SPREAD_MS));
      schedule();
    },
    poke: () => {
      if (isGathering || !isRunning) return;
      isGathering = true;
      clock.after(accepted === undefined ? 0 : GATHER_MS, () => {
        isGathering = false;
        schedule();
      });
    },
  };
}
