import type { ReservationDTO } from "@resource-broker/contract";
import { isFinal, isLive, PHASES, type Phase } from "@resource-broker/domain";
import type { Run } from "../cli/command.ts";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { WAIT_OPTIONS } from "./options.ts";
import { printReservation } from "./print-reservation.ts";
import { readReservation } from "./read-reservations.ts";
import { reservationIdIn } from "./reservation-id.ts";

const POLL_MS = 500;
const DEFAULT_TIMEOUT_MS = 30_000;

/** What is waited for. */
interface Goal {
  readonly words: string;
  readonly isReached: (phase: Phase) => boolean;
  /** True: it can still come. A reservation never goes back. */
  readonly isPossible: (phase: Phase) => boolean;
}

export const wait: Run<typeof WAIT_OPTIONS> = async ({ options, words }, host) => {
  const id = reservationIdIn(words[0] ?? "");
  const goal = await readGoal(options.for);
  const { output, timeout = DEFAULT_TIMEOUT_MS } = options;
  await withBroker(options, host, async (broker) => {
    const deadline = host.now() + timeout;
    for (;;) {
      const { value, at } = await readReservation(broker, id);
      const { phase } = value.status;
      if (goal.isReached(phase)) return printReservation(value, { at, output, host });
      if (!goal.isPossible(phase)) throw unreachableGoal(value, goal);
      const leftMs = deadline - host.now();
      if (leftMs <= 0) {
        throw new CommandError(
          "timeout",
          `${id} is ${phase} after ${timeout / 1000} s, not ${goal.words}; --timeout waits longer`,
        );
      }
      await host.pause(Math.min(POLL_MS, leftMs));
    }
  });
};

async function readGoal(text: string): Promise<Goal> {
  if (text === "ended") return { words: text, isReached: isFinal, isPossible: () => true };
  const wanted = text === "released" ? "Released" : text.replace(/^phase=/u, "");
  const phase = PHASES.find((each) => each === wanted);
  if (phase === undefined || (wanted === text && text !== "released")) throw await noGoal(text);
  const rank = PHASES.indexOf(phase);
  return {
    words: phase,
    isReached: (current) => current === phase,
    isPossible: (current) => isLive(current) && PHASES.indexOf(current) < rank,
  };
}

async function noGoal(text: string): Promise<CommandError> {
  const known = ["released", "ended", ...PHASES];
  const hint = await didYouMean(text.replace(/^[a-z]+=/u, ""), known, (word) =>
    PHASES.some((phase) => phase === word) ? `phase=${word}` : word,
  );
  return new CommandError(
    "usage",
    `--for ${JSON.stringify(text)}: write phase=<phase>, released or ended${hint}`,
  );
}

function unreachableGoal({ id, status, reason }: ReservationDTO, { words }: Goal): CommandError {
  const why = reason === undefined ? "" : ` (${reason})`;
  return new CommandError("conflict", `${id} is ${status.phase}${why} and will never be ${words}`);
}
