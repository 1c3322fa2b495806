import { type CertificateOptions, extension, type KeyKind, makeKeys } from "./make-certificate.ts";
import { type Attribute, commonName, type Subject } from "./subject.ts";
import { ADMIN_UNIT, type Credentials, type TestCertificates } from "./test-certificates.ts";

/** A client certificate that looks odd and is right: the broker must accept it, as exactly this identity. */
export interface UnusualCertificate {
  /** Reads after "accepts". */
  readonly name: string;
  readonly clusterId: string;
  readonly admin: boolean;
  readonly make: (certificates: TestCertificates) => Credentials;
}

const ROME = commonName("rome");

function row(name: string, options: CertificateOptions, admin = false): UnusualCertificate {
  return { name, clusterId: "rome", admin, make: ({ leaf }) => leaf({ subject: [ROME], ...options }) };
}

const cluster = (name: string, ...subject: Subject): UnusualCertificate => row(name, { subject });
const admin = (name: string, ...subject: Subject): UnusualCertificate => row(name, { subject }, true);
const unit = (value: string): Attribute => ({ type: "OU", value });

/** Made when it is asked for: an RSA key takes its time. */
function keyed(name: string, kind: KeyKind): UnusualCertificate {
  const make = ({ leaf }: TestCertificates) => leaf({ subject: [ROME], keys: makeKeys(kind) });
  return { name, clusterId: "rome", admin: false, make };
}

function called(name: string, clusterId: string): UnusualCertificate {
  return { name, clusterId, admin: false, make: (certificates) => certificates.cluster(clusterId) };
}

/** One row for each right certificate that a careless check would refuse, or take for more than it is. */
export const UNUSUAL_CERTIFICATES: readonly UnusualCertificate[] = [
  cluster("a Common Name as PrintableString", commonName("rome", "printable")),
  cluster("a Common Name as IA5String", commonName("rome", "ia5")),
  cluster("a Common Name as TeletexString", commonName("rome", "teletex")),
  cluster("a Common Name as BMPString", commonName("rome", "bmp")),
  cluster("a Common Name as UniversalString", commonName("rome", "universal")),
  cluster("a Common Name in a multi-valued part", [ROME, unit("lab")]),
  cluster("a Common Name beside a serial number", ROME, { type: "serialNumber", value: "paris" }),
  cluster("a Common Name beside a user id", ROME, { type: "UID", value: "paris" }),
  cluster(
    "a Common Name after country, place and domain",
    { type: "C", value: "IT", as: "printable" },
    { type: "L", value: "Torino" },
    { type: "DC", value: "paris", as: "ia5" },
    ROME,
  ),
  cluster(
    "the organization of existing agents, which grants nothing",
    { type: "O", value: "LiqoResourceBroker" },
    ROME,
  ),
  cluster("the admin word as organization, which grants nothing", { type: "O", value: "broker-admin" }, ROME),
  cluster("the admin word in other letters, which grants nothing", unit("Broker-Admin"), ROME),
  cluster("a longer word that starts with the admin word, which grants nothing", unit("broker-admins"), ROME),
  cluster("the admin word with a NUL after it, which grants nothing", unit("broker-admin\0"), ROME),
  cluster(
    "the admin word with a line break before it, which grants nothing",
    unit("x\nOU=broker-admin"),
    ROME,
  ),
  cluster("the admin word inside a list, which grants nothing", unit("lab,broker-admin"), ROME),
  cluster(
    "a user id that spells the admin unit, which grants nothing",
    { type: "UID", value: "OU=broker-admin" },
    ROME,
  ),
  admin("the admin unit", ADMIN_UNIT, ROME),
  admin("the admin unit after the Common Name", ROME, ADMIN_UNIT),
  admin("the admin unit as PrintableString", { ...ADMIN_UNIT, as: "printable" }, ROME),
  admin("the admin unit as the second of three", unit("lab"), ADMIN_UNIT, unit("eu"), ROME),
  admin("the admin unit in a multi-valued part with the Common Name", [ROME, ADMIN_UNIT]),
  row("a subjectAltName that names another cluster, which grants nothing", {
    subjectAltNames: ["DNS:paris", "URI:spiffe://example.org/paris"],
  }),
  row("both client and server usage", { extendedKeyUsage: ["serverAuth", "clientAuth"] }),
  row("any usage beside client usage", { extendedKeyUsage: ["any", "clientAuth"] }),
  row("no basic constraints", { basicConstraints: "absent" }),
  row("no key usage", { keyUsage: "absent" }),
  row("an unknown extension that is not critical", {
    extraExtensions: [extension("1.3.6.1.4.1.99999.1", Uint8Array.of(5, 0))],
  }),
  row("a serial number of one byte", { serial: Uint8Array.of(7) }),
  row("a serial number of twenty bytes", { serial: new Uint8Array(20).fill(0x7f) }),
  keyed("a P-384 key", "p384"),
  keyed("an RSA key", "rsa-2048"),
  keyed("an Ed25519 key", "ed25519"),
  {
    name: "an intermediate authority that is sent along",
    clusterId: "rome",
    admin: false,
    make({ authority, leaf, ca }) {
      const between = authority({ subject: [commonName("Intermediate")] }, ca);
      const credentials = leaf({ subject: [ROME] }, between);
      return { ...credentials, cert: credentials.cert + between.cert };
    },
  },
  called("a Common Name of one character", "r"),
  called("a Common Name of 63 characters", "r".repeat(63)),
  called("a Common Name of digits", "42"),
  called("a Common Name with dots and dashes", "rome-1.eu.example.org"),
  called("a Common Name that is a UUID", "7b1d4d56-0c5f-4b0e-9c0a-0a3a3f3f5f5f"),
  called("a Common Name that is the name of a built-in property", "constructor"),
];
