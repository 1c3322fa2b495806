import type { Advertisement, ReceivedAdvertisement, Reply } from "@resource-broker/domain";
import type { Findings } from "../stage/findings.ts";
import type { Book } from "./book.ts";

/** What the broker has from a cluster, and the how-manieth word of all it was. */
interface Word {
  readonly number: number;
  readonly received: ReceivedAdvertisement;
}

/** One post of an advertisement. */
export interface Post {
  readonly advertisement: Advertisement;
  readonly isNews: boolean;
  /** The broker has taken it in. */
  readonly isHeard: boolean;
  /** The newest word of the cluster when it was taken in: whoever is answered may rely on the broker to know it. */
  readonly word: Word | undefined;
}

/** Every advertisement that was heard and answered, over all crashes. */
export class Heard {
  readonly #book: Book;
  readonly #findings: Findings;
  /** By what a disk would have of them. */
  readonly #numbers = new Map<string, number>();
  readonly #newest = new Map<string, Word>();
  readonly #answered = new Map<string, Word>();
  #count = 0;

  constructor(book: Book, findings: Findings) {
    this.#book = book;
    this.#findings = findings;
  }

  /** Something was posted; `inForce` is what the broker has taken in at this very moment. */
  post(advertisement: Advertisement, inForce: Advertisement | undefined, now: number): Post {
    const { clusterId } = advertisement;
    const isNews = this.#book.isNews(advertisement);
    const isHeard = inForce === advertisement && this.#book.advertise(advertisement, now);
    const received = this.#book.newest.get(clusterId);
    if (isHeard && received !== undefined) {
      this.#numbers.set(nameOf(received), ++this.#count);
      this.#newest.set(clusterId, { number: this.#count, received });
    }
    return { advertisement, isNews, isHeard, word: this.#newest.get(clusterId) };
  }

  answer({ advertisement, isNews, isHeard, word }: Post, reply: Reply): void {
    const { clusterId } = advertisement;
    const isTaken = reply.kind === "advertised";
    this.#findings.expect(
      isTaken === isHeard || !isNews,
      () =>
        `an advertisement of ${clusterId} was answered with ${JSON.stringify(reply)}; taken in: ${isHeard}`,
    );
    const answered = this.#answered.get(clusterId)?.number ?? 0;
    if (isTaken && word !== undefined && word.number > answered) this.#answered.set(clusterId, word);
  }

  /** A new process has read the book's advertisements: where it has not read what was answered, both count. */
  readBack(read: readonly ReceivedAdvertisement[]): void {
    this.#newest.clear();
    this.#book.answered = new Map();
    const numbers = new Map(
      read.map((each) => [each.advertisement.clusterId, this.#numbers.get(nameOf(each)) ?? 0]),
    );
    for (const [clusterId, { number, received }] of this.#answered)
      if ((numbers.get(clusterId) ?? 0) < number) this.#book.answered.set(clusterId, received);
  }
}

function nameOf({ advertisement, receivedAt }: ReceivedAdvertisement): string {
  return `${receivedAt} ${JSON.stringify(advertisement)}`;
}
