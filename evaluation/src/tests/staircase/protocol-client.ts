import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import type { ConcurrencyLimit } from "../../measure/limit-concurrency.ts";
import { type Connection, type ConnectionOptions, openConnection } from "../../measure/load/connection.ts";
import { advertiseText, getText } from "../../measure/load/requests.ts";

export interface ClientOptions extends ConnectionOptions {
  /** What it says of its cluster, but for the name. */
  readonly advertisement: AdvertisementDTO;
  /** False: it asks for instructions instead of keeping a stream of them open. */
  readonly streams: boolean;
  /** How it connects for each call, where not everybody can keep a connection. That costs the broker more. Absent: it keeps one. */
  readonly connectsAnew?: ConcurrencyLimit;
}

/** Says what an agent says, without a cluster behind it. Each call resolves with whether it went well. */
export interface ProtocolClient {
  readonly advertise: () => Promise<boolean>;
  readonly poll: () => Promise<boolean>;
  /** True while its stream is open, where it has one. */
  readonly isWell: () => boolean;
  readonly close: () => void;
}

export async function openProtocolClient(options: ClientOptions): Promise<ProtocolClient> {
  const { clusterId, advertisement, streams, connectsAnew } = options;
  const stream = streams ? await openConnection(options) : undefined;
  stream?.stream(getText(PATH.instructionStream), () => undefined);
  const kept = connectsAnew === undefined ? await openConnection(options) : undefined;
  let sequence = 0;
  let calling: Promise<unknown> = Promise.resolve();

  const sendOn = async (connection: Connection, request: string): Promise<boolean> =>
    (await connection.send(request)).status === 200;
  const sendAnew = async (request: string): Promise<boolean> => {
    const connection = await openConnection(options);
    try {
      return await sendOn(connection, request);
    } finally {
      connection.close();
    }
  };
  const send = (request: string): Promise<boolean> => {
    if (kept !== undefined) return sendOn(kept, request);
    return connectsAnew === undefined ? sendAnew(request) : connectsAnew(() => sendAnew(request));
  };
  /** One after the other, as on any connection; a failure is told and not thrown. */
  const call = (request: () => string): Promise<boolean> => {
    const answered = calling.then(() => send(request())).catch(() => false);
    calling = answered;
    return answered;
  };

  return {
    advertise: () =>
      call(() => {
        sequence += 1;
        return advertiseText({ ...advertisement, clusterID: clusterId, instance: clusterId, sequence });
      }),
    poll: () => call(() => getText(PATH.instructions)),
    isWell: () => stream?.isClosed() !== true,
    close: () => {
      stream?.close();
      kept?.close();
    },
  };
}
