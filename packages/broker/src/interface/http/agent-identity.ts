import type { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Fault } from "@resource-broker/base";
import { HEADER, SIGNED_TEXT } from "@resource-broker/contract";
import { type ClusterId, isEvicted } from "@resource-broker/domain";
import { isSignedText, publicKeyHash } from "@resource-broker/runtime";
import type { Engine } from "../../engine/engine.ts";
import { faultOf } from "../shared/checked.ts";
import type { AuthorizedRequest } from "./authorize.ts";

export interface IdentityCheck {
  /** Throws, or rejects with, the Fault of a cluster that is not the agent its ID belongs to. Undefined: it is. */
  readonly check: (
    authorized: AuthorizedRequest,
    request: IncomingMessage,
    certificate: () => X509Certificate | undefined,
  ) => Promise<void> | undefined;
  /** True of a connection on which a cluster has called but never shown this key: it may carry a stream. */
  readonly hasCalledWithout: (key: string, socket: Socket) => boolean;
}

const FORM = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{86})$/u;
const HEADER_NAME = HEADER.agentIdentity.toLowerCase();

/**
 * A certificate names the cluster; the identity key says which agent it is. The first one that shows a key has it bound to
 * its cluster. Clusters without a key work without the header, as agents did before there was one.
 */
export function createIdentityCheck(engine: Pick<Engine, "ledger" | "submit">): IdentityCheck {
  /** The header that was found right on a connection: it is not verified again. */
  const verified = new WeakMap<Socket, string>();
  const called = new WeakSet<Socket>();

  const keyOf = (
    clusterId: ClusterId,
    { headers, socket }: IncomingMessage,
    certificate: () => X509Certificate | undefined,
  ): string | undefined => {
    const shown = headers[HEADER_NAME];
    if (shown === undefined) return undefined;
    const [header, key, signature] = FORM.exec(String(shown)) ?? [];
    if (header !== undefined && verified.get(socket) === header) return key;
    const leaf = certificate();
    const isRight =
      key !== undefined &&
      signature !== undefined &&
      leaf !== undefined &&
      isSignedText(SIGNED_TEXT.certificateKey(clusterId, publicKeyHash(leaf.publicKey)), signature, key);
    if (!isRight || header === undefined)
      throw wrongInstance(clusterId, `${HEADER.agentIdentity} does not vouch for the key of its certificate`);
    verified.set(socket, header);
    return key;
  };

  const bind = async (clusterId: ClusterId, key: string): Promise<void> => {
    const reply = await engine.submit({ kind: "bind", clusterId, key });
    if (reply.kind !== "member-set") throw faultOf(reply);
  };

  const check: IdentityCheck["check"] = ({ route, caller }, request, certificate) => {
    if (route.access === "anyone" || route.access === "enrollment" || caller.isAdmin) return undefined;
    const { clusterId } = caller;
    if (isEvicted(engine.ledger, clusterId))
      throw wrongInstance(
        clusterId,
        `it was evicted; an admin invites it, and its agent joins anew: brokerctl invite ${clusterId}`,
      );
    called.add(request.socket);
    const key = keyOf(clusterId, request, certificate);
    const bound = engine.ledger.members.get(clusterId)?.key;
    if (bound === key) return undefined;
    if (key === undefined)
      throw wrongInstance(clusterId, `its identity key is bound, but ${HEADER.agentIdentity} was not sent`);
    if (bound !== undefined)
      throw wrongInstance(
        clusterId,
        `another identity key is bound; to replace that agent: brokerctl invite ${clusterId} --replace`,
      );
    return bind(clusterId, key);
  };

  const hasCalledWithout: IdentityCheck["hasCalledWithout"] = (key, socket) =>
    called.has(socket) && verified.get(socket)?.startsWith(`${key}.`) !== true;
  return { check, hasCalledWithout };
}

function wrongInstance(clusterId: ClusterId, why: string): Fault {
  return new Fault("wrong-instance", `this is not the agent of ${clusterId}: ${why}`);
}
