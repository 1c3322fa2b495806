import type { Advertisement, ReceivedAdvertisement, Reply } from "@resource-broker/domain";
import type { LedgerModel } from "@resource-broker/domain/testing";
import type { Findings } from "../environment/findings.ts";

/** What the broker has from a cluster, and the how-manieth word of all it was. */
interface NumberedAdvertisement {
  readonly number: number;
  readonly received: ReceivedAdvertisement;
}

/** One post of an advertisement. */
export interface Post {
  readonly advertisement: Advertisement;
  readonly isNewer: boolean;
  /** The broker has taken it in. */
  readonly isAccepted: boolean;
  /** The newest word of the cluster when it was taken in: whoever is answered may rely on the broker to know it. */
  readonly latest: NumberedAdvertisement | undefined;
}

/** Every advertisement that was heard and answered, over all crashes. */
export class AdvertisementLog {
  readonly #model: LedgerModel;
  readonly #findings: Findings;
  /** By what a disk would have of them. */
  readonly #numbers = new Map<string, number>();
  readonly #newest = new Map<string, NumberedAdvertisement>();
  readonly #answered = new Map<string, NumberedAdvertisement>();
  #count = 0;

  constructor(model: LedgerModel, findings: Findings) {
    this.#model = model;
    this.#findings = findings;
  }

  /** Something was posted; `inForce` is what the broker has taken in at this very moment. */
  post(advertisement: Advertisement, inForce: Advertisement | undefined, now: number): Post {
    const { clusterId } = advertisement;
    const isNewer = this.#model.isNewer(advertisement);
    const isAccepted = inForce === advertisement && this.#model.advertise(advertisement, now);
    const received = this.#model.newest.get(clusterId);
    if (isAccepted && received !== undefined) {
      this.#numbers.set(nameOf(received), ++this.#count);
      this.#newest.set(clusterId, { number: this.#count, received });
    }
    return { advertisement, isNewer, isAccepted, latest: this.#newest.get(clusterId) };
  }

  answer({ advertisement, isNewer, isAccepted, latest }: Post, reply: Reply): void {
    const { clusterId } = advertisement;
    const isTaken = reply.kind === "advertised";
    this.#findings.expect(
      isTaken === isAccepted || !isNewer,
      () =>
        `an advertisement of ${clusterId} was answered with ${JSON.stringify(reply)}; taken in: ${isAccepted}`,
    );
    const answered = this.#answered.get(clusterId)?.number ?? 0;
    if (isTaken && latest !== undefined && latest.number > answered) this.#answered.set(clusterId, latest);
  }

  /** A new process has read the book's advertisements: where it has not read what was answered, both count. */
  readBack(read: readonly ReceivedAdvertisement[], startedAt: number): void {
    this.#newest.clear();
    this.#model.answered = new Map();
    const numbers = new Map(
      read.map((each) => [each.advertisement.clusterId, this.#numbers.get(nameOf(each)) ?? 0]),
    );
    // The broker's clock may be behind: then it takes `startedAt` as the time, and may write that to the disk.
    for (const each of read) {
      const number = this.#numbers.get(nameOf(each));
      if (number !== undefined && each.receivedAt > startedAt)
        this.#numbers.set(nameOf({ ...each, receivedAt: startedAt }), number);
    }
    for (const [clusterId, { number, received }] of this.#answered)
      if ((numbers.get(clusterId) ?? 0) < number) this.#model.answered.set(clusterId, received);
  }
}

function nameOf({ advertisement, receivedAt }: ReceivedAdvertisement): string {
  return `${receivedAt} ${JSON.stringify(advertisement)}`;
}
