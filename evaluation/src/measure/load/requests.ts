import {
  type AdvertisementDTO,
  HEADER,
  PATH,
  PROTOCOL_VERSION,
  type ReservationRequestDTO,
} from "@resource-broker/contract";

/** Requests as text, ready to be written on a connection. They must be pure ASCII. */
export function advertiseText(advertisement: AdvertisementDTO): string {
  return post(PATH.advertisements, advertisement);
}

/** Without a key nothing is deduplicated. */
export function reserveText(request: ReservationRequestDTO, key?: string): string {
  return post(PATH.reservations, request, key === undefined ? "" : `${HEADER.idempotencyKey}: ${key}\r\n`);
}

export function getText(path: string): string {
  return `GET ${path} HTTP/1.1\r\n${common()}\r\n`;
}

export function deleteText(path: string): string {
  return `DELETE ${path} HTTP/1.1\r\n${common()}\r\n`;
}

function post(path: string, content: unknown, more = ""): string {
  const body = JSON.stringify(content);
  const about = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${common()}${more}${about}\r\n${body}`;
}

function common(): string {
  return `Host: 127.0.0.1\r\n${HEADER.agentProtocol}: ${PROTOCOL_VERSION}\r\n`;
}
