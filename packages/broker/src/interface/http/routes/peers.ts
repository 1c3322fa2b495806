import { Fault } from "@resource-broker/base";
import {
  describeProblems,
  LIMIT,
  PATH,
  type Statement,
  STATEMENT_TYPE,
  statementRequestSchema,
  statementSchema,
  validateExactly,
} from "@resource-broker/contract";
import type { Actor } from "@resource-broker/domain";
import { isSignedJws, readJws } from "@resource-broker/runtime";
import { checked } from "../../shared/checked.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** The JSON around a statement. */
const ENVELOPE_BYTES = 256;

/** What clusters state to each other about their peering. The broker passes it on and keeps the newest. */
export function peerRoutes({ engine, statements, hub }: RouteContext): readonly Route[] {
  const put = ({ caller, name, body }: Call): PlainAnswer => {
    const { statement: jws } = checked(statementRequestSchema, body);
    const { clusterId } = caller;
    const key = keyOf(caller);
    const content = statementIn(jws);
    if (content.from !== clusterId || content.to !== name || name === clusterId)
      throw new Fault(
        "forbidden",
        `the statement is from ${content.from} to ${content.to}, but ${clusterId} sends it to ${name}`,
      );
    if (content.fromKey !== key || !isSignedJws(jws, key))
      throw new Fault("forbidden", `the bound identity key of ${clusterId} has not signed the statement`);
    if (content.expires <= engine.now())
      throw new Fault("invalid", "the statement has expired; compare the clock with the Date header");
    const { from, to, fromKey, fromLiqoID, generation, expires, warm } = content;
    const kept = {
      from,
      to,
      fromKey,
      fromLiqoID,
      generation,
      expires,
      ...(warm === undefined ? {} : { warm }),
    };
    for (const delivery of statements.put({ content: kept, jws })) hub.deliver(delivery);
    return { status: 204 };
  };

  const keyOf = ({ clusterId, isAdmin }: Actor): string => {
    if (isAdmin) throw new Fault("forbidden", "only a cluster itself states something, not an admin");
    const key = engine.ledger.members.get(clusterId)?.key;
    if (key !== undefined) return key;
    throw new Fault(
      "forbidden",
      `${clusterId} has no identity key here: give its agent one (--identity-secret), and it is bound`,
    );
  };

  const list = ({ caller }: Call): PlainAnswer =>
    ok(statements.listFor(caller.clusterId).slice(0, LIMIT.statementsPerCluster));

  return [
    {
      method: "PUT",
      path: template(PATH.statement, "clusterID"),
      access: "cluster",
      body: { limit: LIMIT.statementBytes + ENVELOPE_BYTES },
      handle: put,
    },
    { method: "GET", path: PATH.statements, access: "cluster", handle: list },
  ];
}

/** What a statement says. Nothing unknown is passed on: the receiver must be able to judge every field. */
function statementIn(jws: string): Statement {
  const payload = readJws(jws, STATEMENT_TYPE);
  if (payload === undefined)
    throw new Fault("invalid", `statement is no JWS of type ${STATEMENT_TYPE}, signed with EdDSA`);
  const validation = validateExactly(statementSchema, payload);
  if (validation.ok) return validation.value;
  throw new Fault("invalid", `the statement: ${describeProblems(validation.problems)}`);
}
