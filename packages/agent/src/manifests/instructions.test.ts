import { type ReservationDTO, reservationSchema, validate } from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import { type Reservation, withKey, withWrittenDefaults } from "../reservations/reservation.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { UID } from "../testing/samples.ts";
import { fromWire } from "../transport/reservation-mapping.ts";
import { providerInstruction, reservationFromInstruction, reservationInstruction } from "./instructions.ts";
import { RESERVATION_ANNOTATION } from "./labels.ts";

const KEY = `${UID}-1`;

/** Every field that a broker may send, in no special order, and one that only a later broker sends. */
const WHOLE = {
  sliceDefaults: { ephemeralStorage: "20Gi", pods: 110 },
  decisionID: "dec-4f0q2",
  tenant: "ml",
  preempting: { at: "2026-07-01T10:05:00.123Z", byPriority: 50 },
  priority: 10,
  tier: "spot",
  targetClusterEndpoint: "https://10.0.0.7:6443",
  targetLiqoID: "calm-paris",
  requesterLiqoID: "cool-rome",
  key: KEY,
  generation: 3,
  cost: { currency: "EUR", total: "0.504", perHour: "0.336" },
  reason: "Expired",
  later: true,
  createdAt: "2026-07-01T10:00:00.123Z",
  status: {
    expiresAt: "2026-07-01T11:30:00.123Z",
    reservedAt: "2026-07-01T10:00:00.123Z",
    message: "Use paris for 4 CPU / 8Gi Memory",
    phase: "Reserved",
  },
  requestedResources: {
    memory: "8Gi",
    cpu: "4",
    storage: "10Gi",
    gpu: "1",
    extended: { "example.com/x": "2" },
  },
  endedAt: "2026-07-01T11:30:00.123Z",
  targetClusterID: "paris",
  requesterID: "rome",
  id: "rsv-rome-k3u7dq2hvmx5b4ta",
} satisfies Required<ReservationDTO> & { later: boolean };

/** As the Go broker sends it. */
const PLAIN = {
  id: "rsv-rome-k3u7dq2hvmx5b4ta",
  requesterID: "rome",
  targetClusterID: "paris",
  requestedResources: { cpu: "4", memory: "8Gi" },
  status: { phase: "Reserved", message: "Use paris", expiresAt: "2026-07-01T11:30:00Z" },
  createdAt: "2026-07-01T10:00:00Z",
};

function received(body: object): Reservation {
  const checked = validate(reservationSchema, body);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return fromWire(checked.value);
}

/** As the cache has it after this message. */
function cached(role: "requester" | "provider", reservation: Reservation): Reservation {
  const cache = reservationCache({ clusterId: role === "requester" ? "rome" : "paris", now: () => 0 });
  cache.update(role, reservation);
  return cache.get(role, reservation.id)?.reservation ?? reservation;
}

const annotationOf = ({ metadata }: ReturnType<typeof reservationInstruction | typeof providerInstruction>) =>
  metadata.annotations?.[RESERVATION_ANNOTATION];
const START =
  '{"id":"rsv-rome-k3u7dq2hvmx5b4ta","requesterID":"rome","targetClusterID":"paris","requestedResources":{"cpu":"4","memory":"8Gi"';
const WHOLE_START = `${START},"gpu":"1","storage":"10Gi","extended":{"example.com/x":"2"}},"status":{"phase":"Reserved","message":"Use paris for 4 CPU / 8Gi Memory","reservedAt":"2026-07-01T10:00:00.123Z","expiresAt":"2026-07-01T11:30:00.123Z"},"createdAt":"2026-07-01T10:00:00.123Z","reason":"Expired","cost":{"perHour":"0.336","total":"0.504","currency":"EUR"},"generation":3`;
const WHOLE_END =
  '"requesterLiqoID":"cool-rome","targetLiqoID":"calm-paris","targetClusterEndpoint":"https://10.0.0.7:6443","tier":"spot","priority":10,"preempting":{"at":"2026-07-01T10:05:00.123Z","byPriority":50},"decisionID":"dec-4f0q2"';
const DEFAULTS = '"sliceDefaults":{"pods":110,"ephemeralStorage":"20Gi"}';
const PLAIN_TEXT = `${START}},"status":{"phase":"Reserved","message":"Use paris","expiresAt":"2026-07-01T11:30:00Z"},"createdAt":"2026-07-01T10:00:00Z"`;

/** Another order of the fields would apply every instruction again after an upgrade. */
describe("the annotation of an instruction is written byte for byte as before", () => {
  test("at the requester, with all fields", () => {
    const instruction = reservationInstruction(cached("requester", received(WHOLE)), "default");
    expect(annotationOf(instruction)).toBe(`${WHOLE_START},"key":"${KEY}",${WHOLE_END},${DEFAULTS}}`);
  });

  test("at the provider, which gets no key", () => {
    const { key: _, ...body } = WHOLE;
    const instruction = providerInstruction(cached("provider", received(body)), "default");
    expect(annotationOf(instruction)).toBe(`${WHOLE_START},${WHOLE_END},${DEFAULTS}}`);
  });

  test("with a key that the broker did not send", () => {
    const { key: _, ...body } = WHOLE;
    const reservation = withKey(received(body), KEY);
    const instruction = reservationInstruction(cached("requester", reservation), "default");
    expect(annotationOf(instruction)).toBe(`${WHOLE_START},${WHOLE_END},"key":"${KEY}",${DEFAULTS}}`);
  });

  test("of a Go broker's reservation, with and without a key", () => {
    const go = received(PLAIN);
    const provided = providerInstruction(cached("provider", go), "default");
    expect(annotationOf(provided)).toBe(`${PLAIN_TEXT}}`);
    const requested = reservationInstruction(cached("requester", withKey(go, KEY)), "default");
    expect(annotationOf(requested)).toBe(`${PLAIN_TEXT},"key":"${KEY}"}`);
  });

  test("with slice defaults that an existing instruction has", () => {
    const sliceDefaults = { pods: 110, ephemeralStorage: "20Gi" };
    const { sliceDefaults: _, ...body } = WHOLE;
    const reservation = withWrittenDefaults(cached("requester", received(body)), { spec: { sliceDefaults } });
    const instruction = reservationInstruction(reservation, "default");
    expect(annotationOf(instruction)).toBe(`${WHOLE_START},"key":"${KEY}",${WHOLE_END},${DEFAULTS}}`);
  });

  test.each([
    ["whole", WHOLE],
    ["plain", PLAIN],
  ])("after a restart, from the instruction: %s", (_, body) => {
    const written = reservationInstruction(cached("requester", received(body)), "default");
    const restored = reservationFromInstruction(written, "rome");
    expect(reservationInstruction(restored, "default")).toEqual(written);
  });
});

describe("an instruction without a readable annotation", () => {
  test.each([undefined, "{", JSON.stringify({ ...PLAIN, id: "rsv-rome-another" })])(
    "is read from its spec: %s",
    (text) => {
      const written = reservationInstruction(received({ ...WHOLE, key: undefined }), "default");
      const annotations = text === undefined ? {} : { [RESERVATION_ANNOTATION]: text };
      const creationTimestamp = "2026-07-01T10:00:05Z";
      const metadata = { ...written.metadata, annotations, creationTimestamp };
      const restored = reservationFromInstruction({ ...written, metadata }, "rome");
      expect(annotationOf(reservationInstruction(restored, "default"))).toBe(
        `${START},"gpu":"1","storage":"10Gi","extended":{"example.com/x":"2"}},"status":{"phase":"Reserved","message":"Use paris for 4 CPU / 8Gi Memory","expiresAt":"2026-07-01T11:30:00.123Z"},"createdAt":"${creationTimestamp}","generation":3,${DEFAULTS}}`,
      );
    },
  );
});
