import { openSession, type Session, type Statement } from "../session.ts";

/** What becomes of a COMMIT. */
export type CommitFault =
  /** It is there, and its answer is lost. */
  | "answer-lost"
  /** It never arrives. */
  | "never-sent"
  /** The connection seems broken, and it arrives when the test says so. */
  | "late"
  /** The database undoes the transaction because another one got in the way. */
  | "conflict";

export interface FaultySessions {
  readonly openSession: typeof openSession;
  /** The next COMMITs fare like this; those after them as usual. */
  readonly plan: (...fates: readonly CommitFault[]) => void;
  /** Lets a late COMMIT arrive. */
  readonly arrive: () => Promise<void>;
}

/** Real connections whose commits the test can disturb. */
export function faultySessions(): FaultySessions {
  const faults: CommitFault[] = [];
  let late: (() => Promise<unknown>) | undefined;

  const commit = async (session: Session, statement: Statement) => {
    switch (faults.shift()) {
      case undefined:
        return session.send(statement);
      case "answer-lost":
        await session.send(statement);
        session.destroy();
        throw new Error("the answer is lost");
      case "never-sent":
        session.destroy();
        throw new Error("the connection is lost");
      case "late":
        late = () => session.send(statement);
        throw new Error("the connection seems lost");
      case "conflict":
        await session.send({ text: "ROLLBACK" });
        throw Object.assign(new Error("planned"), { severity: "ERROR", code: "40001" });
    }
  };

  return {
    plan: (...next) => void faults.push(...next),
    arrive: async () => void (await late?.()),
    openSession: async (...parameters) => {
      const session = await openSession(...parameters);
      let isGivenUp = false;
      return {
        ...session,
        send: async (statement) => {
          if (statement.text !== "COMMIT") return session.send(statement);
          const isLate = faults[0] === "late";
          isGivenUp ||= isLate;
          return commit(session, statement);
        },
        isUsable: () => !isGivenUp && session.isUsable(),
        // One that is given up stays open at the server's side, as after a cut that the server has not noticed.
        destroy: () => (isGivenUp ? undefined : session.destroy()),
      };
    },
  };
}
