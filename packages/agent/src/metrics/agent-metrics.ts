import type { CertificateSet, Scraped } from "@resource-broker/runtime";
import type { AgentObserver } from "../core/agent-observer.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";

/** What figures are read from when somebody asks for them. */
export interface Watched {
  readonly book: Pick<ReservationBook, "live">;
  /** True while the broker pushes. */
  readonly isStreaming: () => boolean;
}

/** The agent's figures. */
export interface AgentMetrics extends AgentObserver, Scraped {
  /** The certificates that are in force from now on. */
  readonly certificatesInForce: (set: CertificateSet) => void;
  /** From now on these are looked at. */
  readonly watch: (watched: Watched) => void;
}
