import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { CommandError } from "../cli/exit-code.ts";
import { connectionError } from "../connection/connection-problem.ts";
import type { Credentials } from "../connection/credentials.ts";

interface Peer {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly timeoutMs: number;
}

export interface PeerCertificate {
  readonly certificate: X509Certificate;
  /** `TLSv1.3`. */
  readonly protocol: string;
}

/** Completes the TLS handshake with a broker and reads its certificate. Throws a CommandError with the reason when the handshake fails. */
export async function peerCertificate(peer: Peer): Promise<PeerCertificate> {
  const { url, credentials, timeoutMs } = peer;
  const { cert, key, ca } = credentials;
  const host = url.hostname.replaceAll(/^\[|\]$/gu, "");
  const port = url.port === "" ? 443 : Number(url.port);
  let socket: TLSSocket | undefined;
  try {
    return await new Promise<PeerCertificate>((resolve, reject) => {
      const names = isIP(host) === 0 ? { servername: host } : {};
      const opened = connect({ host, port, cert, key, ca, ...names }, () => {
        const certificate = opened.getPeerX509Certificate();
        if (certificate === undefined)
          reject(new CommandError("error", `${url.origin} shows no certificate`));
        else resolve({ certificate, protocol: opened.getProtocol() ?? "TLS" });
      });
      socket = opened;
      opened.on("error", reject);
      opened.setTimeout(timeoutMs, () =>
        reject(new CommandError("timeout", `${url.origin} gave no answer within ${timeoutMs / 1000} s`)),
      );
    });
  } catch (error) {
    throw connectionError(error, peer);
  } finally {
    socket?.destroy();
  }
}
